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
