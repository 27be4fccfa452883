import type { EventLoop } from '../ports/event-loop.ts';

/** Work during which the event loop was busy for no longer is followed by no pause, in milliseconds. */
export const WORK_FREE_MS = 5;
/** The share of the event loop's time that the work has at most. */
const WORK_SHARE = 0.2;
/** Work that took longer has waited while others computed, in milliseconds. */
const WORK_COUNTED_MS_MAX = 300;

/**
 * Does work of which much may be due in one instant, and for which nobody waits: behind each piece comes a pause, so that all of
 * it has its share of the event loop's time. What the loop did meanwhile for others counts, too: the busier it is, the longer the
 * pauses.
 */
export class EventLoopShare {
  readonly #eventLoop: EventLoop;

  constructor(eventLoop: EventLoop) {
    this.#eventLoop = eventLoop;
  }

  /** Resolves or rejects as the work does, behind the pause; at once when the signal is aborted. */
  async run<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    const before = this.#eventLoop.busyMs();
    try {
      return await work();
    } finally {
      const busyMs = this.#eventLoop.busyMs() - before;
      if (busyMs > WORK_FREE_MS && signal?.aborted !== true) {
        await this.#eventLoop.pause(Math.min(busyMs, WORK_COUNTED_MS_MAX) * (1 / WORK_SHARE - 1));
      }
    }
  }
}
