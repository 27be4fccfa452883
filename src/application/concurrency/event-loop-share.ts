import type { EventLoop } from '../ports/event-loop.ts';

/** No pause comes before the work, piece by piece, kept the event loop busy for longer than this in sum, in milliseconds. */
export const WORK_FREE_MS = 5;
/** The share of the event loop's time that the work has at most. How long others wait depends on the pieces more than on it. */
const WORK_SHARE = 1 / 3;
/** Work that took longer has waited while others computed, in milliseconds. */
const WORK_COUNTED_MS_MAX = 100;

/**
 * Does work of which much may be due in one instant, and for which nobody waits: behind it come pauses, so that all of it has its
 * share of the event loop's time. What the loop did meanwhile for others counts, too: the busier it is, the longer the pauses.
 */
export class EventLoopShare {
  readonly #eventLoop: EventLoop;
  /** For how long the pieces since the last pause kept the event loop busy. */
  #owedMs = 0;

  constructor(eventLoop: EventLoop) {
    this.#eventLoop = eventLoop;
  }

  /** Resolves or rejects as the work does, behind the pause; at once when the signal is aborted. */
  async run<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    const before = this.#eventLoop.busyMs();
    try {
      return await work();
    } finally {
      this.#owedMs += Math.min(this.#eventLoop.busyMs() - before, WORK_COUNTED_MS_MAX);
      if (this.#owedMs > WORK_FREE_MS && signal?.aborted !== true) {
        const pauseMs = this.#owedMs * (1 / WORK_SHARE - 1);
        this.#owedMs = 0;
        await this.#eventLoop.pause(pauseMs);
      }
    }
  }
}
