import { expect, test } from 'vitest';
import { amountCaptured, type SettlementRule } from '../../../src/domain/billing/settlement.ts';
import type { Channel } from '../../../src/domain/shared/channel.ts';
import { iqd } from '../../../src/domain/shared/money.ts';

const single = { status: 'sent', campaignId: null } as const;
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
  expect(amountCaptured({ cost: iqd(80), settlement, prices, ...single }, channel)).toBe(iqd(captured));
});

test('the rule delivered captures the cost for a channel without a price', () => {
  const message = {
    cost: iqd(60),
    settlement: 'delivered',
    prices: { whatsapp: iqd(60) },
    ...single,
  } as const;
  expect(amountCaptured(message, 'sms')).toBe(iqd(60));
});

test.each(['quoted', 'delivered'] as const)(
  'the rule %s captures nothing for a message of a campaign that was never reported as delivered',
  (settlement) => {
    const message = { cost: iqd(60), settlement, prices: { whatsapp: iqd(60) }, campaignId: '664abc' };
    expect(amountCaptured({ ...message, status: 'sent' }, 'whatsapp')).toBe(iqd(0));
    expect(amountCaptured({ ...message, status: 'delivered' }, 'whatsapp')).toBe(iqd(60));
    expect(amountCaptured({ ...message, status: 'read' }, 'whatsapp')).toBe(iqd(60));
  },
);
