/**
 * The delay after a poll that found work: under load one poll serves many messages, and most commits are left to
 * requests, which somebody waits for.
 */
export const POLLING_DELAY_MS = 50;

/** While requests leave no time the delay grows up to this: requests come first, and due work waits in its rows. */
export const YIELDING_DELAY_MS_MAX = 400;
const YIELDING_GROWTH = 2;

/** Above this share of busy time the process counts as having none to spare. */
const SATURATED_SHARE = 0.9;

/** From this many signals between two polls on, they come from requests: the work itself signals once per batch. */
const REQUEST_SIGNALS_MIN = 41;

/** How busy the process was since the last call, as a share from 0 to 1. */
export type BusyShare = () => number;

/** Decides how long to wait before the next poll, so that work and requests share one process. */
export class AdaptivePolling {
  readonly #busyShare: BusyShare;
  #yieldingMs = POLLING_DELAY_MS;

  constructor(busyShare: BusyShare = eventLoopShare()) {
    this.#busyShare = busyShare;
  }

  /** Milliseconds until the next poll; 0 polls again at once. */
  nextDelay(poll: {
    readonly foundWork: boolean;
    readonly hasMore: boolean;
    readonly signals: number;
  }): number {
    const isSaturated = this.#busyShare() > SATURATED_SHARE && poll.signals >= REQUEST_SIGNALS_MIN;
    this.#yieldingMs = isSaturated
      ? Math.min(YIELDING_DELAY_MS_MAX, this.#yieldingMs * YIELDING_GROWTH)
      : POLLING_DELAY_MS;
    if (!poll.foundWork) return 0;
    return poll.hasMore && !isSaturated ? 0 : this.#yieldingMs;
  }
}

function eventLoopShare(): BusyShare {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
