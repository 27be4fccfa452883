/** How many submissions of one backlog may wait at a provider, however few of them it takes. */
export const WAITING_MIN = 4;
/** What is handed over to a provider is counted in periods of this length, in milliseconds. */
export const HANDED_OVER_PERIOD_MS = 1_000;
/** The share of what the provider took of a backlog in the last period: as many may wait, so that they soon go out. */
export const WAITING_SHARE = 1 / 4;
/** How many submissions of one priority and of more urgent ones may wait together, however few of them the provider takes. */
export const WAITING_IN_ALL_MIN = 32;

/**
 * How many submissions of a backlog may wait at a provider that took `taken` of it in the last period. A submission that is begun
 * and not handed over when its process dies is never submitted, so few may wait. If none waited, the provider would wait for the
 * service.
 */
export function waitingMax(taken: number): number {
  return Math.max(WAITING_MIN, waitingShare(taken));
}

/**
 * How many submissions may wait at a provider that took `taken` in the last period. These are submissions of the same backlog, or
 * less urgent ones: the submissions that wait take their places.
 */
export function waitingShare(taken: number): number {
  return Math.ceil(taken * WAITING_SHARE);
}

/**
 * How many submissions of all projects together may wait at a provider that took `taken` in the last period: as many. A thousand
 * projects may have a few each that wait, and all of them would be lost with their process.
 */
export function waitingInAllMax(taken: number): number {
  return Math.max(WAITING_IN_ALL_MIN, taken);
}
