import { countLately, NONE_LATELY, periodAt, withOneMore } from '../../domain/shared/recent-count.ts';

/** The shortest time until a job is due again whose destination is one too many for this process, in milliseconds. */
export const SURPLUS_DELAY_MS = 2_000;

/** The fewest jobs of one project that come again in that time: a small part of what can be leased. */
export const SURPLUS_JOBS_MIN = 400;

/** The longest time until such a job is due again, however long the line is, in milliseconds. */
export const SURPLUS_DELAY_MAX_MS = 600_000;

/** How many jobs come again together: leasing and releasing a few of them at a time would be many more commits. */
export const SURPLUS_JOBS_TOGETHER = 100;

/**
 * How many jobs come again for each place: about every second one finds a place, as destinations differ in how long they take.
 */
const JOBS_PER_PLACE = 2;

/**
 * Decides when the jobs of one project are due again whose destinations are too many: one behind the other. Jobs that all come
 * again soon and find no place are leased and released for nothing. That takes half a core when 100,000 endpoints hang. So the
 * line moves twice as fast as destinations have ended lately.
 */
export class SurplusLine {
  #lastAt = Number.NEGATIVE_INFINITY;
  /** The destinations that ended, in periods as long as the shortest delay. */
  #ended = NONE_LATELY;

  /** A destination of the project has ended, which leaves a place. */
  noteEnded(now: number): void {
    this.#ended = withOneMore(this.#ended, periodAt(now, SURPLUS_DELAY_MS));
  }

  /** The instant at which one more job is due again. */
  next(now: number): number {
    const ended = countLately(this.#ended, periodAt(now, SURPLUS_DELAY_MS));
    const jobs = Math.max(SURPLUS_JOBS_MIN, JOBS_PER_PLACE * ended);
    const jobMs = SURPLUS_DELAY_MS / jobs;
    const latest = now + SURPLUS_DELAY_MAX_MS;
    // A clock that was put back must not keep jobs away for longer.
    this.#lastAt = Math.min(Math.max(now + SURPLUS_DELAY_MS, this.#lastAt + jobMs), latest);
    const togetherMs = SURPLUS_JOBS_TOGETHER * jobMs;
    return Math.min(Math.ceil(Math.ceil(this.#lastAt / togetherMs) * togetherMs), latest);
  }
}
