/** The most that the clocks of workers differ, in milliseconds. What was noted later than that is of a clock that ran ahead. */
export const CLOCKS_DIFFER_MS_MAX = 60_000;

/** An instant as ISO 8601 with milliseconds in UTC, from milliseconds since 1970. */
export function isoOf(at: number): string {
  return new Date(at).toISOString();
}

/** The same of an instant that may not have come. */
export function isoOrNull(at: number | null): string | null {
  return at === null ? null : isoOf(at);
}
