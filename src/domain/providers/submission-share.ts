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
