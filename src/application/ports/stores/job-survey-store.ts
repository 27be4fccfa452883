import type { JobPriority } from '../../../domain/jobs/job-priority.ts';

/** `due`: waits for a lease. `leased`: a worker has it. `scheduled`: comes due later. */
export type JobState = 'due' | 'leased' | 'scheduled';

/** How many jobs of a priority and a kind are in a state. */
export interface JobDepth {
  readonly priority: JobPriority;
  readonly kind: string;
  readonly state: JobState;
  readonly jobs: number;
}

/** Counts jobs for operators. Every count stops at a limit, so that it takes as long however many jobs there are. */
export interface JobSurveyStore {
  /** How many jobs of each priority are due at `now` and not leased; at most `limit` are counted in each of two places. */
  countDue(now: number, limit: number): Promise<ReadonlyMap<JobPriority, number>>;
  /**
   * The jobs by priority, kind and state at `now`. Of a priority at most `limit` available jobs are counted, and `limit`
   * others, the soonest first.
   */
  depth(now: number, limit: number): Promise<readonly JobDepth[]>;
}
