import { performance } from 'node:perf_hooks';

/**
 * The delay after a poll that took all due work, and the length of a yield: under load one poll serves many messages, and most
 * commits are left to requests, which somebody waits for.
 */
export const POLLING_DELAY_MS = 50;

/** The most times that a poll is put off while requests leave no time: requests come first, and due work waits in its rows. */
export const YIELDS_MAX = 4;

/** Above this share of busy time the process counts as having none to spare. */
const SATURATED_SHARE = 0.9;

/** The signals since the last poll from which requests are among the senders: the work itself signals a few times. */
const REQUEST_SIGNALS_MIN = 41;

/** How busy the process was since the last call, as a share from 0 to 1. */
export type BusyShare = () => number;

/** Decides when to poll, so that work and requests share one process. */
export class AdaptivePolling {
  readonly #busyShare: BusyShare;
  #yields = 0;
  /** Whether requests left no time before the last poll. */
  #wasSaturated = false;

  constructor(busyShare: BusyShare = eventLoopShare()) {
    this.#busyShare = busyShare;
  }

  /**
   * Milliseconds until the poll after this one; 0 adds no delay to the next wake. While more is due there is none, unless
   * requests leave no time: right after a poll nobody can tell whether they still do.
   */
  nextDelay(poll: { readonly foundWork: boolean; readonly hasMore: boolean }): number {
    return poll.foundWork && (!poll.hasMore || this.#wasSaturated) ? POLLING_DELAY_MS : 0;
  }

  /**
   * Whether the poll that is due now is put off, which is counted, by another `POLLING_DELAY_MS`, because requests leave no time
   * for it. `signals` is how many there were since the poll before.
   */
  tryYield(signals: number): boolean {
    const isSaturated = this.#busyShare() > SATURATED_SHARE && signals >= REQUEST_SIGNALS_MIN;
    this.#wasSaturated = isSaturated;
    if (!isSaturated || this.#yields === YIELDS_MAX) {
      this.#yields = 0;
      return false;
    }
    this.#yields += 1;
    return true;
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
