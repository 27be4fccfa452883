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
