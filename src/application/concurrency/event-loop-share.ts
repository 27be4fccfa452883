import type { EventLoop } from '../ports/event-loop.ts';

/** Pieces of work may keep the event loop busy for so long in sum before a pause follows, in milliseconds. */
export const WORK_FREE_MS = 5;
/** A pause takes so many times as long as the work before it. How long others wait depends on the pieces more than on this. */
export const PAUSE_FACTOR = 2;
/** Work that took longer has waited while others computed, in milliseconds. */
const WORK_COUNTED_MS_MAX = 100;

/**
 * Does work of which much may be due in one instant, so that all of it has about a third of the event loop's time: pauses come
 * between its pieces. What the loop did for others during a piece counts, too: the busier it is, the longer the pauses. Those of
 * pieces that end together overlap, so it is for pieces of which few run at a time.
 */
export class EventLoopShare {
  readonly #eventLoop: EventLoop;
  /** For how long the pieces since the last pause kept the event loop busy. */
  #owedMs = 0;
  #pause: Promise<unknown> = Promise.resolve();

  constructor(eventLoop: EventLoop) {
    this.#eventLoop = eventLoop;
  }

  /** Begins the work behind the pauses of what ended before, and resolves or rejects as it does, before its own. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    // One that began meanwhile counts, too.
    for (let pause: Promise<unknown> | null = null; pause !== this.#pause; await pause) pause = this.#pause;
    const before = this.#eventLoop.busyMs();
    try {
      return await work();
    } finally {
      this.#owedMs += Math.min(this.#eventLoop.busyMs() - before, WORK_COUNTED_MS_MAX);
      if (this.#owedMs > WORK_FREE_MS) {
        const pause = this.#eventLoop.pause(PAUSE_FACTOR * this.#owedMs);
        this.#pause = Promise.all([this.#pause, pause]);
        this.#owedMs = 0;
      }
    }
  }
}
