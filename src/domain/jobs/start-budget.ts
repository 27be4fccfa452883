import { type Backlog, backlogKey } from './fair-share.ts';

/** Of one backlog: how many go out at once, before any are used, and how many more may wait. */
export interface Left {
  readonly free: number;
  mayWait: number;
}

/**
 * What may begin at one provider in one batch: as many as go out at once, of whatever backlog, and besides them as many of each
 * backlog as may wait there.
 */
export class StartBudget {
  readonly #leftAtFirst: (backlog: Backlog) => Left;
  /** How many have been used of what goes out at once. */
  #used = 0;
  readonly #left = new Map<string, Left>();

  constructor(leftAtFirst: (backlog: Backlog) => Left) {
    this.#leftAtFirst = leftAtFirst;
  }

  allows(backlog: Backlog): boolean {
    const { free, mayWait } = this.#leftOf(backlog);
    return free > this.#used || mayWait > 0;
  }

  use(backlog: Backlog): void {
    const left = this.#leftOf(backlog);
    if (left.free === Number.POSITIVE_INFINITY) return;
    if (left.free > this.#used) this.#used += 1;
    else left.mayWait -= 1;
  }

  #leftOf(backlog: Backlog): Left {
    const key = backlogKey(backlog);
    const left = this.#left.get(key) ?? this.#leftAtFirst(backlog);
    this.#left.set(key, left);
    return left;
  }
}
