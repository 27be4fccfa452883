import type { Project } from '../../domain/access/project.ts';
import type { Campaign } from '../../domain/campaigns/campaign.ts';
import type { KeyedRequest } from '../../domain/idempotency/idempotency.ts';

/** A request about one campaign of a project. */
export interface CampaignCommand {
  readonly project: Project;
  readonly campaignId: string;
}

/** Such a request that may be repeated under a key; null for one without an Idempotency-Key. */
export interface KeyedCampaignCommand extends CampaignCommand {
  readonly idempotency: KeyedRequest | null;
}

/** A campaign, and whether it is the result of an earlier request with the same Idempotency-Key. */
export interface CampaignResult {
  readonly campaign: Campaign;
  readonly replayed: boolean;
}
