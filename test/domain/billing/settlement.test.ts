import { expect, test } from 'vitest';
import { amountCaptured, type SettlementRule } from '../../../src/domain/billing/settlement.ts';
import type { Channel } from '../../../src/domain/shared/channel.ts';
import { iqd } from '../../../src/domain/shared/money.ts';

const prices = { whatsapp: iqd(60), telegram: iqd(40), sms: iqd(80) };

test.each<[SettlementRule, Channel | null, number]>([
  ['quoted', 'whatsapp', 80],
  ['quoted', 'telegram', 80],
  ['quoted', 'sms', 80],
  ['quoted', null, 0],
  ['delivered', 'whatsapp', 60],
  ['delivered', 'telegram', 40],
  ['delivered', 'sms', 80],
  ['delivered', null, 0],
])('the rule %s captures for delivery by %s %d thousandths', (settlement, channel, captured) => {
  expect(amountCaptured({ cost: iqd(80), settlement, prices }, channel)).toBe(iqd(captured));
});

test('the rule delivered captures the cost for a channel without a price', () => {
  const message = { cost: iqd(60), settlement: 'delivered', prices: { whatsapp: iqd(60) } } as const;
  expect(amountCaptured(message, 'sms')).toBe(iqd(60));
});
