import { millisecondsInHour } from 'date-fns/constants';
import type { Channel } from '../shared/channel.ts';

const RECEIPT_TIMEOUT_HOURS: Readonly<Record<Channel, number>> = { sms: 24, whatsapp: 72, telegram: 24 };

/** No attempt waits longer for a delivery receipt, in milliseconds. */
export const LONGEST_RECEIPT_TIMEOUT_MS =
  Math.max(...Object.values(RECEIPT_TIMEOUT_HOURS)) * millisecondsInHour;

/**
 * How long after the begin of its attempt, in milliseconds, a last channel that took the message may stay silent before
 * `sent` is the final word.
 */
export function receiptTimeoutMs(channel: Channel): number {
  return RECEIPT_TIMEOUT_HOURS[channel] * millisecondsInHour;
}
