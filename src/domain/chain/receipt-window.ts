import { millisecondsInHour } from 'date-fns/constants';
import type { Channel } from '../shared/channel.ts';

const RECEIPT_WINDOW_HOURS: Readonly<Record<Channel, number>> = { sms: 24, whatsapp: 72, telegram: 24 };

/** No attempt waits longer for a delivery receipt, in milliseconds. */
export const LONGEST_RECEIPT_WINDOW_MS =
  Math.max(...Object.values(RECEIPT_WINDOW_HOURS)) * millisecondsInHour;

/**
 * How long after the begin of its attempt, in milliseconds, a last channel that took the message may stay silent before
 * `sent` is the final word.
 */
export function receiptWindowMs(channel: Channel): number {
  return RECEIPT_WINDOW_HOURS[channel] * millisecondsInHour;
}
