import { type Backlog, backlogKey } from './fair-share.ts';

/** What a provider allows of one backlog. */
export interface Allowance {
  /** So many go out at once, together with those of other backlogs. */
  readonly atOnce: number;
  /** So many more may wait there. */
  readonly mayWait: number;
}

/**
 * What may begin at one provider in one batch: as many as go out at once, of whatever backlog, and besides them as many of each
 * backlog as may wait there.
 */
export class StartBudget {
  readonly #allowanceOf: (backlog: Backlog) => Allowance;
  /** How many have been used of what goes out at once. */
  #used = 0;
  readonly #left = new Map<string, Allowance>();

  constructor(allowanceOf: (backlog: Backlog) => Allowance) {
    this.#allowanceOf = allowanceOf;
  }

  allows(backlog: Backlog): boolean {
    const { atOnce, mayWait } = this.#leftOf(backlog);
    return atOnce > this.#used || mayWait > 0;
  }

  use(backlog: Backlog): void {
    const { atOnce, mayWait } = this.#leftOf(backlog);
    if (atOnce === Number.POSITIVE_INFINITY) return;
    if (atOnce > this.#used) this.#used += 1;
    else this.#left.set(backlogKey(backlog), { atOnce, mayWait: mayWait - 1 });
  }

  /** What goes out at once is counted before any was used. */
  #leftOf(backlog: Backlog): Allowance {
    const key = backlogKey(backlog);
    const left = this.#left.get(key) ?? this.#allowanceOf(backlog);
    this.#left.set(key, left);
    return left;
  }
}
