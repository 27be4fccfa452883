import { type Backlog, backlogKey } from '../../domain/jobs/fair-share.ts';
import { JOB_PRIORITIES, type JobPriority } from '../../domain/jobs/job-priority.ts';
import { countLately, NONE_LATELY, type RecentCount, withOneMore } from '../../domain/shared/recent-count.ts';

/** How many submissions were handed over to one provider lately, by backlog and by priority, in periods. */
export class HandedOver {
  readonly #byBacklog = new Map<string, RecentCount>();
  readonly #byPriority = new Map<JobPriority, RecentCount>();

  note(backlog: Backlog, period: number): void {
    noteIn(this.#byBacklog, backlogKey(backlog), period);
    noteIn(this.#byPriority, backlog.priority, period);
  }

  /** Those of the backlog, and of all less urgent priorities: their places are what a burst of it gets. */
  lately(backlog: Backlog, period: number): number {
    const own = countLately(this.#byBacklog.get(backlogKey(backlog)) ?? NONE_LATELY, period);
    return JOB_PRIORITIES.slice(JOB_PRIORITIES.indexOf(backlog.priority) + 1).reduce(
      (sum, priority) => sum + countLately(this.#byPriority.get(priority) ?? NONE_LATELY, period),
      own,
    );
  }

  /** Backlogs that are handed over no longer take no memory. */
  forget(period: number): void {
    for (const [key, count] of this.#byBacklog) {
      if (countLately(count, period) === 0) this.#byBacklog.delete(key);
    }
  }
}

function noteIn<Key>(counts: Map<Key, RecentCount>, key: Key, period: number): void {
  counts.set(key, withOneMore(counts.get(key) ?? NONE_LATELY, period));
}
