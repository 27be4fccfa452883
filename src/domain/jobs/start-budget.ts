import { type Backlog, backlogKey } from './fair-share.ts';
import { JOB_PRIORITIES, type JobPriority } from './job-priority.ts';

/** What a provider allows of one backlog, before any are used. */
export interface Allowance {
  /** So many go out at once, together with those of other backlogs. */
  readonly atOnce: number;
  /** So many more of the backlog may wait there. */
  readonly own: number;
  /** Or so many more of its priority and more urgent ones, of whatever project: they take the places of less urgent ones. */
  readonly shared: number;
  /** More of those may not wait in any case. */
  readonly inAll: number;
}

/**
 * What may begin at one provider in one batch: as many as go out at once, of whatever backlog, and besides them as many as may
 * wait there.
 */
export class StartBudget {
  readonly #allowanceOf: (backlog: Backlog) => Allowance;
  readonly #allowances = new Map<string, Allowance>();
  /** How many have been used of what goes out at once, and of those that wait. */
  #usedAtOnce = 0;
  readonly #waitingOfBacklogs = new Map<string, number>();
  readonly #waitingOfPriorities = new Map<JobPriority, number>();

  constructor(allowanceOf: (backlog: Backlog) => Allowance) {
    this.#allowanceOf = allowanceOf;
  }

  allows(backlog: Backlog): boolean {
    const { atOnce, own, shared, inAll } = this.#allowance(backlog);
    if (atOnce > this.#usedAtOnce) return true;
    const ahead = this.#waitingAhead(backlog.priority);
    if (ahead >= inAll) return false;
    return ahead < shared || (this.#waitingOfBacklogs.get(backlogKey(backlog)) ?? 0) < own;
  }

  use(backlog: Backlog): void {
    const { atOnce } = this.#allowance(backlog);
    if (atOnce === Number.POSITIVE_INFINITY) return;
    if (atOnce > this.#usedAtOnce) {
      this.#usedAtOnce += 1;
      return;
    }
    countOneMore(this.#waitingOfBacklogs, backlogKey(backlog));
    countOneMore(this.#waitingOfPriorities, backlog.priority);
  }

  #allowance(backlog: Backlog): Allowance {
    const key = backlogKey(backlog);
    const allowance = this.#allowances.get(key) ?? this.#allowanceOf(backlog);
    this.#allowances.set(key, allowance);
    return allowance;
  }

  /** Of the priority and of more urgent ones. */
  #waitingAhead(priority: JobPriority): number {
    return JOB_PRIORITIES.slice(0, JOB_PRIORITIES.indexOf(priority) + 1).reduce(
      (sum, each) => sum + (this.#waitingOfPriorities.get(each) ?? 0),
      0,
    );
  }
}

function countOneMore<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
