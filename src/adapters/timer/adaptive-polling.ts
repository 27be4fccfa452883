/**
 * After a look that found work the next one waits this long, so that under load one look serves many messages
 * and most commits are left to those who wait for an answer.
 */
export const POLLING_DELAY_MS = 50;

/** While requests leave no time the pause grows up to this: they come first, and what is due waits in its rows. */
export const YIELDING_DELAY_MS_MAX = 400;
const YIELDING_GROWTH = 2;

/** Above this share of busy time the process is taken to have none to spare. */
const SATURATED_SHARE = 0.9;

/** More signals than this between two looks come from requests; the work itself signals once per batch. */
const SIGNALS_OF_WORK_MAX = 40;

/** How busy the process was since the last question, as a share from 0 to 1. */
export type BusyShare = () => number;

/** Decides how long to wait before the next look, so that work and requests share one process. */
export class AdaptivePolling {
  readonly #busyShare: BusyShare;
  #yieldingMs = POLLING_DELAY_MS;

  constructor(busyShare: BusyShare = eventLoopShare()) {
    this.#busyShare = busyShare;
  }

  /** Milliseconds until the next look; 0 looks again at once. */
  nextDelay(look: {
    readonly foundWork: boolean;
    readonly hasMore: boolean;
    readonly signals: number;
  }): number {
    const isSaturated = this.#busyShare() > SATURATED_SHARE && look.signals > SIGNALS_OF_WORK_MAX;
    this.#yieldingMs = isSaturated
      ? Math.min(YIELDING_DELAY_MS_MAX, this.#yieldingMs * YIELDING_GROWTH)
      : POLLING_DELAY_MS;
    if (!look.foundWork) return 0;
    return look.hasMore && !isSaturated ? 0 : this.#yieldingMs;
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
