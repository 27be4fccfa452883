/** What is to be done for a message: try the channel at a position of its chain, or end that channel's time. */
export type MessageWork =
  | { readonly kind: 'start-attempt'; readonly smsId: string; readonly attemptNumber: number }
  | { readonly kind: 'attempt-deadline'; readonly smsId: string; readonly attemptNumber: number };

/** The events of one project to one endpoint. */
export interface WebhookDestination {
  readonly projectId: string;
  readonly endpoint: string;
}

/** Post what is due in a lane. */
export interface WebhookWork extends WebhookDestination {
  readonly kind: 'deliver-webhooks';
}

/** What is to be done. Jobs carry ids, never object graphs; a new kind breaks the build until it is handled. */
export type Work = MessageWork | WebhookWork;

/** A row of work: done once, at `dueAt` or soon after (milliseconds since 1970). */
export interface Job {
  readonly id: string;
  readonly dueAt: number;
  readonly work: Work;
}

/**
 * A job somebody works on. `fencingToken` rises with every lease, and when the job is added again: only the holder of the
 * newest may complete it, so a late worker changes nothing.
 */
export interface LeasedJob<Kind extends Work = Work> {
  readonly id: string;
  readonly fencingToken: number;
  readonly work: Kind;
}

/** A leased job that was neither completed nor renewed becomes due again after this time. */
export const LEASE_MS = 15_000;

/**
 * How often leases are renewed whose work takes longer, such as posts to slow receivers. A process that dies is
 * followed soon for all that. What is learned under a lease that somebody else has by then is void.
 */
export const RENEW_EVERY_MS = 4_000;

/** A lease has to last this much longer for something to begin under it, so that it is renewed in time. */
export const LEASE_LEFT_MS = 6_000;

/** A job that failed this often, tried by itself, is set aside as dead. Leases that merely ran out do not count. */
export const FAILURES_MAX = 5;

/** A job that failed is due again after this time. */
export const FAILED_JOB_PAUSE_MS = 30_000;

/** The job that tries the channel at `attemptNumber`; there is one per message and attempt, whatever its due time. */
export function startAttemptJob(smsId: string, attemptNumber: number, dueAt: number): Job {
  return {
    id: startAttemptJobId(smsId, attemptNumber),
    dueAt,
    work: { kind: 'start-attempt', smsId, attemptNumber },
  };
}

/** The job that ends the time of the channel at `attemptNumber`, due at that instant; one per message and attempt. */
export function attemptDeadlineJob(smsId: string, attemptNumber: number, dueAt: number): Job {
  return {
    id: attemptDeadlineJobId(smsId, attemptNumber),
    dueAt,
    work: { kind: 'attempt-deadline', smsId, attemptNumber },
  };
}

/** The id of `startAttemptJob`, for removing it. */
export function startAttemptJobId(smsId: string, attemptNumber: number): string {
  return `${smsId}/start/${attemptNumber}`;
}

/** The id of `attemptDeadlineJob`, for removing it. */
export function attemptDeadlineJobId(smsId: string, attemptNumber: number): string {
  return `${smsId}/deadline/${attemptNumber}`;
}

/** Names a lane among all of them. */
export function destinationKey({ projectId, endpoint }: WebhookDestination): string {
  return `${projectId}/${endpoint}`;
}

/** The job that posts what is due to an endpoint; there is one per project and endpoint, however many events wait. */
export function deliverWebhooksJob({ projectId, endpoint }: WebhookDestination, dueAt: number): Job {
  const work = { kind: 'deliver-webhooks', projectId, endpoint } as const;
  return { id: `webhooks/${destinationKey(work)}`, dueAt, work };
}
