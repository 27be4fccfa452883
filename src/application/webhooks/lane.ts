import type { LeasedJob } from '../jobs/job.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import type { DueEventsQuery } from '../ports/webhook-stores.ts';

/** How much more than is posted at once an endpoint gets that nothing is known of. */
const AHEAD = 50;

/** A fast endpoint gets as much more as it answers in such a period, so that it is looked for less often. */
const AHEAD_PERIOD_MS = 200;

/** What a project has on its way. */
export interface PostingProject {
  /** Of each lane no more than is posted at once. */
  postingAtOnce: number;
  unrecorded: number;
  lanes: number;
  /** Those that want to look for events; the one that looked last is the last. */
  readonly looking: Set<Lane>;
}

/** What is on its way to an endpoint, and how fast it answers. */
export interface PostedEndpoint {
  /** Begun and not over yet, by whatever project. */
  posting: number;
  lanes: number;
  /** How many may be begun beyond those that are posted at once. */
  ahead: number;
  /** How many were answered since the instant below. */
  answered: number;
  answeredSince: number;
}

/** The events of one project to one endpoint, while this process holds their job. */
export interface Lane {
  job: LeasedJob<WebhookWork>;
  /** The events that were begun and not recorded yet. */
  readonly underWay: Set<string>;
  /** Those that were recorded during a look, which may have found them unrecorded. */
  readonly recorded: string[];
  /** How many were begun and are not over yet. */
  posting: number;
  isLooking: boolean;
  /** Up to here everything was found. */
  seen: DueEventsQuery['after'];
  /** Whether the last look may have left something. */
  hasMore: boolean;
  /** Nothing more is begun: somebody else holds the job, or will. */
  isLost: boolean;
  readonly project: PostingProject;
  readonly endpoint: PostedEndpoint;
}

export function newEndpoint(): PostedEndpoint {
  return { posting: 0, lanes: 0, ahead: AHEAD, answered: 0, answeredSince: 0 };
}

export function newProject(): PostingProject {
  return { postingAtOnce: 0, unrecorded: 0, lanes: 0, looking: new Set() };
}

export function newLane(
  job: LeasedJob<WebhookWork>,
  project: PostingProject,
  endpoint: PostedEndpoint,
): Lane {
  return {
    job,
    underWay: new Set(),
    recorded: [],
    posting: 0,
    isLooking: false,
    seen: null,
    hasMore: false,
    isLost: false,
    project,
    endpoint,
  };
}

/**
 * Counts a post that is over at `now`: how much may be begun ahead follows from how fast answers come. It rises as soon
 * as a period has more of them, falls at the end of one that had fewer, and is forgotten when one does not come.
 */
export function notePost(endpoint: PostedEndpoint, now: number, isAnswered: boolean): void {
  if (!isAnswered) {
    endpoint.ahead = AHEAD;
    return;
  }
  endpoint.answered += 1;
  endpoint.ahead = Math.max(endpoint.ahead, endpoint.answered);
  const periodMs = now - endpoint.answeredSince;
  if (periodMs >= 0 && periodMs < AHEAD_PERIOD_MS) return;
  // After a pause, or when the clock was put back, the count says nothing about how fast the endpoint is.
  const isKnown = periodMs >= 0 && periodMs < 2 * AHEAD_PERIOD_MS;
  endpoint.ahead = isKnown ? Math.max(AHEAD, endpoint.answered) : AHEAD;
  endpoint.answered = 0;
  endpoint.answeredSince = now;
}
