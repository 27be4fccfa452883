import { CONVERSATION_MS, dailyLimitOf, decideConversations } from '../../domain/campaigns/daily-limit.ts';
import {
  keepRate,
  messagesPerSecond,
  NOTHING_SENT,
  type RateState,
} from '../../domain/campaigns/sending-rate.ts';
import type { Message } from '../../domain/messages/message.ts';
import { CLOCKS_DIFFER_MS_MAX } from '../../domain/shared/instant.ts';
import {
  findPhoneNumber,
  findPortfolio,
  type WhatsappPhoneNumber,
} from '../../domain/whatsapp/whatsapp-resources.ts';
import type { Stores } from '../ports/stores.ts';

/** The messages that one portfolio sends from one number. */
interface Senders {
  readonly portfolioId: string;
  readonly phoneNumber: WhatsappPhoneNumber;
  readonly messages: Message[];
}

/**
 * Holds campaigns to what the platform allows: the sending rate of a number, and the daily limit of new conversations, which all
 * numbers of a portfolio share. Runs inside the transaction that starts the attempts. The slots of messages keep the rate by
 * themselves; this keeps it when many of them are late. It counts what its own process starts, also in a unit of work that
 * has to be repeated: then messages wait a little longer than they had to.
 */
export class CampaignLimits {
  readonly #isOn: boolean;
  /** What this process has started, by number: there are as many as numbers that send campaigns. */
  readonly #rates = new Map<string, RateState>();

  constructor({ campaignLimits }: { readonly campaignLimits: boolean }) {
    this.#isOn = campaignLimits;
  }

  /**
   * Opens the conversations of messages that are about to start, and returns when to try those again that may not, by
   * their ids. Messages that belong to no campaign are not limited.
   */
  async retryAts(
    stores: Pick<Stores, 'whatsapp' | 'conversations'>,
    starting: readonly Message[],
    now: number,
  ): Promise<ReadonlyMap<string, number>> {
    const messages = this.#isOn ? starting.filter(({ campaignId }) => campaignId !== null) : [];
    if (messages.length === 0) return new Map();
    const retryAts = new Map<string, number>();
    for (const senders of await sendersOf(stores, messages)) {
      const inTime = this.#keepRate(senders, retryAts, now);
      for (const [smsId, at] of await keepDailyLimit(stores, { ...senders, messages: inTime }, now)) {
        retryAts.set(smsId, at);
      }
    }
    return retryAts;
  }

  /** The messages that may start now; notes when the others do. */
  #keepRate({ phoneNumber, messages }: Senders, retryAts: Map<string, number>, now: number): Message[] {
    const before = this.#rates.get(phoneNumber.id) ?? NOTHING_SENT;
    const rate = keepRate(before, messagesPerSecond(phoneNumber), messages.length, now);
    this.#rates.set(phoneNumber.id, rate.state);
    for (const [index, at] of rate.retryAts.entries()) {
      const late = messages[rate.startsNow + index];
      if (late !== undefined) retryAts.set(late.smsId, at);
    }
    return messages.slice(0, rate.startsNow);
  }
}

async function sendersOf(
  { whatsapp }: Pick<Stores, 'whatsapp'>,
  messages: readonly Message[],
): Promise<readonly Senders[]> {
  const trees = await whatsapp.byProjectIds([...new Set(messages.map(({ projectId }) => projectId))]);
  const found = new Map<string, Senders>();
  for (const message of messages) {
    const whatsappPhoneId = message.whatsappSender.phoneId ?? '';
    const businesses = trees.get(message.projectId) ?? [];
    const phoneNumber = findPhoneNumber(businesses, whatsappPhoneId);
    const portfolio = findPortfolio(businesses, whatsappPhoneId);
    // A number that is gone since the start is the provider's to reject.
    if (phoneNumber === null || portfolio === null) continue;
    const portfolioId = portfolio.businessId;
    const senders = found.get(whatsappPhoneId);
    if (senders !== undefined) senders.messages.push(message);
    else found.set(whatsappPhoneId, { portfolioId, phoneNumber, messages: [message] });
  }
  // Every transaction locks portfolios in this order.
  return [...found.values()].sort((a, b) => (a.portfolioId < b.portfolioId ? -1 : 1));
}

async function keepDailyLimit(
  { conversations }: Pick<Stores, 'conversations'>,
  { portfolioId, phoneNumber, messages }: Senders,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const limit = dailyLimitOf(phoneNumber);
  if (limit === null || messages.length === 0) return new Map();
  const numbers = messages.map(({ phoneNumber }) => phoneNumber);
  await conversations.lock(portfolioId);
  const since = now - CONVERSATION_MS;
  await conversations.sweep(portfolioId, since, now + CLOCKS_DIFFER_MS_MAX);
  const [count, open, written] = await Promise.all([
    conversations.count(portfolioId, since),
    conversations.openAmong(portfolioId, numbers, since),
    conversations.writtenAmong(phoneNumber.id, numbers, since),
  ]);
  const waiting = Math.max(0, count + messages.length - limit);
  const oldest = waiting === 0 ? [] : await conversations.oldest(portfolioId, waiting);
  const state = { count, oldest, open: new Set([...open, ...written]) };
  const { opened, retryAts } = decideConversations(limit, state, messages, now);
  await conversations.open(portfolioId, opened, now);
  return retryAts;
}
