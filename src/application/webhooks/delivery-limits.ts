/** How much of webhook delivery one process has in hand at a time. */
export interface DeliveryLimits {
  /** Attempts in flight to one endpoint (host, port and path), by all projects together. */
  readonly attemptsPerEndpoint: number;
  /** Attempts in flight to one host and port, by all projects together; they share it. */
  readonly attemptsPerHost: number;
  readonly attemptsPerProject: number;
  /** Attempts in flight of this process; the projects share them. */
  readonly attempts: number;
  /** Events of one destination that wait to be attempted, or are in flight. */
  readonly fetchedPerDestination: number;
  /** Events of one project that are fetched and not recorded yet. */
  readonly fetchedPerProject: number;
  readonly fetched: number;
  /** The fewest events that one fetch asks for: a destination with nothing in hand gets them beyond the limits above. */
  readonly fetchedMin: number;
  readonly destinationsPerProject: number;
  readonly destinations: number;
}

/**
 * 50 attempts are enough for a fast receiver, and a receiver that hangs holds no more. A project gets only its share of a host
 * and of the process, see `FairLimit`. More events are fetched than are attempted at once, so that no connection is idle during a
 * fetch. When the results of a project cannot be stored, its events in hand are attempted again after a crash: so they are
 * bounded, too.
 */
export const DELIVERY_LIMITS: DeliveryLimits = {
  attemptsPerEndpoint: 50,
  attemptsPerHost: 200,
  attemptsPerProject: 175,
  attempts: 3_000,
  fetchedPerDestination: 600,
  fetchedPerProject: 1_000,
  fetched: 10_000,
  fetchedMin: 10,
  destinationsPerProject: 1_000,
  destinations: 10_000,
};

/** The deadline of one attempt in milliseconds, from the first lookup to the last byte read (specification 6.1). */
export const DELIVERY_ATTEMPT_TIMEOUT_MS = 10_000;
