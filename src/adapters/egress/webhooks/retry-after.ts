import { millisecondsInSecond } from 'date-fns/constants';

const SECONDS_PATTERN = /^[0-9]{1,9}$/;
/** The one form of date that HTTP lets a server send: `Wed, 21 Oct 2026 07:28:00 GMT`. */
const DATE_PATTERN = /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/**
 * The milliseconds from `now` that a Retry-After header asks for, in seconds or as a date; 0 for a date that
 * has passed, null for anything else.
 */
export function parseRetryAfter(header: string | readonly string[] | undefined, now: number): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  if (SECONDS_PATTERN.test(text)) return Number(text) * millisecondsInSecond;
  const date = DATE_PATTERN.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
