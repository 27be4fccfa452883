import { millisecondsInDay, millisecondsInMinute } from 'date-fns/constants';

/**
 * How long the circuit of a destination is open: the first time, the second time, and so on. An event that has to wait stays
 * due, and is never dropped (specification 6.1).
 */
export const OPEN_WINDOWS_MS: readonly number[] = [1, 5, 15, 60].map(
  (minutes) => minutes * millisecondsInMinute,
);

/** A breaker without attempts for so long may be forgotten: longer than any circuit is open. */
export const BREAKER_LIFETIME_MS = millisecondsInDay;
