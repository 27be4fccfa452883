import { z } from 'zod';
import { errorText } from '../../replies/error-bodies.ts';
import type { DocumentedError } from '../../routing/documented.ts';
import { insufficientCredit, spendingThreshold } from '../messages/message-errors.ts';

const success = z.literal(false).meta({ description: 'Always false' });
const creditOfCampaign = insufficientCredit.extend({ success }).meta({
  id: 'CampaignInsufficientCredit',
  description: 'The credit is lower than the cost of the campaign',
});
const thresholdOfCampaign = spendingThreshold
  .extend({ success })
  .meta({ id: 'CampaignSpendingThreshold', description: 'The campaign would exceed the spending threshold' });
const numbersRejection = z
  .object({
    success,
    error: errorText.meta({ examples: ['Some phone numbers are in countries that are not supported'] }),
    unsupportedPhoneNumbers: z
      .array(z.string())
      .meta({ description: 'All of these numbers', examples: [['447700900123']] }),
  })
  .meta({ id: 'UnsupportedNumbers', description: 'Numbers of countries that are not supported' });

/** Specification 7: what the envelope of campaigns makes of a 400, a 404 and a 409. */
export const campaignErrorBody = z
  .object({ success, error: errorText.meta({ examples: ['Campaign not found'] }) })
  .meta({ id: 'CampaignErrorBody', description: 'A request about campaigns that has to be changed' });

export const CAMPAIGN_START_REJECTED: DocumentedError = {
  description: 'Not possible for this campaign, or rejected for trial mode, spending threshold or credit',
  schema: z.union([creditOfCampaign, thresholdOfCampaign, campaignErrorBody]),
};

export const RECIPIENTS_REJECTED: DocumentedError = {
  description:
    'Not well formed, or not possible for this campaign, or numbers of countries that are not supported',
  schema: z.union([numbersRejection, campaignErrorBody]),
};

export const CAMPAIGN_SAMPLE_REJECTED: DocumentedError = {
  description: 'As for the recipients of a campaign and for its start',
  schema: z.union([numbersRejection, creditOfCampaign, thresholdOfCampaign, campaignErrorBody]),
};
