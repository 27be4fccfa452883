import type { SubmissionReceipt } from '../../application/ports/provider-events.ts';
import type { MessageIdForms } from '../../domain/sms/message-id-forms.ts';
import { RECEIPT_TEXT_CHARACTERS_MAX, readReceipt } from '../../domain/sms/receipt-text.ts';
import type { Delivery } from './pdu.ts';

/** Bits of `esm_class` that say what a message is. */
const MESSAGE_TYPE_MASK = 0x3c;
const DELIVERY_RECEIPT = 0x04;
const INTERMEDIATE_NOTIFICATION = 0x20;
const HEADER_BIT = 0x40;

/** Characters of UCS-2 have two octets, and those of a field's name begin with 0; a mark of the byte order may stand in front. */
const FIRST_OCTETS = 4;

/** In UCS-2 a character has two. */
const TEXT_OCTETS_MAX = 2 * RECEIPT_TEXT_CHARACTERS_MAX;

/** Whether it is a receipt of what we sent. Some SMSCs say so by the id of the message only. */
export function isReceipt({ esmClass, receiptedMessageId }: Delivery): boolean {
  const type = esmClass & MESSAGE_TYPE_MASK;
  return type === DELIVERY_RECEIPT || type === INTERMEDIATE_NOTIFICATION || receiptedMessageId !== null;
}

/** Null when it names no message or no state. */
export function receiptOf(delivery: Delivery, forms: MessageIdForms): SubmissionReceipt | null {
  const { receiptedMessageId, messageState } = delivery;
  const read = readReceipt({ text: textOf(delivery), receiptedMessageId, messageState }, forms);
  return read === null ? null : { channel: 'sms', providerMessageId: read.id, receipt: read.receipt };
}

/**
 * Many SMSCs write ASCII and name the alphabet of the message that was sent, so that only the octets tell. Only the start is
 * read: what is cut out of a text keeps all of it in memory.
 */
function textOf({ esmClass, octets }: Delivery): string {
  const start = (esmClass & HEADER_BIT) === 0 ? 0 : (octets[0] ?? 0) + 1;
  const body = octets.subarray(start, start + TEXT_OCTETS_MAX);
  if (!body.subarray(0, FIRST_OCTETS).includes(0)) return body.toString('latin1');
  return Buffer.from(body.subarray(0, body.length & ~1))
    .swap16()
    .toString('utf16le');
}
