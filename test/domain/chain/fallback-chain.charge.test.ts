import { expect, it, test } from 'vitest';
import type { ChainEvent } from '../../../src/domain/chain/chain-event.ts';
import { advance } from '../../../src/domain/chain/fallback-chain.ts';
import type { Message } from '../../../src/domain/messages/message.ts';
import type { DeliveryReceipt, ProviderCharge } from '../../../src/domain/providers/delivery-receipt.ts';
import { aMessage, anAttempt, NOW } from '../../support/builders.ts';
import { inWords } from '../../support/chain-words.ts';

const EXPECTED: ProviderCharge = { billable: true, model: 'PMP', category: 'utility' };
const ACTUAL: ProviderCharge = { billable: false, model: 'PMP', category: 'service' };
const ID = 'wamid.1';

const onItsWay = (attempt: Parameters<typeof anAttempt>[0] = {}): Message =>
  aMessage({ status: 'sent', attempts: [anAttempt({ providerMessageIds: [ID], ...attempt })] });

const receipt = (kind: 'sent' | 'delivered' | 'read', charge?: ProviderCharge): DeliveryReceipt => ({
  kind,
  ...(charge === undefined ? {} : { charge }),
});
const arrived = (given: DeliveryReceipt): ChainEvent => ({
  kind: 'receipt',
  attemptNumber: 0,
  providerMessageId: ID,
  receipt: given,
});
const play = (message: Message, ...receipts: readonly DeliveryReceipt[]): Message =>
  receipts.reduce((before, each) => advance(before, arrived(each), NOW).message, message);
const chargeOf = (message: Message) => message.attempts[0]?.charge;

test.each<[title: string, receipts: readonly DeliveryReceipt[], charge: ProviderCharge | undefined]>([
  ['none named one', [receipt('sent'), receipt('delivered')], undefined],
  ['one sent receipt did', [receipt('sent', EXPECTED)], EXPECTED],
  ['the delivered one says otherwise', [receipt('sent', EXPECTED), receipt('delivered', ACTUAL)], ACTUAL],
  ['the sent one comes last', [receipt('delivered', ACTUAL), receipt('sent', EXPECTED)], ACTUAL],
  ['the read one comes after the end', [receipt('delivered'), receipt('read', ACTUAL)], ACTUAL],
  ['a later one names none', [receipt('delivered', ACTUAL), receipt('read')], ACTUAL],
])('an attempt keeps the charge of its receipts when %s', (_, receipts, charge) => {
  expect(chargeOf(play(onItsWay(), ...receipts))).toEqual(charge);
});

it('an attempt keeps the charge of a receipt that comes after the chain has moved on', () => {
  const message = onItsWay({ state: 'timed-out', endedAt: NOW });
  const movedOn = { ...message, attempts: [...message.attempts, anAttempt({ channel: 'sms' })] };
  expect(chargeOf(play(movedOn, receipt('sent', EXPECTED)))).toEqual(EXPECTED);
});

it('a charge changes no effect of a receipt, so that the customer pays the same', () => {
  const effects = (given: DeliveryReceipt) =>
    advance(onItsWay(), arrived(given), NOW).effects.map((effect) => inWords(effect, NOW));
  expect(effects(receipt('delivered', ACTUAL))).toEqual(effects(receipt('delivered')));
  expect(play(onItsWay(), receipt('delivered', ACTUAL)).cost).toBe(onItsWay().cost);
});
