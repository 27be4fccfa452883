import { performance } from 'node:perf_hooks';
import { nextTick } from 'node:process';
import { RotatingQueue } from '../../../../application/concurrency/rotating-queue.ts';
import { RoundTime } from '../../../../application/concurrency/round-time.ts';
import { PausingRounds, type RoundTask } from './pausing-rounds.ts';

/** Whose request it is: that of a project, by an API key that was admitted, or of an unknown caller. */
export type CallerGroup = 'project' | 'unknown';

/**
 * Gives the event loop's time to what waits: to projects and to unknown callers alternately, one piece each, however many of
 * those there are. Within each it goes round-robin over keys, such as projects and addresses, and in order within
 * each key. In one round of the loop it works for `msPerRound()` milliseconds and ends the piece that was begun. So other work is
 * done in between, however much waits. In a round with 0 milliseconds it does nothing. With a share below 1 it pauses between
 * rounds, so that all rounds together take that share of the time.
 */
export class FairRounds {
  readonly #msPerRound: () => number;
  readonly #share: number;
  /** For what does not wait. */
  readonly #time: RoundTime;
  /** The groups, each as often as callers of it wait. */
  readonly #rounds: PausingRounds;
  readonly #ofGroups: Readonly<Record<CallerGroup, RotatingQueue<RoundTask>>> = {
    project: new RotatingQueue(),
    unknown: new RotatingQueue(),
  };

  constructor(msPerRound: () => number, share = 1) {
    this.#msPerRound = msPerRound;
    this.#share = share;
    this.#time = new RoundTime(msPerRound, () => performance.now());
    this.#rounds = new PausingRounds(share, () => this.#serve());
  }

  /** The number of this round of the event loop: every chunk that is read before the next one has the same. */
  get round(): number {
    return this.#time.number;
  }

  /** Whether this round has time for what does not wait, counted from the first question. */
  hasTime(): boolean {
    return this.#time.isLeft();
  }

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.#rounds.waiting.isEmpty;
  }

  /** Adds what is not waiting yet, behind what waits under the key. */
  add(key: string, waiting: RoundTask, group: CallerGroup): void {
    const ofGroup = this.#ofGroups[group];
    ofGroup.add(key, waiting);
    // For whatever is next in the group by then.
    this.#rounds.add(group, { serveNext: () => ofGroup.take()?.serveNext() });
  }

  /** Resolves when the caller may go on; null when that is now. */
  wait(key: string, group: CallerGroup): Promise<void> | null {
    // What is done at once is not measured, and no pause follows it.
    if (this.#share === 1 && this.isEmpty && this.hasTime()) return null;
    return new Promise((resolve) => this.add(key, { serveNext: resolve }, group));
  }

  async #serve(): Promise<void> {
    const { waiting } = this.#rounds;
    const startedAt = performance.now();
    const ms = this.#msPerRound();
    let isOver = ms === 0;
    while (!isOver) {
      waiting.take()?.serveNext();
      // What it does without waiting for anything else counts as well.
      await new Promise<void>((resolve) => nextTick(resolve));
      isOver = waiting.isEmpty || performance.now() >= startedAt + ms;
    }
    const endedAt = performance.now();
    this.#rounds.pauseBehind(endedAt - startedAt, endedAt);
  }
}
