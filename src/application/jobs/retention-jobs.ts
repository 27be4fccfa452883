import { millisecondsInDay, millisecondsInHour } from 'date-fns/constants';
import { INSTALLATION, type Job } from '../../domain/jobs/job.ts';
import type { FieldsOf } from './work-codec.ts';

/** Anonymise or remove what projects do not keep any longer. */
export interface RunRetentionWork {
  readonly kind: 'run-retention';
}

export const RUN_RETENTION_FIELDS: FieldsOf<RunRetentionWork> = {};

/** The time from one run to the next when a project has retention, in milliseconds. */
export const RETENTION_INTERVAL_MS = millisecondsInHour;
/** The same when no project has retention: only webhook events and receipts that nobody waits for leave then. */
export const WEBHOOK_LOG_INTERVAL_MS = millisecondsInDay;

/** The id of `runRetentionJob`: the installation has one, however many workers add it. */
export const RUN_RETENTION_JOB_ID = 'retention/run';

/** The job that treats the old messages of every project. Nobody waits for it. */
export function runRetentionJob(dueAt: number): Job<RunRetentionWork> {
  return {
    id: RUN_RETENTION_JOB_ID,
    projectId: INSTALLATION,
    priority: 'housekeeping',
    dueAt,
    work: { kind: 'run-retention' },
  };
}
