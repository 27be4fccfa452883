import type { Project } from '../../domain/access/project.ts';
import { CONVERSATION_MS, dailyLimitOf, decideConversations } from '../../domain/campaigns/daily-limit.ts';
import { limitKey } from '../../domain/campaigns/limit-key.ts';
import {
  keepRate,
  messagesPerSecond,
  NOTHING_SENT,
  type RateState,
} from '../../domain/campaigns/sending-rate.ts';
import type { Message } from '../../domain/messages/message.ts';
import { CLOCKS_DIFFER_MS_MAX } from '../../domain/shared/instant.ts';
import { findPhoneNumber, type WhatsappPhoneNumber } from '../../domain/whatsapp/whatsapp-resources.ts';
import type { Stores } from '../ports/stores.ts';

/** A message that is about to start, and the project that sends it. */
export interface StartingMessage {
  readonly message: Message;
  readonly project: Pick<Project, 'id' | 'environment'>;
}

/** The messages that one portfolio sends from one number, both under the keys that their limits are counted by. */
interface Senders {
  readonly portfolioKey: string;
  readonly numberKey: string;
  readonly phoneNumber: WhatsappPhoneNumber;
  readonly messages: Message[];
}

/**
 * Holds campaigns to what the platform allows: the sending rate of a number, and the daily limit of new conversations. All
 * numbers of a portfolio share that limit. Runs inside the transaction that starts the attempts. The slots of messages keep the
 * rate by themselves; this class keeps it when many messages are late. It counts what its own process starts, also in a unit of
 * work that is repeated: then messages wait a little longer than they have to.
 */
export class CampaignLimits {
  readonly #isOn: boolean;
  /** What this process has started, by the key of the number: there are as many as numbers that send campaigns. */
  readonly #rates = new Map<string, RateState>();

  constructor({ keepsPlatformLimits }: { readonly keepsPlatformLimits: boolean }) {
    this.#isOn = keepsPlatformLimits;
  }

  /**
   * Admits messages that are about to start: they count for the rate of their number, and open conversations where
   * none is open. Resolves with when to try the others again, by their ids. Messages that belong to no campaign are not limited.
   */
  async admit(
    stores: Pick<Stores, 'whatsapp' | 'conversations'>,
    starting: readonly StartingMessage[],
    now: number,
  ): Promise<ReadonlyMap<string, number>> {
    const ofCampaigns = this.#isOn ? starting.filter(({ message }) => message.campaignId !== null) : [];
    if (ofCampaigns.length === 0) return new Map();
    const retryAts = new Map<string, number>();
    for (const senders of await sendersOf(stores, ofCampaigns)) {
      const inTime = this.#keepRate(senders, retryAts, now);
      for (const [smsId, at] of await keepDailyLimit(stores, { ...senders, messages: inTime }, now)) {
        retryAts.set(smsId, at);
      }
    }
    return retryAts;
  }

  /** The messages that may start now; notes when the others do. */
  #keepRate(
    { numberKey, phoneNumber, messages }: Senders,
    retryAts: Map<string, number>,
    now: number,
  ): Message[] {
    const before = this.#rates.get(numberKey) ?? NOTHING_SENT;
    const rate = keepRate(before, messagesPerSecond(phoneNumber), messages.length, now);
    this.#rates.set(numberKey, rate.state);
    for (const [index, at] of rate.retryAts.entries()) {
      const late = messages[rate.startsNow + index];
      if (late !== undefined) retryAts.set(late.smsId, at);
    }
    return messages.slice(0, rate.startsNow);
  }
}

async function sendersOf(
  { whatsapp }: Pick<Stores, 'whatsapp'>,
  starting: readonly StartingMessage[],
): Promise<readonly Senders[]> {
  const trees = await whatsapp.byProjectIds([...new Set(starting.map(({ project }) => project.id))]);
  const found = new Map<string, Senders>();
  for (const { message, project } of starting) {
    const whatsappPhoneId = message.whatsappSender.phoneId ?? '';
    const businesses = trees.get(project.id) ?? [];
    const from = findPhoneNumber(businesses, whatsappPhoneId);
    // A number that is gone since the start is the provider's to reject.
    if (from === null) continue;
    const { phoneNumber, business } = from;
    const numberKey = limitKey(project, phoneNumber.id);
    const portfolioKey = limitKey(project, business.businessId);
    const senders = found.get(numberKey);
    if (senders !== undefined) senders.messages.push(message);
    else found.set(numberKey, { portfolioKey, numberKey, phoneNumber, messages: [message] });
  }
  // Every transaction locks portfolios in this order.
  return [...found.values()].sort((a, b) => (a.portfolioKey < b.portfolioKey ? -1 : 1));
}

async function keepDailyLimit(
  { conversations }: Pick<Stores, 'conversations'>,
  { portfolioKey, phoneNumber, messages }: Senders,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const limit = dailyLimitOf(phoneNumber);
  if (limit === null || messages.length === 0) return new Map();
  const numbers = messages.map(({ phoneNumber }) => phoneNumber);
  await conversations.lock(portfolioKey);
  const since = now - CONVERSATION_MS;
  await conversations.sweep(portfolioKey, since, now + CLOCKS_DIFFER_MS_MAX);
  const [count, open, written] = await Promise.all([
    conversations.count(portfolioKey, since),
    conversations.openAmong(portfolioKey, numbers, since),
    conversations.writtenAmong(phoneNumber.id, numbers, since),
  ]);
  const waiting = Math.max(0, count + messages.length - limit);
  const oldest = waiting === 0 ? [] : await conversations.oldest(portfolioKey, waiting);
  const state = { count, oldest, open: new Set([...open, ...written]) };
  const { opened, retryAts } = decideConversations(limit, state, messages, now);
  await conversations.open(portfolioKey, opened, now);
  return retryAts;
}
