import { z } from 'zod';
import { errorBody, errorText, messageBody, messageText } from '../../replies/error-bodies.ts';
import type { DocumentedError } from '../../routing/documented.ts';

const number = z.number();

export const insufficientCredit = z
  .object({
    error: errorText.meta({ examples: ['Insufficient credit, please add more credit'] }),
    yourCredit: number.meta({ description: 'IQD: the credit of the project', examples: [40] }),
    requiredCredit: number.meta({ description: 'IQD: the cost', examples: [80] }),
    canCover: z.literal(false).meta({ description: 'The credit does not cover the cost' }),
  })
  .meta({ id: 'InsufficientCredit', description: 'The credit is lower than the cost' });

export const spendingThreshold = z
  .object({
    error: errorText.meta({ examples: ['Project spending threshold of 1000 IQD would be exceeded'] }),
    currentSpending: number.meta({ description: 'IQD: what the project has spent', examples: [960] }),
    spendingThreshold: number.meta({ description: 'IQD: what the project may spend', examples: [1000] }),
    cost: number.meta({ description: 'IQD: the cost', examples: [80] }),
  })
  .meta({ id: 'SpendingThreshold', description: 'The cost would exceed the spending threshold' });

const rateLimited = z
  .object({
    message: messageText.meta({ examples: ['Rate limit exceeded, please wait 10 minutes'] }),
    waitMinutes: z
      .int()
      .min(1)
      .meta({ description: 'Waiting so many minutes is enough', examples: [10] }),
    maxRequests: z
      .int()
      .min(0)
      .meta({ description: 'Sends in one time window', examples: [5] }),
    timeWindowMinutes: z
      .int()
      .min(1)
      .meta({ description: 'The length of the window', examples: [10] }),
  })
  .meta({ id: 'RateLimited', description: 'Too many sends to one phone number, or from one address' });

export const SEND_REJECTED: DocumentedError = {
  description: 'Not well formed, or rejected for sender ID, trial mode, spending threshold or credit',
  schema: z.union([insufficientCredit, spendingThreshold, errorBody]),
};

export const RATE_LIMITED: DocumentedError = {
  description:
    'Too many messages to this phone number within the time window, or of the project before their first attempt',
  schema: z.union([rateLimited, messageBody]),
  headers: ['Retry-After'],
};
