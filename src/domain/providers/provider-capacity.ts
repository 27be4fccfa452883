/** How many submissions a provider takes now, and how many wait there, for one backlog. */
export interface ProviderCapacity {
  /** How many more the provider hands over at once; 0 while others have to wait. */
  readonly free: number;
  /**
   * How many more of the project it hands over at once although others wait there: a submission may pass those that wait, when
   * their projects have their share in flight and its own has not.
   */
  readonly passing: number;
  /** How many of the backlog wait at the provider. */
  readonly waiting: number;
  /** How many wait there of its priority and of more urgent ones, of whatever project. */
  readonly ahead: number;
  /** How many more of the project it gets at once at its rate. Absent unless the provider throttles the project. */
  readonly ofRate?: number;
  /** Whether it rejects each submission of the project at once. */
  readonly isClosed?: true;
}

/** The capacity of a provider at which no submission waits. */
export const UNLIMITED_CAPACITY: ProviderCapacity = {
  free: Number.POSITIVE_INFINITY,
  passing: 0,
  waiting: 0,
  ahead: 0,
};

/** The capacity of a provider that rejects each submission at once: none waits there. */
export const CLOSED_CAPACITY: ProviderCapacity = { ...UNLIMITED_CAPACITY, isClosed: true };

/** Whether the project has a rate, because the provider throttles it; false without a provider. */
export function isAtRate(capacity: ProviderCapacity | undefined): boolean {
  return capacity?.ofRate !== undefined;
}

/** How many more of the project the provider hands over at once, when none of others wait. */
export function freeForProject({ free, ofRate = free }: ProviderCapacity): number {
  return Math.min(free, ofRate);
}

/**
 * Stands for any project where a provider is asked for a whole priority: its places, and what waits there, are the same for all.
 * It submits nothing, so that no project has more that pass.
 */
export const NO_PROJECT = '';
