import type { Channel } from '../shared/channel.ts';
import { type Money, ZERO } from '../shared/money.ts';
import type { ChannelPrices } from './pricing.ts';

/** `quoted` captures the cost, whatever channel delivered; `delivered` captures the price of that channel. */
export const SETTLEMENT_RULES = ['quoted', 'delivered'] as const;
export type SettlementRule = (typeof SETTLEMENT_RULES)[number];

export interface Settleable {
  readonly cost: Money;
  readonly settlement: SettlementRule;
  readonly prices: ChannelPrices;
  readonly status: string;
  readonly campaignId: string | null;
}

/**
 * The amount captured for a message that `channel` carried; null means that every channel failed. A campaign pays for
 * what was delivered, a single message also when nothing was reported in time.
 */
export function amountCaptured(message: Settleable, channel: Channel | null): Money {
  if (channel === null || isUnreported(message)) return ZERO;
  switch (message.settlement) {
    case 'quoted':
      return message.cost;
    case 'delivered':
      return message.prices[channel] ?? message.cost;
    default:
      return message.settlement satisfies never;
  }
}

/** Whether the cost of a message was released because it failed, or nobody reported it (specification 2.4). */
export function isRefunded(
  message: Pick<Settleable, 'cost' | 'status' | 'campaignId'> & { readonly isFinal: boolean },
): boolean {
  return message.isFinal && message.cost > ZERO && (message.status === 'failed' || isUnreported(message));
}

/** A message of a campaign that is final without a delivery receipt. */
function isUnreported({ campaignId, status }: Pick<Settleable, 'campaignId' | 'status'>): boolean {
  return campaignId !== null && status === 'sent';
}
