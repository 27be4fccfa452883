import { type Backlog, backlogKey } from './fair-share.ts';
import { type JobPriority, upTo } from './job-priority.ts';

/** How many submissions of one priority a provider allows, whatever their projects, before any are used. */
export interface Allowance {
  /** How many go out at once, together with those of other priorities. */
  readonly atOnce: number;
  /** How many more of the priority and of more urgent ones may wait there: they take the places of less urgent ones. */
  readonly shared: number;
  /** The most of those that may wait in any case. */
  readonly inAll: number;
}

interface Allowances {
  readonly ofPriority: (priority: JobPriority) => Allowance;
  /** How many more of a backlog may wait there, even when more than `shared` wait. */
  readonly ofBacklog: (backlog: Backlog) => number;
}

/**
 * Decides what may begin at one provider in one batch: as many submissions as go out at once, of any backlog, and besides them as
 * many as may wait there. The limit of a backlog is not asked for while no more of its priority may begin: there may be thousands
 * of backlogs.
 */
export class StartBudget {
  readonly #given: Allowances;
  readonly #ofPriorities = new Map<JobPriority, Allowance>();
  readonly #ofBacklogs = new Map<string, number>();
  /** How many are used of those that go out at once, and then of those that wait. */
  #usedAtOnce = 0;
  readonly #waitingOfBacklogs = new Map<string, number>();
  readonly #waitingOfPriorities = new Map<JobPriority, number>();

  constructor(given: Allowances) {
    this.#given = given;
  }

  allows(backlog: Backlog): boolean {
    const { atOnce, shared, inAll } = this.#ofPriority(backlog.priority);
    if (atOnce > this.#usedAtOnce) return true;
    const ahead = this.#waitingAhead(backlog.priority);
    if (ahead >= inAll) return false;
    return (
      ahead < shared || (this.#waitingOfBacklogs.get(backlogKey(backlog)) ?? 0) < this.#ofBacklog(backlog)
    );
  }

  use(backlog: Backlog): void {
    const { atOnce } = this.#ofPriority(backlog.priority);
    if (atOnce === Number.POSITIVE_INFINITY) return;
    if (atOnce > this.#usedAtOnce) {
      this.#usedAtOnce += 1;
      return;
    }
    countOneMore(this.#waitingOfBacklogs, backlogKey(backlog));
    countOneMore(this.#waitingOfPriorities, backlog.priority);
  }

  #ofPriority(priority: JobPriority): Allowance {
    const allowance = this.#ofPriorities.get(priority) ?? this.#given.ofPriority(priority);
    this.#ofPriorities.set(priority, allowance);
    return allowance;
  }

  #ofBacklog(backlog: Backlog): number {
    const key = backlogKey(backlog);
    const own = this.#ofBacklogs.get(key) ?? this.#given.ofBacklog(backlog);
    this.#ofBacklogs.set(key, own);
    return own;
  }

  /** How many wait of the priority and of more urgent ones. */
  #waitingAhead(priority: JobPriority): number {
    return upTo(priority).reduce((sum, each) => sum + (this.#waitingOfPriorities.get(each) ?? 0), 0);
  }
}

function countOneMore<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
