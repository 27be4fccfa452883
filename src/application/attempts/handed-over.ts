import { type Backlog, backlogKey } from '../../domain/jobs/fair-share.ts';
import { JOB_PRIORITIES, type JobPriority, lessUrgentThan } from '../../domain/jobs/job-priority.ts';
import { countLately, NONE_LATELY, type RecentCount, withOneMore } from '../../domain/shared/recent-count.ts';

/** How many submissions were handed over to one provider lately, by backlog and by priority, in periods. */
export class HandedOver {
  readonly #byBacklog = new Map<string, RecentCount>();
  readonly #byPriority = new Map<JobPriority, RecentCount>();

  note(backlog: Backlog, period: number): void {
    noteIn(this.#byBacklog, backlogKey(backlog), period);
    noteIn(this.#byPriority, backlog.priority, period);
  }

  ofBacklog(backlog: Backlog, period: number): number {
    return countLately(this.#byBacklog.get(backlogKey(backlog)) ?? NONE_LATELY, period);
  }

  /** How many submissions of all less urgent priorities were handed over lately. */
  lessUrgentThan(priority: JobPriority, period: number): number {
    return this.#ofPriorities(lessUrgentThan(priority), period);
  }

  ofAll(period: number): number {
    return this.#ofPriorities(JOB_PRIORITIES, period);
  }

  /** Forgets the backlogs that are handed over no longer, so that they take no memory. */
  forget(period: number): void {
    for (const [key, count] of this.#byBacklog) {
      if (countLately(count, period) === 0) this.#byBacklog.delete(key);
    }
  }

  #ofPriorities(priorities: readonly JobPriority[], period: number): number {
    return priorities.reduce(
      (sum, priority) => sum + countLately(this.#byPriority.get(priority) ?? NONE_LATELY, period),
      0,
    );
  }
}

function noteIn<Key>(counts: Map<Key, RecentCount>, key: Key, period: number): void {
  counts.set(key, withOneMore(counts.get(key) ?? NONE_LATELY, period));
}
