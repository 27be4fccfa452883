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

  it.each(Object.keys(SUMS) as (keyof CampaignSums)[])(
    'a difference of %s is found and described',
    (name) => {
      const recipients = { ...SUMS, [name]: 1 };
      const differences = campaignDifferences('c', SUMS, recipients);
      expect(differences).toEqual([{ campaignId: 'c', name, campaign: SUMS[name], recipients: 1 }]);
      expect(differences.map(describeCampaignDifference)).toEqual([
        `campaign c: ${name} is ${SUMS[name]}, its recipients say 1`,
      ]);
    },
  );

  it('every difference is named', () => {
    const none = Object.fromEntries(Object.keys(SUMS).map((name) => [name, 0])) as unknown as CampaignSums;
    expect(campaignDifferences('c', none, SUMS).map(({ name }) => name)).toEqual(Object.keys(SUMS));
  });
});
