import { MS_PER_HOUR } from '../shared/durations.ts';
import type { Channel } from './channel.ts';

const RECEIPT_TIMEOUT_HOURS: Readonly<Record<Channel, number>> = { sms: 24, whatsapp: 72, telegram: 24 };

/**
 * How long, in milliseconds, a last channel that took the message may stay silent before `sent` is the final
 * word.
 */
export function receiptTimeoutMs(channel: Channel): number {
  return RECEIPT_TIMEOUT_HOURS[channel] * MS_PER_HOUR;
}
