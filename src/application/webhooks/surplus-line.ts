import { countLately, NONE_LATELY, withOneMore } from '../../domain/shared/recent-count.ts';

/** A job whose destination is one too many for this process is due again after this time at the earliest. */
export const SURPLUS_DELAY_MS = 2_000;

/** At least so many of one project come again in that time: a small part of what can be leased. */
export const SURPLUS_JOBS_MIN = 400;

/** A job comes again after this time at the latest, however long the line is. */
export const SURPLUS_DELAY_MAX_MS = 600_000;

/** So many come again together: leasing and releasing a few of them at a time would be many more commits. */
export const SURPLUS_JOBS_TOGETHER = 100;

/** Of those that come again, about every second one finds a place: destinations differ in how long they take. */
const JOBS_PER_PLACE = 2;

/**
 * When the jobs of one project are due again whose destinations are too many: one behind the other. Jobs that all come again
 * soon and find no place are leased and released for nothing, which takes half a core when 100,000 endpoints hang. So the
 * line moves as fast as destinations have ended lately, times two.
 */
export class SurplusLine {
  #lastAt = Number.NEGATIVE_INFINITY;
  /** In periods as long as the shortest delay. */
  #ended = NONE_LATELY;

  /** A destination of the project has ended, which leaves a place. */
  noteEnded(now: number): void {
    this.#ended = withOneMore(this.#ended, periodOf(now));
  }

  /** The instant at which one more job is due again. */
  next(now: number): number {
    const jobs = Math.max(SURPLUS_JOBS_MIN, JOBS_PER_PLACE * countLately(this.#ended, periodOf(now)));
    const jobMs = SURPLUS_DELAY_MS / jobs;
    const latest = now + SURPLUS_DELAY_MAX_MS;
    // A clock that was put back must not keep jobs away for longer.
    this.#lastAt = Math.min(Math.max(now + SURPLUS_DELAY_MS, this.#lastAt + jobMs), latest);
    const togetherMs = SURPLUS_JOBS_TOGETHER * jobMs;
    return Math.min(Math.ceil(Math.ceil(this.#lastAt / togetherMs) * togetherMs), latest);
  }
}

function periodOf(now: number): number {
  return Math.floor(now / SURPLUS_DELAY_MS);
}
