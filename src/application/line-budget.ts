import { millisecondsInSecond } from 'date-fns/constants';
/**
 * The most lines of one kind that are logged in a second. The next line that is logged counts the others, as `suppressed`.
 */
export const LINES_PER_SECOND_MAX = 20;

/** Limits the lines of one kind in each second, so that each line is worth reading and no log is filled. */
export class LineBudget {
  readonly #nowMs: () => number;
  #secondStartedAt = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #suppressed = 0;

  /** `nowMs` is a clock that never goes back, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Null when the line is one too many; else how many were suppressed since the last one. */
  take(): number | null {
    const now = this.#nowMs();
    if (now - this.#secondStartedAt >= millisecondsInSecond) {
      this.#secondStartedAt = now;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines > LINES_PER_SECOND_MAX) {
      this.#suppressed += 1;
      return null;
    }
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    return suppressed;
  }
}
