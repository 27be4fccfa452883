import { describe, expect, it } from 'vitest';
import {
  type CampaignSums,
  campaignDifferences,
  describeCampaignDifference,
} from '../../../src/domain/campaigns/campaign-sums.ts';
import { iqd } from '../../../src/domain/shared/money.ts';

const SUMS: CampaignSums = {
  totalRecipients: 10,
  sentCount: 6,
  deliveredCount: 4,
  failedCount: 3,
  estimatedCost: iqd(600),
  reserved: iqd(601),
  captured: iqd(240),
  released: iqd(180),
};

describe('the sums of a campaign', () => {
  it('sums that the recipients confirm have no difference', () => {
    expect(campaignDifferences('c', SUMS, { ...SUMS })).toEqual([]);
  });

  it.each([
    ['totalRecipients', 'totalRecipients is 10, its recipients say 1000'],
    ['sentCount', 'sentCount is 6, its recipients say 1000'],
    ['deliveredCount', 'deliveredCount is 4, its recipients say 1000'],
    ['failedCount', 'failedCount is 3, its recipients say 1000'],
    ['estimatedCost', 'estimatedCost is 600 IQD, its recipients say 1 IQD'],
    ['reserved', 'reserved is 601 IQD, its recipients say 1 IQD'],
    ['captured', 'captured is 240 IQD, its recipients say 1 IQD'],
    ['released', 'released is 180 IQD, its recipients say 1 IQD'],
  ] as const)('a difference of %s is found and described, amounts in IQD', (name, sentence) => {
    const differences = campaignDifferences('c', SUMS, { ...SUMS, [name]: 1_000 });
    expect(differences).toEqual([{ campaignId: 'c', name, campaign: SUMS[name], recipients: 1_000 }]);
    expect(differences.map(describeCampaignDifference)).toEqual([`campaign c: ${sentence}`]);
  });

  it('every difference is named', () => {
    const none = Object.fromEntries(Object.keys(SUMS).map((name) => [name, 0])) as unknown as CampaignSums;
    expect(campaignDifferences('c', none, SUMS).map(({ name }) => name)).toEqual(Object.keys(SUMS));
  });
});
