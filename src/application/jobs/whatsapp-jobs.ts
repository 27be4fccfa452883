import { millisecondsInHour } from 'date-fns/constants';
import { INSTALLATION, type Job } from '../../domain/jobs/job.ts';
import type { FieldsOf } from './work-codec.ts';

/** Bring the stored whatsapp numbers and templates of all projects in line with the platform. */
export interface SyncWhatsappWork {
  readonly kind: 'sync-whatsapp';
}

export const SYNC_WHATSAPP_FIELDS: FieldsOf<SyncWhatsappWork> = {};

/** The time from one synchronisation to the next, in milliseconds. */
export const WHATSAPP_SYNC_INTERVAL_MS = millisecondsInHour;

/** The id of `syncWhatsappJob`: the installation has one, however many workers add it. */
export const SYNC_WHATSAPP_JOB_ID = 'whatsapp/sync';

/** The job that synchronises every account. No message waits for it. */
export function syncWhatsappJob(dueAt: number): Job<SyncWhatsappWork> {
  return {
    id: SYNC_WHATSAPP_JOB_ID,
    projectId: INSTALLATION,
    priority: 'housekeeping',
    dueAt,
    work: { kind: 'sync-whatsapp' },
  };
}
