import type { Money } from '../shared/money.ts';

/** What a campaign says of its recipients: each sum can be made anew from their rows and ledger entries. */
export interface CampaignSums {
  readonly totalRecipients: number;
  readonly sentCount: number;
  readonly deliveredCount: number;
  readonly failedCount: number;
  readonly estimatedCost: Money;
  readonly reserved: Money;
  readonly captured: Money;
  readonly released: Money;
}

/** A sum of a campaign that its recipients do not confirm. */
export interface CampaignDifference {
  readonly campaignId: string;
  readonly name: keyof CampaignSums;
  readonly campaign: number;
  readonly recipients: number;
}

const NAMES: readonly (keyof CampaignSums)[] = [
  'totalRecipients',
  'sentCount',
  'deliveredCount',
  'failedCount',
  'estimatedCost',
  'reserved',
  'captured',
  'released',
];

/** Every sum in which a campaign disagrees with its recipients. */
export function campaignDifferences(
  campaignId: string,
  campaign: CampaignSums,
  recipients: CampaignSums,
): readonly CampaignDifference[] {
  return NAMES.filter((name) => campaign[name] !== recipients[name]).map((name) => ({
    campaignId,
    name,
    campaign: campaign[name],
    recipients: recipients[name],
  }));
}

/** The difference in a sentence for an operator; money in thousandths of an IQD. */
export function describeCampaignDifference(difference: CampaignDifference): string {
  const { campaignId, name, campaign, recipients } = difference;
  return `campaign ${campaignId}: ${name} is ${campaign}, its recipients say ${recipients}`;
}
