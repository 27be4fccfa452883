import { JOB_PRIORITIES, type JobPriority } from './job-priority.ts';

/** What waits of one project at one priority: jobs for a lease, messages for a provider. */
export interface Backlog {
  readonly priority: JobPriority;
  readonly projectId: string;
}

/** Tells a backlog from every other one. */
export function backlogKey({ priority, projectId }: Backlog): string {
  return `${priority} ${projectId}`;
}

/** With the weight of the project: a whole number from 1. */
export interface WeightedBacklog extends Backlog {
  readonly weight: number;
}

/** How many jobs of a backlog are to be leased. */
export interface Share {
  readonly backlog: WeightedBacklog;
  readonly jobs: number;
}

/** A lease is divided in rounds, because nobody knows beforehand how many jobs a backlog has. */
export interface LeaseRound {
  /** None when the lease is full or nothing more is due. */
  readonly shares: readonly Share[];
  readonly capacity: number;
  /** The backlogs that may have jobs left; those of one priority are in round-robin order. */
  readonly backlogs: readonly WeightedBacklog[];
}

/** Of this many jobs, one is kept for each lower priority with due jobs, so that no priority stands still. */
export const LOWER_PRIORITY_EVERY = 10;

/**
 * Divides a lease of `capacity` jobs. The most urgent priority gets all but the parts of the lower ones. Within a
 * priority every project gets jobs by its weight, rounded down; the first ones get one more until nothing is left.
 * The backlogs of a priority come in round-robin order, from the one that is served next.
 */
export function firstLeaseRound(capacity: number, backlogs: readonly WeightedBacklog[]): LeaseRound {
  return { shares: sharesOf(capacity, backlogs), capacity, backlogs };
}

/**
 * Divides what the last round left over; `leased` says how many jobs each of its shares had. A backlog with fewer jobs than its
 * share is empty. Backlogs that were not served yet come first.
 */
export function nextLeaseRound(round: LeaseRound, leased: readonly number[]): LeaseRound {
  const served = new Set(round.shares.map(({ backlog }) => backlog));
  const full = round.shares.filter(({ jobs }, index) => leased[index] === jobs);
  const waiting = round.backlogs.filter((backlog) => !served.has(backlog));
  const capacity = leased.reduce((left, jobs) => left - jobs, round.capacity);
  return firstLeaseRound(capacity, [...waiting, ...full.map(({ backlog }) => backlog)]);
}

function sharesOf(capacity: number, backlogs: readonly WeightedBacklog[]): readonly Share[] {
  const groups = JOB_PRIORITIES.map((priority) =>
    backlogs.filter((backlog) => backlog.priority === priority),
  ).filter((group) => group.length > 0);
  const parts = partsOf(capacity, groups.length);
  return groups.flatMap((group, index) => divideByWeight(parts[index] ?? 0, group));
}

/** The part of each priority, the most urgent first. That one gets at least one job of a lease that is not empty. */
function partsOf(capacity: number, priorities: number): readonly number[] {
  const kept = Math.ceil(capacity / LOWER_PRIORITY_EVERY);
  let left = capacity;
  const lower = Array.from({ length: Math.max(0, priorities - 1) }, () => {
    const part = Math.max(0, Math.min(kept, left - 1));
    left -= part;
    return part;
  });
  return [left, ...lower];
}

/** The last share is that of the backlog that is served last. */
function divideByWeight(jobs: number, backlogs: readonly WeightedBacklog[]): readonly Share[] {
  const weights = backlogs.reduce((sum, { weight }) => sum + weight, 0);
  const shares = backlogs.map((backlog) => ({
    backlog,
    jobs: Math.floor((jobs * backlog.weight) / weights),
  }));
  // The rest is smaller than the number of backlogs: each lost less than one job by the rounding.
  const rest = shares.reduce((left, share) => left - share.jobs, jobs);
  const first = shares.slice(0, rest).map((share) => ({ ...share, jobs: share.jobs + 1 }));
  return [...shares.slice(rest), ...first].filter((share) => share.jobs > 0);
}
