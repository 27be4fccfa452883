import type { Channel } from '../shared/channel.ts';
import { type Money, ZERO } from '../shared/money.ts';
import type { ChannelPrices } from './pricing.ts';

/** `quoted` takes the cost whatever channel delivered; `delivered` takes that channel's price. */
export const SETTLEMENT_RULES = ['quoted', 'delivered'] as const;
export type SettlementRule = (typeof SETTLEMENT_RULES)[number];

export interface Settleable {
  readonly cost: Money;
  readonly settlement: SettlementRule;
  readonly prices: ChannelPrices;
}

/** What a message is charged once `channel` carried it; `channel` null means that every channel failed. */
export function amountCaptured(message: Settleable, channel: Channel | null): Money {
  if (channel === null) return ZERO;
  switch (message.settlement) {
    case 'quoted':
      return message.cost;
    case 'delivered':
      return message.prices[channel] ?? message.cost;
    default:
      return message.settlement satisfies never;
  }
}
