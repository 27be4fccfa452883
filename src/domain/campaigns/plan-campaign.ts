import type { WhatsappBusiness } from '../whatsapp/whatsapp-resources.ts';
import {
  type Campaign,
  type CampaignNotEditable,
  type CampaignPlan,
  isEditable,
  type ScheduleType,
} from './campaign.ts';
import { type CampaignSenderRejection, findSender } from './campaign-sender.ts';

/** What a request says about a campaign; an update may leave out anything. */
export interface PlanRequest {
  readonly name: string | null;
  readonly templateId: string | null;
  readonly whatsappPhoneId: string | null;
  readonly scheduleType: ScheduleType | null;
  readonly scheduledFor: number | null;
}

export type CampaignScheduleRejection =
  /** `schedule` without a time. */
  | { readonly kind: 'scheduled-for-missing' }
  /** A time for a campaign that is started by hand. */
  | { readonly kind: 'scheduled-for-unexpected' }
  | { readonly kind: 'scheduled-for-past' };

export interface Planned {
  readonly kind: 'planned';
  readonly plan: CampaignPlan;
}

export type PlanRejection = CampaignScheduleRejection | CampaignSenderRejection | CampaignNotEditable;

/**
 * Specification 4.10 and 4.11: the plan of a new campaign, or what an update makes of the plan of `current`. The category
 * is always the template's.
 */
export function planCampaign(
  current: Campaign | null,
  request: PlanRequest,
  businesses: readonly WhatsappBusiness[],
  now: number,
): Planned | PlanRejection {
  if (current !== null && !isEditable(current)) return { kind: 'campaign-not-editable' };
  const ids = {
    templateId: request.templateId ?? current?.templateId ?? '',
    whatsappPhoneId: request.whatsappPhoneId ?? current?.whatsappPhoneId ?? '',
  };
  const schedule = planSchedule(current, request, now);
  if (schedule.kind !== 'schedule') return schedule;
  const sender = findSender(businesses, ids);
  if (sender.kind !== 'sender') return sender;
  const plan: CampaignPlan = {
    name: request.name ?? current?.name ?? '',
    ...ids,
    category: sender.category,
    scheduledFor: schedule.scheduledFor,
  };
  return { kind: 'planned', plan };
}

function planSchedule(
  current: Pick<Campaign, 'scheduledFor'> | null,
  { scheduleType, scheduledFor }: PlanRequest,
  now: number,
): { readonly kind: 'schedule'; readonly scheduledFor: number | null } | CampaignScheduleRejection {
  const planned = current?.scheduledFor ?? null;
  const type = scheduleType ?? (planned === null ? 'now' : 'schedule');
  if (type === 'now') {
    return scheduledFor === null
      ? { kind: 'schedule', scheduledFor: null }
      : { kind: 'scheduled-for-unexpected' };
  }
  if (scheduledFor === null) {
    return planned === null ? { kind: 'scheduled-for-missing' } : { kind: 'schedule', scheduledFor: planned };
  }
  return scheduledFor > now ? { kind: 'schedule', scheduledFor } : { kind: 'scheduled-for-past' };
}
