/** An instant as ISO 8601 with milliseconds in UTC, from milliseconds since 1970. */
export function isoOf(at: number): string {
  return new Date(at).toISOString();
}

/** The same of an instant that may not have come. */
export function isoOrNull(at: number | null): string | null {
  return at === null ? null : isoOf(at);
}
