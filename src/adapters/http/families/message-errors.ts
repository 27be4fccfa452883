import { z } from 'zod';
import type { DocumentedError } from '../routing/route.ts';

const number = z.number();

const insufficientCredit = z.object({
  error: z.string(),
  yourCredit: number,
  requiredCredit: number,
  canCover: z.literal(false),
});
const spendingThreshold = z.object({
  error: z.string(),
  currentSpending: number,
  spendingThreshold: number,
  cost: number,
});
const rateLimited = z.object({
  message: z.string(),
  waitMinutes: z.int().min(1),
  maxRequests: z.int().min(0),
  timeWindowMinutes: z.int().min(1),
});

export const SEND_REJECTED: DocumentedError = {
  description: 'Not well formed, or rejected for sender ID, trial mode, spending threshold or credit',
  schema: z.union([insufficientCredit, spendingThreshold, z.object({ error: z.string() })]),
};

export const RATE_LIMITED: DocumentedError = {
  description:
    'Too many messages to this phone number within the time window, or of the project before their first attempt',
  schema: z.union([rateLimited, z.object({ message: z.string() })]),
  headers: ['Retry-After'],
};

const success = z.literal(false);
const creditOfCampaign = insufficientCredit.extend({ success });
const thresholdOfCampaign = spendingThreshold.extend({ success });
const numbersRejection = z.object({
  success,
  error: z.string(),
  unsupportedPhoneNumbers: z.array(z.string()),
});
const rejected = z.object({ success, error: z.string() });

export const CAMPAIGN_START_REJECTED: DocumentedError = {
  description: 'Not possible for this campaign, or rejected for trial mode, spending threshold or credit',
  schema: z.union([creditOfCampaign, thresholdOfCampaign, rejected]),
};

export const RECIPIENTS_REJECTED: DocumentedError = {
  description:
    'Not well formed, or not possible for this campaign, or numbers of countries that are not supported',
  schema: z.union([numbersRejection, rejected]),
};

export const CAMPAIGN_SAMPLE_REJECTED: DocumentedError = {
  description: 'As for the recipients of a campaign and for its start',
  schema: z.union([numbersRejection, creditOfCampaign, thresholdOfCampaign, rejected]),
};
