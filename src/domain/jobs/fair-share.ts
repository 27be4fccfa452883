import { JOB_PRIORITIES, type JobPriority } from './job-priority.ts';

/** The due jobs of one project at one priority. */
export interface Backlog {
  readonly priority: JobPriority;
  readonly projectId: string;
}

/** How many jobs of a backlog are to be leased. */
export interface Share {
  readonly backlog: Backlog;
  readonly jobs: number;
}

/** A lease is divided in rounds, because nobody knows beforehand how many jobs a backlog has. */
export interface LeaseRound {
  /** None when the lease is full or nothing more is due. */
  readonly shares: readonly Share[];
  readonly capacity: number;
  /** Those that may have jobs left; of each priority in round-robin order. */
  readonly backlogs: readonly Backlog[];
}

/** One job in so many is kept for each lower priority with due jobs, so that none of them stands still. */
export const LOWER_PRIORITY_EVERY = 10;

/**
 * Divides a lease of `capacity` jobs. The most urgent priority gets all but the parts of the lower ones. Within a
 * priority every project gets the same number of jobs; the first ones get one more when they cannot all get the same.
 * The backlogs of a priority come in round-robin order, from the one that is served next.
 */
export function firstRound(capacity: number, backlogs: readonly Backlog[]): LeaseRound {
  return { shares: sharesOf(capacity, backlogs), capacity, backlogs };
}

/**
 * Divides what the last round left over; `leased` says how many jobs each of its shares had. A backlog with fewer jobs
 * than its share is empty. Those that were not served yet come first.
 */
export function nextRound(round: LeaseRound, leased: readonly number[]): LeaseRound {
  const served = new Set(round.shares.map(({ backlog }) => backlog));
  const full = round.shares.filter(({ jobs }, index) => leased[index] === jobs);
  const waiting = round.backlogs.filter((backlog) => !served.has(backlog));
  const capacity = leased.reduce((left, jobs) => left - jobs, round.capacity);
  return firstRound(capacity, [...waiting, ...full.map(({ backlog }) => backlog)]);
}

function sharesOf(capacity: number, backlogs: readonly Backlog[]): readonly Share[] {
  const groups = JOB_PRIORITIES.map((priority) =>
    backlogs.filter((backlog) => backlog.priority === priority),
  ).filter((group) => group.length > 0);
  const parts = partsOf(capacity, groups.length);
  return groups.flatMap((group, index) => divideEvenly(parts[index] ?? 0, group));
}

/** The part of each priority, the most urgent first. It gets at least one job of a lease that is not empty. */
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
function divideEvenly(jobs: number, backlogs: readonly Backlog[]): readonly Share[] {
  const each = Math.floor(jobs / backlogs.length);
  const rest = jobs % backlogs.length;
  const later = backlogs.slice(rest).map((backlog) => ({ backlog, jobs: each }));
  const first = backlogs.slice(0, rest).map((backlog) => ({ backlog, jobs: each + 1 }));
  return [...later, ...first].filter((share) => share.jobs > 0);
}
