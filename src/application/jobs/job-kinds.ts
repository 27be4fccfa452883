import type { RunAttemptJobs } from '../attempts/run-attempt-jobs.ts';
import type { CampaignStarts, CampaignStops } from '../campaigns/background-campaign-jobs.ts';
import type { StartCampaigns } from '../campaigns/start-campaigns.ts';
import type { StopCampaigns } from '../campaigns/stop-campaigns.ts';
import type { MakeReports } from '../reports/make-reports.ts';
import type { RemoveReports } from '../reports/remove-reports.ts';
import type { RunRetention } from '../retention/run-retention.ts';
import type { DeliverWebhooks } from '../webhooks/deliver-webhooks.ts';
import type { RunWhatsappSync } from '../whatsapp/run-whatsapp-sync.ts';
import {
  attemptDeadlineJobId,
  DEADLINE_FIELDS,
  type MessageWork,
  START_FIELDS,
  startAttemptJobId,
} from './attempt-jobs.ts';
import {
  CAMPAIGN_FIELDS,
  type CampaignWork,
  startCampaignJobId,
  stopCampaignJobId,
} from './campaign-jobs.ts';
import type { LeasedJob, Work } from './job.ts';
import { makeReportJobId, REPORT_FIELDS, type ReportWork, removeReportJobId } from './report-jobs.ts';
import { RUN_RETENTION_FIELDS, RUN_RETENTION_JOB_ID, type RunRetentionWork } from './retention-jobs.ts';
import { deliverWebhooksJobId, WEBHOOK_FIELDS, type WebhookWork } from './webhook-jobs.ts';
import { SYNC_WHATSAPP_FIELDS, SYNC_WHATSAPP_JOB_ID, type SyncWhatsappWork } from './whatsapp-jobs.ts';
import { type FieldsOf, readWork } from './work-codec.ts';

/** The use cases that do jobs. */
export interface JobUseCases {
  readonly runAttemptJobs: RunAttemptJobs;
  readonly deliverWebhooks: DeliverWebhooks;
  readonly campaignStarts: CampaignStarts;
  readonly campaignStops: CampaignStops;
  readonly startCampaigns: StartCampaigns;
  readonly stopCampaigns: StopCampaigns;
  readonly makeReports: MakeReports;
  readonly removeReports: RemoveReports;
  readonly runRetention: RunRetention;
  readonly runWhatsappSync: RunWhatsappSync;
}

/**
 * What it means when an operator drops a job. `fails-message`: its attempt does not start, so the message fails and its hold is
 * released. `fails-campaign`: a campaign that waits for its start fails. `deletes-report`: a report that is not made is deleted,
 * and so is what there is of its file. `harmless`: nothing stays open that nobody else ends. `never`: a hold, a file or an open
 * event would stay for ever.
 */
export type DropRule = 'fails-message' | 'fails-campaign' | 'deletes-report' | 'harmless' | 'never';

interface JobKind<Kind extends Work> {
  /** What the stores and the queues check before they hand a job over. */
  readonly fields: FieldsOf<Kind>;
  readonly drop: DropRule;
  /** The id of the job that has this work. */
  idOf(work: Kind): string;
  /** Does jobs of this kind only. Rejects when one failed; each may be run again then, without effect if it was done. */
  run(useCases: JobUseCases, jobs: readonly LeasedJob<Kind>[]): Promise<void>;
}

type KindsOf<All extends Work> = { readonly [Kind in All as Kind['kind']]: JobKind<Kind> };

/** Every kind of job. A new one is a file beside this one, its type here, and an entry of this table. */
const JOB_KINDS: KindsOf<
  MessageWork | WebhookWork | CampaignWork | ReportWork | RunRetentionWork | SyncWhatsappWork
> = {
  'start-attempt': {
    fields: START_FIELDS,
    drop: 'fails-message',
    idOf: ({ smsId, attemptNumber }) => startAttemptJobId(smsId, attemptNumber),
    run: ({ runAttemptJobs }, jobs) => runAttemptJobs.execute(jobs),
  },
  'attempt-deadline': {
    fields: DEADLINE_FIELDS,
    drop: 'never',
    idOf: ({ smsId, attemptNumber }) => attemptDeadlineJobId(smsId, attemptNumber),
    run: ({ runAttemptJobs }, jobs) => runAttemptJobs.execute(jobs),
  },
  'deliver-webhooks': {
    fields: WEBHOOK_FIELDS,
    drop: 'never',
    idOf: deliverWebhooksJobId,
    run: ({ deliverWebhooks }, jobs) => deliverWebhooks.execute(jobs),
  },
  'start-campaign': {
    fields: CAMPAIGN_FIELDS,
    drop: 'fails-campaign',
    idOf: ({ campaignId }) => startCampaignJobId(campaignId),
    run: ({ campaignStarts, startCampaigns }, jobs) =>
      campaignStarts.begin(jobs, (job) => startCampaigns.due(job)),
  },
  'stop-campaign': {
    fields: CAMPAIGN_FIELDS,
    drop: 'never',
    idOf: ({ campaignId }) => stopCampaignJobId(campaignId),
    run: ({ campaignStops, stopCampaigns }, jobs) =>
      campaignStops.begin(jobs, (job) => stopCampaigns.execute(job)),
  },
  'make-report': {
    fields: REPORT_FIELDS,
    drop: 'deletes-report',
    idOf: ({ reportId }) => makeReportJobId(reportId),
    run: ({ makeReports }, jobs) => makeReports.execute(jobs),
  },
  'remove-report': {
    fields: REPORT_FIELDS,
    drop: 'never',
    idOf: ({ reportId }) => removeReportJobId(reportId),
    run: ({ removeReports }, jobs) => removeReports.execute(jobs),
  },
  'run-retention': {
    fields: RUN_RETENTION_FIELDS,
    drop: 'never',
    idOf: () => RUN_RETENTION_JOB_ID,
    run: ({ runRetention }, jobs) => runRetention.execute(jobs),
  },
  'sync-whatsapp': {
    fields: SYNC_WHATSAPP_FIELDS,
    drop: 'harmless',
    idOf: () => SYNC_WHATSAPP_JOB_ID,
    run: ({ runWhatsappSync }, jobs) => runWhatsappSync.execute(jobs),
  },
};

const KINDS = new Map<string, JobKind<Work>>(Object.entries(JOB_KINDS));

/** What dropping a job of this kind means; nobody here knows what a job of an unknown kind ends. */
export function dropRuleOf(kind: string): DropRule {
  return KINDS.get(kind)?.drop ?? 'never';
}

/** Whether this version knows a kind of job of this name. */
export function isJobKind(kind: string): boolean {
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

/** Does jobs that all are of `kind`. Rejects when one failed, and for an unknown kind. */
export async function runJobsOf(
  kind: string,
  useCases: JobUseCases,
  jobs: readonly LeasedJob[],
): Promise<void> {
  const jobKind = KINDS.get(kind);
  if (jobKind === undefined) throw new Error(`There is no kind of job named ${kind}`);
  await jobKind.run(useCases, jobs);
}
