/** Of each ten places in flight to a provider, one is kept from a project that has all the others. */
export const PLACES_PER_KEPT = 10;
/** A submission that is in flight for longer is slow, in milliseconds. */
export const SLOW_AFTER_MS = 2_000;

/**
 * Whether a project may have one more submission in flight to a provider, of whose `places` some are `free`. While none of its
 * own is slow, it may have as many as it leaves free. It may have more, in all but the kept places, as long as fewer of its own
 * are slow than are free besides the kept ones.
 */
export function mayHaveMore(
  own: { readonly inFlight: number; readonly slow: number },
  { free, places }: { readonly free: number; readonly places: number },
): boolean {
  if (own.slow === 0 && own.inFlight < free) return true;
  return own.slow < free - Math.ceil(places / PLACES_PER_KEPT);
}

/** So many submissions of one backlog may wait at a provider, however few of them it takes. */
export const WAITING_MIN = 4;
/** What is handed over to a provider is counted in periods of this length, in milliseconds. */
export const HANDED_OVER_PERIOD_MS = 1_000;
/** More may wait: this share of what the provider took of them in the last period, so that they soon go out. */
export const WAITING_SHARE = 1 / 4;
/** So many of one priority and more urgent ones may wait together, of whatever projects, however few the provider takes. */
export const WAITING_IN_ALL_MIN = 32;

/** What stands between the submissions of one backlog and the other side. */
export interface ProviderCapacity {
  /** How many more the provider hands over at once; 0 while others have to wait. */
  readonly free: number;
  /** How many of the backlog wait at the provider. */
  readonly waiting: number;
  /** How many wait there of its priority and of more urgent ones, of whatever project. */
  readonly ahead: number;
}

/** Of a provider at which no submission waits. */
export const UNLIMITED_CAPACITY: ProviderCapacity = {
  free: Number.POSITIVE_INFINITY,
  waiting: 0,
  ahead: 0,
};

/**
 * How many submissions of a backlog may wait at a provider that took `taken` of it in the last period. One that is begun and not
 * handed over when its process dies is never submitted, so few may wait. If none did, the provider would wait for the service.
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
 * How many of all projects together may wait at a provider that took `taken` in the last period: as many. Each of a thousand
 * projects may have few that wait, and all of them would be lost with their process.
 */
export function waitingInAllMax(taken: number): number {
  return Math.max(WAITING_IN_ALL_MIN, taken);
}
