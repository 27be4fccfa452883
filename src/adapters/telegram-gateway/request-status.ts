import { z } from 'zod';
import { digitsOf, type PhoneNumber } from '../../domain/shared/phone-number.ts';

/** Telegram's own id of a request, as this service takes it: printable, without spaces, 128 characters at most. */
const requestId = z.string().regex(/^[\x21-\x7e]{1,128}$/);

/** The response of Telegram to a request that it took, and the number it was for. */
export const takenRequest = z.object({
  request_id: requestId,
  phone_number: z.string().optional().catch(undefined),
});

/** Whether a response is that to a request for the number; one that names none may be. */
export function isFor(
  { phone_number: named }: z.output<typeof takenRequest>,
  phoneNumber: PhoneNumber,
): boolean {
  return named === undefined || digitsOf(named) === phoneNumber;
}

/** What Telegram reports later. Absent fields and fields of no use here spoil nothing. */
export const reportedRequest = z.object({
  request_id: requestId,
  is_refunded: z.boolean().optional().catch(undefined),
  delivery_status: z
    .object({ status: z.enum(['sent', 'delivered', 'read', 'expired', 'revoked']) })
    .nullish(),
});

export type ReportedRequest = z.output<typeof reportedRequest>;
