import type { Project } from '../access/project.ts';
import {
  type Account,
  hold,
  type InsufficientCredit,
  type SpendingThresholdExceeded,
} from '../billing/account.ts';
import { billingUnits } from '../billing/billing-units.ts';
import { type ChannelPrices, channelPrices, highestPrice, type PriceList } from '../billing/pricing.ts';
import { TEMPLATE_CATEGORIES, type TemplateCategory } from '../billing/system-prices.ts';
import { decideRate, type RateLimited } from '../rate-limiting/rate-limiter.ts';
import { decideSenderId, type SenderId } from '../senders/sender-id.ts';
import type { Channel } from '../shared/channel.ts';
import type { Money } from '../shared/money.ts';
import type { WhatsappBusiness } from '../whatsapp/whatsapp-resources.ts';
import { type ChainRejection, decideChain } from './chain-channels.ts';
import type { SendRequest } from './send-request.ts';
import { textOf } from './verification-text.ts';
import { decideWhatsappSender, type WhatsappRejection } from './whatsapp-sender.ts';

/** Everything a decision reads; the account and the earlier sends are those before this request. */
export interface SendState {
  readonly project: Project;
  readonly account: Account;
  readonly prices: PriceList;
  /** The channels that have a provider for the project. */
  readonly availableChannels: readonly Channel[];
  /** The project's sender ID of the requested name, whatever its status. */
  readonly senderId: SenderId | undefined;
  readonly whatsappBusinesses: readonly WhatsappBusiness[];
  /** When this project's sends to this number were accepted, at least within the rate window. */
  readonly acceptedAt: readonly number[];
}

export type SendRejection =
  | WhatsappRejection
  | ChainRejection
  | { readonly kind: 'sender-id-not-found' }
  | { readonly kind: 'sender-id-not-accepted' }
  | { readonly kind: 'trial-mode' }
  | RateLimited
  | SpendingThresholdExceeded
  | InsufficientCredit;

export interface SendAccepted {
  readonly kind: 'accepted';
  /** The account after the hold. */
  readonly account: Account;
  readonly channels: readonly Channel[];
  readonly cost: Money;
  readonly prices: ChannelPrices;
  readonly attemptTimeoutMs: number;
}

/** The chain of a send and its price, before anything is asked of the account. */
export interface SendQuote {
  readonly kind: 'quoted';
  readonly channels: readonly Channel[];
  /** The highest price of its channels, which is held at acceptance. */
  readonly cost: Money;
  /** The prices of the channels that can carry the message. */
  readonly prices: ChannelPrices;
}

/**
 * Accepts or rejects one send. The order of the checks is part of the interface: content and destination, sender ID,
 * trial, rate limit, threshold, credit. The first check that fails gives the rejection.
 */
export function decideSend(
  state: SendState,
  request: SendRequest,
  now: number,
): SendAccepted | SendRejection {
  const quoted = quoteSend(state, request);
  return quoted.kind === 'quoted' ? acceptSend(state, request, quoted, now) : quoted;
}

/** The first half of `decideSend`: checks content and destination, and prices the chain. */
export function quoteSend(state: SendState, request: SendRequest): SendQuote | SendRejection {
  const whatsapp = decideWhatsappSender(request, state.whatsappBusinesses);
  if (whatsapp.kind !== 'usable') return whatsapp;

  const { billingUnits: rule, language } = state.project.settings;
  const sender = decideSenderId(request.senderId, state.senderId);
  const all = channelPrices(state.prices, {
    phoneNumber: request.phoneNumber,
    smsUnits: billingUnits(rule, textOf(language, request.content)),
    whatsappCategory: categoryOf(request, whatsapp.category),
    senderPrices: sender.kind === 'usable' ? sender.prices : null,
  });
  const chain = decideChain(request, state.availableChannels, all);
  if (chain.kind !== 'chain') return chain;
  const prices: ChannelPrices = Object.fromEntries(chain.capable.map((channel) => [channel, all[channel]]));
  return { kind: 'quoted', channels: chain.channels, cost: highestPrice(prices), prices };
}

/** The second half of `decideSend`: checks sender ID, trial, rate limit and money, and holds the cost. */
export function acceptSend(
  { project, account, senderId, acceptedAt }: SendState,
  request: SendRequest,
  { channels, cost, prices }: SendQuote,
  now: number,
): SendAccepted | SendRejection {
  const sender = decideSenderId(request.senderId, senderId);
  if (sender.kind !== 'usable') return sender;
  if (account.trialPhoneNumber !== null && account.trialPhoneNumber !== request.phoneNumber) {
    return { kind: 'trial-mode' };
  }
  const { rateLimit, attemptTimeoutMs } = project.settings;
  if (rateLimit !== null) {
    const rate = decideRate(rateLimit, acceptedAt, now);
    if (rate.kind !== 'allowed') return rate;
  }
  const held = hold(account, cost);
  if (held.kind !== 'held') return held;
  const { verification, other } = attemptTimeoutMs;
  return {
    kind: 'accepted',
    account: held.account,
    channels,
    cost,
    prices,
    attemptTimeoutMs: request.content.smsType === 'verification' ? verification : other,
  };
}

function categoryOf({ content }: SendRequest, templateCategory: string | null): TemplateCategory | null {
  switch (content.smsType) {
    case 'verification':
      return 'AUTHENTICATION';
    case 'custom':
      return 'UTILITY';
    case 'whatsapp-template':
      return TEMPLATE_CATEGORIES.find((category) => category === templateCategory) ?? null;
    default:
      return content satisfies never;
  }
}
