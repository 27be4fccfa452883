import type { ChannelPrices } from '../billing/pricing.ts';
import type { SettlementRule } from '../billing/settlement.ts';
import type { ProviderCharge } from '../providers/delivery-receipt.ts';
import type { Channel } from '../shared/channel.ts';
import { HEX_ID_CHARACTERS } from '../shared/hex-id.ts';
import { firstIdAt, idTime } from '../shared/id-time.ts';
import type { Money } from '../shared/money.ts';
import type { PhoneNumber } from '../shared/phone-number.ts';
import type { MessageStatus } from './message-status.ts';
import type { Content, DeliveryReport, WhatsappSender } from './send-request.ts';

/** Begins the id of every message; `HEX_ID_CHARACTERS` follow. */
export const SMS_ID_PREFIX = 'sms-';
export const SMS_ID_PATTERN = new RegExp(`^${SMS_ID_PREFIX}[a-f0-9]{${HEX_ID_CHARACTERS}}$`);

/** What ids of messages made at `at` or later are not below, as `firstIdAt`. So a time is a range of ids. */
export function firstSmsIdAt(at: number): string {
  return SMS_ID_PREFIX + firstIdAt(at);
}

/** When the id of a message was made, in milliseconds since 1970. */
export function smsIdTime(smsId: string): number {
  return idTime(smsId.slice(SMS_ID_PREFIX.length));
}

/**
 * What became of one channel of a chain. `dispatching`: the attempt is committed, its submit result is not known yet.
 * `unknown`: the provider was called and gave no clear result; it is never called again for this message. `busy`: the
 * provider takes nothing for now, and the same attempt starts again later.
 */
export const ATTEMPT_STATES = [
  'dispatching',
  'accepted',
  'unknown',
  'busy',
  'rejected',
  'failed',
  'timed-out',
  'skipped',
  'delivered',
  'read',
] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** One attempt: `attempts[i]` belongs to `channels[i]`. */
export interface ChannelAttempt {
  readonly channel: Channel;
  /** The provider whose submit result is known, or a receipt that names the attempt; absent before, and in earlier versions. */
  readonly provider?: string;
  readonly state: AttemptState;
  readonly reason: string | null;
  /** The provider's own ids of the submission; a multi-part sms has several, and there is none before the submit result. */
  readonly providerMessageIds: readonly string[];
  /** Those of them that were reported as delivered, one while none is known. The attempt is delivered when every part is. */
  readonly deliveredIds: readonly string[];
  /** What the provider charges the operator; absent while no receipt said so. */
  readonly charge?: ProviderCharge;
  readonly startedAt: number;
  /**
   * Names the transaction that started it: no other process has started it, and a submit result of an earlier start is told
   * apart. Absent in attempts of earlier versions.
   */
  readonly startId?: string;
  /** When it started for the first time; absent unless a busy provider made it start again. */
  readonly triedSince?: number;
  readonly endedAt: number | null;
  /** When its grace ends; absent unless its deadline came late, or before its submit result. */
  readonly graceEndsAt?: number;
}

/** A message and everything that was tried for it. Instants are milliseconds since 1970. */
export interface Message {
  readonly smsId: string;
  readonly projectId: string;
  /** The campaign it belongs to; null for a message that was sent by itself. */
  readonly campaignId: string | null;
  /** Canonical: the same for every spelling of a handset's number. */
  readonly phoneNumber: PhoneNumber;
  /** The number as the caller wrote it, which is the one that replies show. */
  readonly phoneNumberAsSent: string;
  readonly senderId: string | null;
  readonly whatsappSender: WhatsappSender;
  readonly content: Content;
  readonly channels: readonly Channel[];
  readonly attempts: readonly ChannelAttempt[];
  readonly status: MessageStatus;
  readonly isFinal: boolean;
  /** Held at acceptance. The settlement decides how much of it is captured. */
  readonly cost: Money;
  readonly prices: ChannelPrices;
  readonly settlement: SettlementRule;
  readonly attemptTimeoutMs: number;
  readonly deliveryReport: DeliveryReport | null;
  readonly createdAt: number;
  readonly sentAt: number | null;
  readonly finalAt: number | null;
  /** The last error in the message's flow; null while there was none. */
  readonly errorReason: string | null;
}

export interface ChannelFlowItem {
  readonly channel: Channel;
  readonly tried: boolean;
  readonly success?: boolean;
}

const SUCCEEDED: ReadonlySet<AttemptState> = new Set<AttemptState>(['accepted', 'delivered', 'read']);

/** The chain as the interface shows it: every channel in order, and `success` of those that were tried. */
export function channelFlow(message: Message): readonly ChannelFlowItem[] {
  return message.channels.map((channel, index) => {
    const attempt = message.attempts[index];
    if (attempt === undefined || !wasTried(attempt)) return { channel, tried: false };
    return { channel, tried: true, success: SUCCEEDED.has(attempt.state) };
  });
}

/** The last channel that was tried; the first of the chain until one was. */
export function lastChannel(message: Message): Channel {
  return message.attempts.findLast(wasTried)?.channel ?? (message.channels[0] as Channel);
}

/** A channel was tried once its provider has accepted or rejected the message, or its time is over. */
function wasTried({ state }: ChannelAttempt): boolean {
  return state !== 'skipped' && state !== 'dispatching' && state !== 'unknown' && state !== 'busy';
}
