import { describe, expect, it } from 'vitest';
import { aText } from '../../support/builders.ts';
import { CANNOT, play, STARTED, toAll, toSms, toWhatsappThenSms } from '../../support/chain-scenes.ts';
import {
  accepted,
  deadline,
  receiptArrived,
  receiptFailed,
  rejected,
  start,
  unknown,
} from '../../support/chain-words.ts';

describe('a message of several parts', () => {
  const taken = [accepted(0, 'part-1', 'part-2'), ['sent sms']] as const;

  it('delivers a message when every part is delivered, however often one part is reported', () => {
    const message = play(toSms, [
      STARTED,
      taken,
      [receiptArrived(0, 'delivered', 'part-2'), []],
      [receiptArrived(0, 'delivered', 'part-2'), []],
      [
        receiptArrived(0, 'delivered', 'part-1'),
        ['finally delivered sms', 'capture for sms', 'unschedule 0'],
      ],
    ]);
    expect(message.attempts[0]).toMatchObject({ state: 'delivered', deliveredIds: ['part-2', 'part-1'] });
  });

  it.each([
    ['before', [receiptFailed(0, 'Lost', 'part-2'), receiptArrived(0, 'delivered', 'part-1')]],
    ['after', [receiptArrived(0, 'delivered', 'part-1'), receiptFailed(0, 'Lost', 'part-2')]],
  ] as const)('fails when one part fails %s the other is delivered', (_, [first, second]) => {
    const failed = ['unschedule 0', 'finally failed sms: Lost', 'release'];
    const message = play(toSms, [
      STARTED,
      taken,
      [first, first.kind === 'receipt' && first.receipt.kind === 'failed' ? failed : []],
      [second, second.kind === 'receipt' && second.receipt.kind === 'failed' ? failed : []],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: 'Lost', attempts: [{ state: 'failed' }] });
  });

  it('marks a message as sent once one part is delivered, before the submit result is known', () => {
    const message = play(toSms, [
      STARTED,
      [unknown(0, 'No response', 'part-1', 'part-2'), []],
      [receiptArrived(0, 'delivered', 'part-1'), ['sent sms']],
    ]);
    expect(message.attempts[0]).toMatchObject({ state: 'accepted', deliveredIds: ['part-1'] });
  });

  it('does not deliver a message by one part when its ids came late, with an outcome that stayed unknown', () => {
    const message = play(toSms, [
      STARTED,
      [unknown(0, 'No response'), []],
      [unknown(0, 'Half of it was taken', 'part-1', 'part-2'), []],
      [receiptArrived(0, 'delivered', 'part-1'), ['sent sms']],
    ]);
    expect(message).toMatchObject({ status: 'sent', attempts: [{ reason: 'No response' }] });
  });

  it('does not deliver a message by one part when its ids came after its timeout', () => {
    const message = play(toWhatsappThenSms, [
      STARTED,
      [unknown(0, 'No response'), []],
      [deadline(0), ['unschedule 0', 'start 1']],
      [unknown(0, 'Half of it was taken', 'part-1', 'part-2'), ['revoke 0']],
      [receiptArrived(0, 'delivered', 'part-1'), ['sent whatsapp']],
    ]);
    expect(message).toMatchObject({ status: 'sent', attempts: [{ state: 'timed-out' }] });
  });

  it('stores each id of a submit result once', () => {
    const message = play(toSms, [STARTED, [accepted(0, 'same', 'same'), ['sent sms']]]);
    expect(message.attempts[0]?.providerMessageIds).toEqual(['same']);
  });

  it('does not deliver a message by a receipt of an id that is none of its parts', () => {
    const message = play(toSms, [STARTED, taken, [receiptArrived(0, 'delivered', 'part-3'), []]]);
    expect(message.status).toBe('sent');
  });
});

it('stores the ids of a submit result that comes after the outcome was unknown', () => {
  const message = play(toWhatsappThenSms, [
    STARTED,
    [unknown(0, 'No response'), []],
    [accepted(0, 'late'), ['sent whatsapp']],
  ]);
  expect(message.attempts[0]).toMatchObject({ state: 'accepted', providerMessageIds: ['late'] });
});

it('keeps the ids of an accepted attempt when an unknown result comes later, with other ids or without', () => {
  const message = play(toSms, [
    STARTED,
    [accepted(0, 'first'), ['sent sms']],
    [unknown(0, 'No response', 'other'), []],
    [unknown(0, 'No response'), []],
  ]);
  expect(message.attempts[0]).toMatchObject({
    state: 'accepted',
    reason: null,
    providerMessageIds: ['first'],
  });
});

it('fails with the reason of the last channel that was tried, not of one tried or skipped besides', () => {
  const text = { ...toAll, channels: ['whatsapp', 'sms', 'telegram'] as const, content: aText() };
  const message = play(text, [
    STARTED,
    [rejected(0, 'Not on whatsapp'), ['unschedule 0', 'start 1']],
    [start(1), ['deadline 1 in 30000', 'submit 1']],
    [rejected(1, 'Number is barred'), ['unschedule 1', 'start 2']],
    [start(2), ['unschedule 2', 'finally failed sms: Number is barred', 'release']],
  ]);
  expect(message.attempts.map(({ reason }) => reason)).toEqual([
    'Not on whatsapp',
    'Number is barred',
    CANNOT,
  ]);
  expect(message.errorReason).toBe('Number is barred');
});
