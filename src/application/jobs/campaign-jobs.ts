import type { Campaign } from '../../domain/campaigns/campaign.ts';
import type { Job } from '../../domain/jobs/job.ts';
import type { FieldsOf } from './work-codec.ts';

/** Start a scheduled campaign at its time. */
export interface StartCampaignWork {
  readonly kind: 'start-campaign';
  readonly projectId: string;
  readonly campaignId: string;
}

/** Withdraw what is left of a campaign that cannot go on. */
export interface StopCampaignWork {
  readonly kind: 'stop-campaign';
  readonly projectId: string;
  readonly campaignId: string;
}

export type CampaignWork = StartCampaignWork | StopCampaignWork;

export const CAMPAIGN_FIELDS: FieldsOf<CampaignWork> = { projectId: 'id', campaignId: 'id' };

/** The job that starts a campaign at `dueAt`; each campaign has one at most. */
export function startCampaignJob(
  { id, projectId }: Pick<Campaign, 'id' | 'projectId'>,
  dueAt: number,
): Job<StartCampaignWork> {
  return {
    id: startCampaignJobId(id),
    projectId,
    priority: 'campaign',
    dueAt,
    work: { kind: 'start-campaign', projectId, campaignId: id },
  };
}

/** The id of `startCampaignJob`. */
export function startCampaignJobId(campaignId: string): string {
  return `campaigns/${campaignId}/start`;
}

/** The job that withdraws the recipients of a campaign that are queued. It comes before the messages of campaigns. */
export function stopCampaignJob(
  { id, projectId }: Pick<Campaign, 'id' | 'projectId'>,
  dueAt: number,
): Job<StopCampaignWork> {
  return {
    id: stopCampaignJobId(id),
    projectId,
    priority: 'text',
    dueAt,
    work: { kind: 'stop-campaign', projectId, campaignId: id },
  };
}

/** The id of `stopCampaignJob`. */
export function stopCampaignJobId(campaignId: string): string {
  return `campaigns/${campaignId}/stop`;
}
