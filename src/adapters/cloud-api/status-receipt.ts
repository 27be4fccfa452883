import { z } from 'zod';
import type { SubmissionReceipt } from '../../application/ports/provider-events.ts';
import { parseAttemptName } from '../../domain/chain/attempt-name.ts';
import type { DeliveryReceipt, ProviderCharge } from '../../domain/providers/delivery-receipt.ts';
import { errorText, graphError } from './graph-response.ts';

const word = z.string().regex(/^[\w-]{1,50}$/);

const status = z.object({
  id: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  status: word,
  // Neither spoils the status that it comes with.
  pricing: z
    .object({ billable: z.boolean(), pricing_model: word, category: word })
    .optional()
    .catch(undefined),
  biz_opaque_callback_data: z.string().optional().catch(undefined),
  // Only the first is read.
  errors: z.array(z.unknown()).optional().catch(undefined),
});
type Status = z.output<typeof status>;

/** The receipt of a status; `ignored` for one that says nothing of the delivery, null for what is no status. */
export function statusReceipt(given: unknown): SubmissionReceipt | 'ignored' | null {
  const read = status.safeParse(given);
  if (!read.success) return null;
  const { id: providerMessageId, biz_opaque_callback_data: name = '' } = read.data;
  const receipt = receiptOf(read.data);
  if (receipt === null) return 'ignored';
  return { channel: 'whatsapp', providerMessageId, receipt, attempt: parseAttemptName(name) };
}

function receiptOf({ status: kind, pricing, errors }: Status): DeliveryReceipt | null {
  switch (kind) {
    case 'sent':
    case 'delivered':
    case 'read':
      return { kind, ...(pricing === undefined ? {} : { charge: chargeOf(pricing) }) };
    case 'failed': {
      const error = graphError.safeParse(errors?.[0]);
      return { kind, reason: error.success ? errorText(error.data) : 'Meta gave no reason' };
    }
    default:
      return null;
  }
}

function chargeOf({ billable, pricing_model, category }: NonNullable<Status['pricing']>): ProviderCharge {
  return { billable, model: pricing_model, category };
}
