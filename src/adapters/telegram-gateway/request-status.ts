import { z } from 'zod';

/** Telegram's own id of a request, as this service takes it: printable, without spaces, 128 characters at most. */
const requestId = z.string().regex(/^[\x21-\x7e]{1,128}$/);

/** The response of Telegram to a request that it took: only its id matters here. */
export const takenRequest = z.object({ request_id: requestId });

/** What Telegram reports later. Absent fields and fields of no use here spoil nothing. */
export const reportedRequest = z.object({
  request_id: requestId,
  is_refunded: z.boolean().optional().catch(undefined),
  delivery_status: z
    .object({ status: z.enum(['sent', 'delivered', 'read', 'expired', 'revoked']) })
    .nullish(),
});

export type ReportedRequest = z.output<typeof reportedRequest>;
