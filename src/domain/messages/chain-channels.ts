import type { ChannelPrices } from '../billing/pricing.ts';
import type { Channel } from '../shared/channel.ts';
import { channelsOfProviderValue } from './provider-value.ts';
import { canCarry, type SendRequest } from './send-request.ts';

/** The chain of a request, and those of its channels that can carry the content. */
export interface Chain {
  readonly kind: 'chain';
  readonly channels: readonly Channel[];
  readonly capable: readonly Channel[];
}

export type ChainRejection =
  /** None of these channels can carry the content. */
  | { readonly kind: 'unsupported-content'; readonly channels: readonly Channel[] }
  /** The request names a channel that has no provider. */
  | { readonly kind: 'channel-not-available'; readonly channel: Channel }
  /** `auto` has no channel that is available, or a channel has no price for the destination. */
  | { readonly kind: 'unsupported-destination'; readonly missing: 'channel' | 'price' };

/**
 * The channels a request goes through. `auto` takes those that are available and have a price; a named chain is rejected
 * when one of its channels is not available, or one that can carry the content has no price.
 */
export function decideChain(
  request: SendRequest,
  available: readonly Channel[],
  prices: ChannelPrices,
): Chain | ChainRejection {
  const asked = channelsOf(request);
  const isAuto = request.provider === 'auto';
  const usable = isAuto ? asked.filter((channel) => available.includes(channel)) : asked;
  if (usable.length === 0) return { kind: 'unsupported-destination', missing: 'channel' };
  const channels = isAuto ? usable.filter((channel) => prices[channel] !== undefined) : usable;
  if (channels.length === 0) return { kind: 'unsupported-destination', missing: 'price' };
  const capable = channels.filter((channel) => canCarry(channel, request.content));
  if (capable.length === 0) return { kind: 'unsupported-content', channels };
  const missing = channels.find((channel) => !available.includes(channel));
  if (missing !== undefined) return { kind: 'channel-not-available', channel: missing };
  return capable.every((channel) => prices[channel] !== undefined)
    ? { kind: 'chain', channels, capable }
    : { kind: 'unsupported-destination', missing: 'price' };
}

/**
 * The channels a request asks for, in order. `auto` picks by content: a code tries every channel, a text under a sender ID
 * is an sms, other texts leave out telegram, which carries codes only, and a template is whatsapp's.
 */
export function channelsOf({ provider, content, senderId }: SendRequest): readonly Channel[] {
  if (provider !== 'auto') return channelsOfProviderValue(provider);
  switch (content.smsType) {
    case 'verification':
      return ['whatsapp', 'telegram', 'sms'];
    case 'custom':
      return senderId === null ? ['whatsapp', 'sms'] : ['sms'];
    case 'whatsapp-template':
      return ['whatsapp'];
    default:
      return content satisfies never;
  }
}
