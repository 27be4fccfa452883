import { performance } from 'node:perf_hooks';
import type { FairGate } from '../../../../application/concurrency/fair-gate.ts';
import { PausingRounds } from './pausing-rounds.ts';

/** No work computes for longer; work that takes longer has waited, for a lock or a connection, while others computed. */
const COUNTED_MS_MAX = 100;

interface Share {
  /** Behind work during which the event loop was busy for no longer there is no pause, in milliseconds. */
  readonly freeMs: number;
  /** What is let through takes this share of the time at most. */
  readonly share: number;
}

/**
 * A gate with a share of the event loop's time: behind work that kept the loop busy for long it lets nothing through for a while.
 * How long the work itself computed cannot be told from what the loop did between its queries, so all of it counts: the busier
 * the loop, the longer the pauses. Time in which the loop waits, as for a database, does not count.
 */
export class PausingGate {
  readonly #gate: Pick<FairGate, 'run'>;
  readonly #freeMs: number;
  readonly #busyMs: () => number;
  readonly #rounds: PausingRounds;

  /** `busyMs` is how long the loop has been busy so far. It never goes back. */
  constructor(gate: Pick<FairGate, 'run'>, { freeMs, share }: Share, busyMs: () => number = loopBusyMs) {
    this.#gate = gate;
    this.#freeMs = freeMs;
    this.#busyMs = busyMs;
    this.#rounds = new PausingRounds(share, () => this.#serve());
  }

  /** Runs the work as soon as it is let through: behind what waits, one piece in a round of the event loop. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    return this.#gate.run(key, async () => {
      if (this.#rounds.isPaused || !this.#rounds.waiting.isEmpty) {
        await new Promise<void>((resolve) => this.#rounds.add(key, { serveNext: resolve }));
      }
      const before = this.#busyMs();
      try {
        return await work();
      } finally {
        const ms = Math.min(this.#busyMs() - before, COUNTED_MS_MAX);
        if (ms > this.#freeMs) this.#rounds.pauseBehind(ms, performance.now());
      }
    });
  }

  /** One: on a database that replies at once it ends in this round, and the next one waits behind its pause. */
  #serve(): void {
    // Work that was let through before may have ended meanwhile.
    if (this.#rounds.isPaused) return;
    this.#rounds.waiting.take()?.serveNext();
  }
}

function loopBusyMs(): number {
  return performance.eventLoopUtilization().active;
}
