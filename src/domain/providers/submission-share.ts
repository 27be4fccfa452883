/** Of each ten places in flight to a provider, one is kept from a project that has all the others. */
export const PLACES_PER_KEPT = 10;
/** A submission that is in flight for longer is slow, in milliseconds. */
export const SLOW_AFTER_MS = 2_000;
/** A submission that is in flight for less is fresh, in milliseconds. */
export const FRESH_MS = 500;

/** How long the submissions of a project took lately: `quick` ones are fresh to their ends, `long` ones are not, and not slow. */
export type Latency = 'quick' | 'long' | 'slow';
/** How long a latency is remembered of a project after the end of such a submission, in milliseconds. */
export const LATENCY_REMEMBERED_MS = 10_000;

/** Of how many places in flight to a provider a project of this latency leaves one to others. */
const PLACES_PER_LEFT: Readonly<Record<Latency, number>> = {
  quick: Number.POSITIVE_INFINITY,
  long: 2 * PLACES_PER_KEPT,
  slow: PLACES_PER_KEPT,
};

/** The latency of a submission that took, or takes already, so many milliseconds. */
export function latencyOf(ms: number): Latency {
  if (ms < FRESH_MS) return 'quick';
  return ms < SLOW_AFTER_MS ? 'long' : 'slow';
}

/**
 * How many more submissions a project may have in flight to a provider with `places` places, of which `free` are free. While none
 * of its own submissions is slow, it may have as many as it leaves free. It may have more, up to the kept places, while its slow
 * submissions are fewer than the free places beyond the kept ones. By its latency it leaves whole tenths or twentieths in any
 * case: those whose submissions are slow must not have the places of one for which the provider takes long.
 */
export function moreInFlight(
  own: { readonly inFlight: number; readonly slow: number; readonly latency: Latency },
  { free, places }: { readonly free: number; readonly places: number },
): number {
  const ofItsHalf = own.slow === 0 ? Math.ceil((free - own.inFlight) / 2) : 0;
  const more = Math.max(0, ofItsHalf, free - Math.ceil(places / PLACES_PER_KEPT) - own.slow);
  return Math.max(0, Math.min(more, free - Math.floor(places / PLACES_PER_LEFT[own.latency])));
}

/**
 * Stands for any project where a provider is asked for a whole priority: its places, and what waits there, are the same for all.
 * It has nothing in flight, so that no project has more that pass.
 */
export const NO_PROJECT = '';

/** How many submissions of one backlog may wait at a provider, however few of them it takes. */
export const WAITING_MIN = 4;
/** What is handed over to a provider is counted in periods of this length, in milliseconds. */
export const HANDED_OVER_PERIOD_MS = 1_000;
/** The share of what the provider took of a backlog in the last period: as many may wait, so that they soon go out. */
export const WAITING_SHARE = 1 / 4;
/** How many submissions of one priority and of more urgent ones may wait together, however few of them the provider takes. */
export const WAITING_IN_ALL_MIN = 32;

/** How many submissions a provider takes now, and how many wait there, for one backlog. */
export interface ProviderCapacity {
  /** How many more the provider hands over at once; 0 while others have to wait. */
  readonly free: number;
  /**
   * How many more of the project it hands over at once although others wait there, because those have their share in flight.
   */
  readonly passing: number;
  /** How many of the backlog wait at the provider. */
  readonly waiting: number;
  /** How many wait there of its priority and of more urgent ones, of whatever project. */
  readonly ahead: number;
  /** How many more of the project it gets at once at its rate. Absent unless the provider throttles the project. */
  readonly ofRate?: number;
  /** Whether it rejects each submission of the project at once. */
  readonly isClosed?: true;
}

/** The capacity of a provider at which no submission waits. */
export const UNLIMITED_CAPACITY: ProviderCapacity = {
  free: Number.POSITIVE_INFINITY,
  passing: 0,
  waiting: 0,
  ahead: 0,
};

/** The capacity of a provider that rejects each submission at once: none waits there. */
export const CLOSED_CAPACITY: ProviderCapacity = { ...UNLIMITED_CAPACITY, isClosed: true };

/** Whether the project has a rate, because the provider throttles it; false without a provider. */
export function isAtRate(capacity: ProviderCapacity | undefined): boolean {
  return capacity?.ofRate !== undefined;
}

/** How many more of the project the provider hands over at once, when none of others wait. */
export function freeForProject({ free, ofRate = free }: ProviderCapacity): number {
  return Math.min(free, ofRate);
}

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
