import type { Clock } from '../ports/clock.ts';
import type { Timeout } from '../ports/timeout.ts';

/** Rows of the first slice. */
export const SLICE_ROWS_FIRST = 50;
/** The most rows by which a slice outgrows the one before. */
const GROWTH_MAX = 2;

/** How large a slice may be: what it keeps waiting depends on the database. */
export interface SliceBudget {
  /** A slice takes about so long, in milliseconds. */
  readonly workMs: number;
  /** Rows of the largest slice. */
  readonly rowsMax: number;
}

interface SlicePorts {
  readonly clock: Clock;
  readonly sliceBudget: SliceBudget;
  /** Others go on meanwhile. */
  readonly sliceDelay: Timeout;
}

/** Divides long work into short transactions, with a wait behind each. */
export class Slices {
  readonly #ports: SlicePorts;
  readonly #signal: AbortSignal;
  #rows = SLICE_ROWS_FIRST;

  constructor(ports: SlicePorts, signal: AbortSignal) {
    this.#ports = ports;
    this.#signal = signal;
  }

  /**
   * Calls `work` with a number of rows until it resolves with false, or the signal ends the work. The number follows the time
   * that the last slice took.
   */
  async each(work: (rows: number) => Promise<boolean>): Promise<void> {
    const { clock, sliceDelay } = this.#ports;
    while (!this.#signal.aborted) {
      const startedAt = clock.now();
      const goesOn = await work(this.#rows);
      this.#resize(clock.now() - startedAt);
      if (!goesOn) return;
      await new Promise<void>((over) => sliceDelay(over));
    }
  }

  #resize(tookMs: number): void {
    const { workMs, rowsMax } = this.#ports.sliceBudget;
    const factor = tookMs <= 0 ? GROWTH_MAX : Math.min(GROWTH_MAX, workMs / tookMs);
    this.#rows = Math.max(1, Math.min(rowsMax, Math.floor(this.#rows * factor)));
  }
}
