/** The hex digits of an id that say when it was made, in milliseconds since 1970. */
const TIME_DIGITS = 12;
const LATEST_MS = 16 ** TIME_DIGITS - 1;

/** Behind every id of hex characters. */
export const LAST_ID = 'g';

/** What ids of 24 hex characters made at `at` or later are not below. Any number is taken: one out of range counts as its end. */
export function firstIdAt(at: number): string {
  return Math.min(Math.max(at, 0), LATEST_MS).toString(16).padStart(TIME_DIGITS, '0');
}

/** When an id of 24 hex characters was made, in milliseconds since 1970. */
export function idTime(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 16);
}
