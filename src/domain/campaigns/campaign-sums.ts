import { type Money, toIqd } from '../shared/money.ts';

/** What a campaign says of its recipients: each sum can be made anew from their rows and ledger entries. */
export interface CampaignSums {
  readonly totalRecipients: number;
  /** Recipients by status: those delivered count as sent too, those who read it as delivered. */
  readonly sentCount: number;
  readonly deliveredCount: number;
  readonly failedCount: number;
  /** The sum over the recipients; from the start on what was reserved for them. */
  readonly estimatedCost: Money;
  /** Held at the start. In the end `captured` and `released` are as much together. */
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

const COUNTS = ['totalRecipients', 'sentCount', 'deliveredCount', 'failedCount'] as const;
const AMOUNTS = ['estimatedCost', 'reserved', 'captured', 'released'] as const;
const NAMES: readonly (keyof CampaignSums)[] = [...COUNTS, ...AMOUNTS];

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

/** The difference in a sentence for an operator, amounts in IQD. */
export function describeCampaignDifference(difference: CampaignDifference): string {
  const { campaignId, name, campaign, recipients } = difference;
  const isAmount = AMOUNTS.some((amount) => amount === name);
  const written = (sum: number): string => (isAmount ? `${toIqd(sum as Money)} IQD` : String(sum));
  return `campaign ${campaignId}: ${name} is ${written(campaign)}, its recipients say ${written(recipients)}`;
}
