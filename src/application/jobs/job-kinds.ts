import type { AttemptRef } from '../../domain/chain/attempt-name.ts';
import type { LeasedJob, Work } from '../../domain/jobs/job.ts';
import {
  type AttemptWork,
  attemptDeadlineJobId,
  DEADLINE_FIELDS,
  START_FIELDS,
  startAttemptJobId,
} from './attempt-jobs.ts';
import {
  CAMPAIGN_FIELDS,
  type CampaignWork,
  startCampaignJobId,
  stopCampaignJobId,
} from './campaign-jobs.ts';
import { makeReportJobId, REPORT_FIELDS, type ReportWork, removeReportJobId } from './report-jobs.ts';
import { RUN_RETENTION_FIELDS, RUN_RETENTION_JOB_ID, type RunRetentionWork } from './retention-jobs.ts';
import { deliverWebhooksJobId, WEBHOOK_FIELDS, type WebhookWork } from './webhook-jobs.ts';
import { SYNC_WHATSAPP_FIELDS, SYNC_WHATSAPP_JOB_ID, type SyncWhatsappWork } from './whatsapp-jobs.ts';
import { type FieldsOf, readWork } from './work-codec.ts';

/**
 * What ends with a job that an operator drops. `attempt`: it does not start, so its message fails and its hold is released.
 * `campaign-start`: a campaign that waits for it fails. `report`: one that is not made is deleted, and so is what there is of its
 * file. `nothing`: nothing stays open that nobody else ends.
 */
export type Dropped =
  | ({ readonly kind: 'attempt' } & AttemptRef)
  | { readonly kind: 'campaign-start'; readonly campaignId: string }
  | { readonly kind: 'report'; readonly reportId: string }
  | { readonly kind: 'nothing' };

interface JobKind<Kind extends Work> {
  /** What the stores and the queues check before they hand a job over. */
  readonly fields: FieldsOf<Kind>;
  /** The id of the job that has this work. */
  idOf(work: Kind): string;
  /** What ends when an operator drops it; null when a hold, a file or an open event would stay for ever. */
  dropped(work: Kind): Dropped | null;
}

type KnownWork = AttemptWork | WebhookWork | CampaignWork | ReportWork | RunRetentionWork | SyncWhatsappWork;

/** What does the jobs of a kind, and no others. */
interface JobRunner<Kind extends Work> {
  /** Rejects when a job failed; each may be run again then, without effect if it was done. */
  execute(jobs: readonly LeasedJob<Kind>[]): Promise<void>;
}

/** What does the jobs of each kind. */
export type JobRunners = { readonly [Kind in KnownWork as Kind['kind']]: JobRunner<Kind> };

/** Every kind of job. A new one is a file beside this one, its type here, and an entry of this table. */
const JOB_KINDS: { readonly [Kind in KnownWork as Kind['kind']]: JobKind<Kind> } = {
  'start-attempt': {
    fields: START_FIELDS,
    dropped: ({ smsId, attemptNumber }) => ({ kind: 'attempt', smsId, attemptNumber }),
    idOf: ({ smsId, attemptNumber }) => startAttemptJobId(smsId, attemptNumber),
  },
  'attempt-deadline': {
    fields: DEADLINE_FIELDS,
    dropped: () => null,
    idOf: ({ smsId, attemptNumber }) => attemptDeadlineJobId(smsId, attemptNumber),
  },
  'deliver-webhooks': {
    fields: WEBHOOK_FIELDS,
    dropped: () => null,
    idOf: deliverWebhooksJobId,
  },
  'start-campaign': {
    fields: CAMPAIGN_FIELDS,
    dropped: ({ campaignId }) => ({ kind: 'campaign-start', campaignId }),
    idOf: ({ campaignId }) => startCampaignJobId(campaignId),
  },
  'stop-campaign': {
    fields: CAMPAIGN_FIELDS,
    dropped: () => null,
    idOf: ({ campaignId }) => stopCampaignJobId(campaignId),
  },
  'make-report': {
    fields: REPORT_FIELDS,
    dropped: ({ reportId }) => ({ kind: 'report', reportId }),
    idOf: ({ reportId }) => makeReportJobId(reportId),
  },
  'remove-report': {
    fields: REPORT_FIELDS,
    dropped: () => null,
    idOf: ({ reportId }) => removeReportJobId(reportId),
  },
  'run-retention': {
    fields: RUN_RETENTION_FIELDS,
    dropped: () => null,
    idOf: () => RUN_RETENTION_JOB_ID,
  },
  'sync-whatsapp': {
    fields: SYNC_WHATSAPP_FIELDS,
    dropped: () => ({ kind: 'nothing' }),
    idOf: () => SYNC_WHATSAPP_JOB_ID,
  },
};

const KINDS = new Map<string, JobKind<Work>>(Object.entries(JOB_KINDS));

/** What ends when the job of this work is dropped; null when it must not be. What an unknown kind ends nobody here knows. */
export function droppedWith(work: Work): Dropped | null {
  return KINDS.get(work.kind)?.dropped(work) ?? null;
}

/** Whether this version knows a kind of job of this name. */
export function isJobKind(kind: string): kind is KnownWork['kind'] {
  return KINDS.has(kind);
}

/** The work in a parsed JSON value, or null when its kind is unknown or a field is missing. */
export function parseWork(value: unknown): Work | null {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return null;
  const { kind } = value;
  if (typeof kind !== 'string') return null;
  const fields = KINDS.get(kind)?.fields;
  return fields === undefined ? null : readWork(kind, fields, value);
}

/** Whether a job with this id can have this work, which `parseWork` has returned. */
export function isIdOf(id: string, work: Work): boolean {
  return KINDS.get(work.kind)?.idOf(work) === id;
}
