import { JOB_PRIORITIES, type JobPriority } from '../../../domain/jobs/job-priority.ts';
import { invariant } from '../../../domain/shared/invariant.ts';

/** How rows store a priority. The gaps are for priorities to come: a number never changes its meaning. */
export const RANKS: Readonly<Record<JobPriority, number>> = {
  code: 10,
  text: 20,
  campaign: 30,
  webhook: 40,
  housekeeping: 50,
};

const PRIORITIES = new Map(JOB_PRIORITIES.map((priority) => [RANKS[priority], priority]));

/** The priority that a row stores. */
export function priorityOf(rank: number): JobPriority {
  const priority = PRIORITIES.get(rank);
  invariant(priority !== undefined, 'a job has one of the priorities');
  return priority;
}
