import { z } from 'zod';
import type { Submission } from '../../application/ports/channel-provider.ts';
import { attemptName } from '../../domain/chain/attempt-name.ts';
import { digitsOf } from '../../domain/shared/phone-number.ts';

/** Telegram's own id of a request, as this service takes it: printable, without spaces, 128 characters at most. */
const requestId = z.string().regex(/^[\x21-\x7e]{1,128}$/);

const text = z.string().optional().catch(undefined);

/** The response of Telegram to a request that it took, the number it was for, and the name of its attempt. */
export const takenRequest = z.object({ request_id: requestId, phone_number: text, payload: text });

/**
 * Whether a response is that to a request for this attempt, under this id if it had one. A field that the response lacks is not
 * compared. The response to a check of the ability has no payload.
 */
export function isFor(
  { request_id, phone_number, payload }: z.output<typeof takenRequest>,
  {
    submission,
    requestId: asked,
  }: { readonly submission: Submission; readonly requestId?: string | undefined },
): boolean {
  if (asked !== undefined && request_id !== asked) return false;
  if (phone_number !== undefined && digitsOf(phone_number) !== submission.phoneNumber) return false;
  return payload === undefined || payload === attemptName(submission);
}

/** What Telegram reports later. Absent fields and fields of no use here spoil nothing. */
export const reportedRequest = z.object({
  request_id: requestId,
  is_refunded: z.boolean().optional().catch(undefined),
  /** The name of the attempt. */
  payload: text,
  delivery_status: z
    .object({ status: z.enum(['sent', 'delivered', 'read', 'expired', 'revoked']) })
    .nullish(),
});

export type ReportedRequest = z.output<typeof reportedRequest>;
