import { type Backlog, backlogKey } from '../../domain/jobs/fair-share.ts';
import { type JobPriority, upTo } from '../../domain/jobs/job-priority.ts';

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
  /** How many of the project of a backlog go out at once at most. */
  readonly ofProject: (backlog: Backlog) => number;
  /** How many more of a backlog may wait there, even when more than `shared` wait. */
  readonly ofBacklog: (backlog: Backlog) => number;
  /** How many more of its project go out at once, whatever waits: what waits has its share in flight. */
  readonly passing: (backlog: Backlog) => number;
  /** The most of those, of all projects. */
  readonly passingInAll: number;
}

/**
 * Decides what may begin at one provider in one batch: as many submissions as go out at once, of any backlog, besides them as
 * many as may wait there, and then those that pass what waits. The limit of a backlog is not asked for while no more of its
 * priority may wait: there may be thousands of backlogs.
 */
export class StartBudget {
  readonly #given: Allowances;
  readonly #ofPriorities = new Map<JobPriority, Allowance>();
  readonly #ofBacklogs = new Map<string, number>();
  /** How many are used of those that go out at once, and then of those that wait. */
  #usedAtOnce = 0;
  readonly #atOnceOfProjects = new Map<string, number>();
  readonly #waitingOfBacklogs = new Map<string, number>();
  readonly #waitingOfPriorities = new Map<JobPriority, number>();
  readonly #passedOfProjects = new Map<string, number>();
  #passed = 0;

  constructor(given: Allowances) {
    this.#given = given;
  }

  allows(backlog: Backlog): boolean {
    return this.#goesAtOnce(backlog) || this.#mayWait(backlog) || this.passes(backlog);
  }

  /** Whether one more of the backlog goes out at once, although others wait. */
  passes(backlog: Backlog): boolean {
    if (this.#passed >= this.#given.passingInAll) return false;
    return (this.#passedOfProjects.get(backlog.projectId) ?? 0) < this.#given.passing(backlog);
  }

  /** Uses what `allows` has allowed. */
  use(backlog: Backlog): void {
    const { atOnce } = this.#ofPriority(backlog.priority);
    if (atOnce === Number.POSITIVE_INFINITY) return;
    if (this.#goesAtOnce(backlog)) {
      this.#usedAtOnce += 1;
      countOneMore(this.#atOnceOfProjects, backlog.projectId);
      return;
    }
    if (this.#mayWait(backlog)) {
      countOneMore(this.#waitingOfBacklogs, backlogKey(backlog));
      countOneMore(this.#waitingOfPriorities, backlog.priority);
      return;
    }
    this.#passed += 1;
    countOneMore(this.#passedOfProjects, backlog.projectId);
  }

  #goesAtOnce(backlog: Backlog): boolean {
    const { atOnce } = this.#ofPriority(backlog.priority);
    if (atOnce <= this.#usedAtOnce) return false;
    return (this.#atOnceOfProjects.get(backlog.projectId) ?? 0) < this.#given.ofProject(backlog);
  }

  #mayWait(backlog: Backlog): boolean {
    const { shared, inAll } = this.#ofPriority(backlog.priority);
    const ahead = this.#waitingAhead(backlog.priority);
    if (ahead >= inAll) return false;
    return (
      ahead < shared || (this.#waitingOfBacklogs.get(backlogKey(backlog)) ?? 0) < this.#ofBacklog(backlog)
    );
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
