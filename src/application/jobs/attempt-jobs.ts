import type { Job } from '../../domain/jobs/job.ts';
import { messagePriority } from '../../domain/jobs/job-priority.ts';
import type { Message } from '../../domain/messages/message.ts';
import type { FieldsOf } from './work-codec.ts';

/** Try the channel at a position of a message's chain, or end that channel's time. */
export type AttemptWork = StartAttemptWork | AttemptDeadlineWork;

export interface StartAttemptWork {
  readonly kind: 'start-attempt';
  readonly smsId: string;
  readonly attemptNumber: number;
  /** Present when the attempt has waited for its provider, until the job was due. */
  readonly hasWaited?: true;
}

export interface AttemptDeadlineWork {
  readonly kind: 'attempt-deadline';
  readonly smsId: string;
  readonly attemptNumber: number;
}

/** What the jobs of a message take from it. */
type MessageOfJob = Pick<Message, 'smsId' | 'projectId' | 'campaignId' | 'content'>;

export const DEADLINE_FIELDS: FieldsOf<AttemptDeadlineWork> = { smsId: 'id', attemptNumber: 'whole number' };
export const START_FIELDS: FieldsOf<StartAttemptWork> = { ...DEADLINE_FIELDS, hasWaited: 'mark' };

/**
 * The job that tries the channel at `attemptNumber`; there is one per message and attempt, whatever its due time. With
 * `hasWaited` it has waited for its provider, by then, for as long as it may while there is something else to try.
 */
export function startAttemptJob(
  message: MessageOfJob,
  attemptNumber: number,
  dueAt: number,
  { hasWaited = false }: { readonly hasWaited?: boolean } = {},
): Job<StartAttemptWork> {
  const { smsId, projectId } = message;
  const work = { kind: 'start-attempt', smsId, attemptNumber } as const;
  return {
    id: startAttemptJobId(smsId, attemptNumber),
    projectId,
    priority: messagePriority(message),
    dueAt,
    work: hasWaited ? { ...work, hasWaited } : work,
  };
}

/** The job that ends the time of the channel at `attemptNumber`, due at that instant; one per message and attempt. */
export function attemptDeadlineJob(
  message: MessageOfJob,
  attemptNumber: number,
  dueAt: number,
): Job<AttemptWork> {
  const { smsId, projectId } = message;
  return {
    id: attemptDeadlineJobId(smsId, attemptNumber),
    projectId,
    priority: messagePriority(message),
    dueAt,
    work: { kind: 'attempt-deadline', smsId, attemptNumber },
  };
}

/** The id of `startAttemptJob`. */
export function startAttemptJobId(smsId: string, attemptNumber: number): string {
  return `${smsId}/start/${attemptNumber}`;
}

/** The id of `attemptDeadlineJob`. */
export function attemptDeadlineJobId(smsId: string, attemptNumber: number): string {
  return `${smsId}/deadline/${attemptNumber}`;
}
