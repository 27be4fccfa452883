import { z } from 'zod';
import type { DocumentedReply } from '../routing/route.ts';

const number = z.number();

const errorText = z.object({ error: z.string() });
const messageText = z.object({ message: z.string() });

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

/** The body of the 503 that any route may answer. */
export const overloadedBody = messageText;

/** A rejection whose body is `error`, a text. */
export function errorReplyDoc(description: string): DocumentedReply {
  return { description, schema: errorText };
}

/** A rejection whose body is `message`, a text. */
export function messageReplyDoc(description: string): DocumentedReply {
  return { description, schema: messageText };
}

export const SEND_REJECTED: DocumentedReply = {
  description: 'Not well formed, or refused for sender ID, trial mode, spending threshold or credit',
  schema: z.union([insufficientCredit, spendingThreshold, errorText]),
};

export const RATE_LIMITED: DocumentedReply = {
  description: 'Too many messages to this phone number within the time window',
  schema: rateLimited,
  headers: ['Retry-After'],
};

export const RESOURCES_FAILED_DOC: DocumentedReply = {
  description: 'The resources could not be fetched',
  schema: z.object({ success: z.literal(false), message: z.string() }),
};
