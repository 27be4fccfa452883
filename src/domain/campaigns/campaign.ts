import { millisecondsInHour } from 'date-fns/constants';
import { ZERO } from '../shared/money.ts';
import { cutText } from '../shared/storable-text.ts';
import type { CampaignSums } from './campaign-sums.ts';

/** Specification 3.1. */
export const CAMPAIGN_STATUSES = ['draft', 'scheduled', 'running', 'completed', 'failed'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

export const SCHEDULE_TYPES = ['now', 'schedule'] as const;
export type ScheduleType = (typeof SCHEDULE_TYPES)[number];

/** What a campaign may send: codes are sent one by one. */
export const CAMPAIGN_CATEGORIES = ['MARKETING', 'UTILITY'] as const;
export type CampaignCategory = (typeof CAMPAIGN_CATEGORIES)[number];

export const BILLING_STATUSES = ['pending', 'reserved', 'reconciled', 'released'] as const;
export type BillingStatus = (typeof BILLING_STATUSES)[number];

export const CAMPAIGN_NAME_CHARACTERS_MIN = 3;
export const CAMPAIGN_NAME_CHARACTERS_MAX = 80;

/** The most campaigns of one project that have not started: each takes its part of the database and costs nothing. */
export const UNSTARTED_CAMPAIGNS_MAX = 10_000;

/** The most recipients of all these campaigns together: a full campaign has 4 kB of parameters for each. */
export const UNSTARTED_RECIPIENTS_MAX = 200_000;

/** A scheduled campaign that could not start counts as one that has not started, for this long since its time. */
const FAILED_START_COUNTED_MS = millisecondsInHour;

/** Starts that failed after this instant count. */
export function failedStartsCountedAfter(now: number): number {
  return now - FAILED_START_COUNTED_MS;
}

/** Sample campaigns are told from their parents by this. */
const SAMPLE_SUFFIX = ' (sample)';

/** Specification 2.2: one template for many recipients. Instants are milliseconds since 1970. */
export interface Campaign extends CampaignSums {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly category: CampaignCategory;
  /** Our ids of the template and of the number it is sent from. */
  readonly templateId: string;
  readonly whatsappPhoneId: string;
  readonly status: CampaignStatus;
  /** When it starts by itself; null for one that is started by hand. */
  readonly scheduledFor: number | null;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
  /** Why the campaign failed; null while it has not. */
  readonly failureReason: string | null;
  /** The parent of a sample campaign; null for any other. */
  readonly sampleOf: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a customer chooses about a campaign. */
export interface CampaignPlan {
  readonly name: string;
  readonly templateId: string;
  readonly whatsappPhoneId: string;
  readonly category: CampaignCategory;
  readonly scheduledFor: number | null;
}

/** A campaign without recipients: `scheduled` when it has a time, else `draft`. */
export function newCampaign(id: string, projectId: string, plan: CampaignPlan, now: number): Campaign {
  return {
    id,
    projectId,
    ...plan,
    status: statusBeforeStart(plan),
    startedAt: null,
    completedAt: null,
    totalRecipients: 0,
    sentCount: 0,
    deliveredCount: 0,
    failedCount: 0,
    estimatedCost: ZERO,
    reserved: ZERO,
    captured: ZERO,
    released: ZERO,
    failureReason: null,
    sampleOf: null,
    createdAt: now,
    updatedAt: now,
  };
}

/** The campaign by another plan; a time makes a draft scheduled, and none makes a scheduled one a draft. */
export function replanned(campaign: Campaign, plan: CampaignPlan, now: number): Campaign {
  return { ...campaign, ...plan, status: statusBeforeStart(plan), updatedAt: now };
}

/** The name of a sample of a campaign: that of the parent, shortened so that the whole is not too long. */
export function sampleNameOf({ name }: Pick<Campaign, 'name'>): string {
  return cutText(name, CAMPAIGN_NAME_CHARACTERS_MAX - SAMPLE_SUFFIX.length) + SAMPLE_SUFFIX;
}

/** Only a campaign that has not started can be changed. */
export interface CampaignNotEditable {
  readonly kind: 'campaign-not-editable';
}

/** Whether the campaign has not started: only then may it be edited, sampled or deleted. */
export function isEditable({ status }: Pick<Campaign, 'status'>): boolean {
  return status === 'draft' || status === 'scheduled';
}

/** A scheduled campaign that cannot run at its time: it never started, and keeps the reason. */
export function failedAtStart(campaign: Campaign, reason: string, now: number): Campaign {
  return { ...campaign, status: 'failed', failureReason: reason, completedAt: now, updatedAt: now };
}

/** Whether the campaign waits for a start that was due by `instant`: one that was planned anew since has a later start. */
export function waitsForStartOf({ status, scheduledFor }: Campaign, instant: number): boolean {
  return status === 'scheduled' && scheduledFor !== null && scheduledFor <= instant;
}

export function scheduleTypeOf({ scheduledFor }: Pick<Campaign, 'scheduledFor'>): ScheduleType {
  return scheduledFor === null ? 'now' : 'schedule';
}

/** `pending` until money is reserved, `reserved` until all of it is resolved, then whether any was taken. */
export function billingStatusOf({
  status,
  startedAt,
  reserved,
  captured,
  released,
  totalRecipients,
  sentCount,
  failedCount,
}: Campaign): BillingStatus {
  if (startedAt === null) return status === 'failed' ? 'released' : 'pending';
  const isOpen = captured + released < reserved || sentCount + failedCount < totalRecipients;
  if (isOpen) return 'reserved';
  return captured > 0 ? 'reconciled' : 'released';
}

function statusBeforeStart({ scheduledFor }: Pick<CampaignPlan, 'scheduledFor'>): CampaignStatus {
  return scheduledFor === null ? 'draft' : 'scheduled';
}
