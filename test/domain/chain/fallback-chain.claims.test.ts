import { describe, expect, it } from 'vitest';
import type { ChainEvent } from '../../../src/domain/chain/chain-event.ts';
import { LONGEST_RECEIPT_WINDOW_MS } from '../../../src/domain/chain/receipt-window.ts';
import { aMessage } from '../../support/builders.ts';
import { ATTEMPT_TIMEOUT, play, type Scene, SILENCE, STARTED, toSms } from '../../support/chain-scenes.ts';
import {
  accepted,
  busy,
  claimed,
  deadline,
  receiptArrived,
  receiptFailed,
  rejected,
  start,
  unknown,
} from '../../support/chain-words.ts';

const ID = 'provider-1';
const of = (provider: string, event: ChainEvent): ChainEvent => ({ ...event, provider }) as ChainEvent;
const DELIVERED: Scene = [
  claimed(receiptArrived(0, 'delivered')),
  ['sent sms', 'finally delivered sms', 'capture for sms', 'unschedule 0'],
];
const FAILED = claimed(receiptFailed(0, 'Absent'));
const TIMED_OUT = ['unschedule 0', `finally failed sms: ${SILENCE}`, 'release'];

describe('a receipt that names its attempt, whose id no submit result has brought', () => {
  it('delivers the message before its submit result, however late and whatever that is', () => {
    for (const result of [accepted(0, ID), unknown(0, 'No response', ID), rejected(0, 'No'), busy(0)]) {
      const message = play(toSms, [
        STARTED,
        DELIVERED,
        [deadline(0), [], ATTEMPT_TIMEOUT],
        [of('first', result), []],
        [receiptArrived(0, 'delivered'), []],
      ]);
      expect(message).toMatchObject({
        status: 'delivered',
        attempts: [{ state: 'delivered', provider: 'first', deliveredIds: [ID] }],
      });
    }
  });

  it.each([
    ['no', []],
    ['its own', [[of('first', accepted(0, ID)), []]]],
  ] satisfies [string, Scene[]][])(
    'a delivery is kept under one id, however many it comes under, with %s id known',
    (_, known) => {
      const others = ['b', 'c', 'd'].map((id): Scene => [claimed(receiptArrived(0, 'delivered', id)), []]);
      const message = play(toSms, [STARTED, DELIVERED, ...known, ...others]);
      expect(message.attempts[0]?.deliveredIds).toHaveLength(1);
      expect(message.attempts[0]?.providerMessageIds.length).toBeLessThanOrEqual(1);
    },
  );

  it('delivers the message in the grace of its attempt, after its process has stopped', () => {
    const graceBegins = 2 * ATTEMPT_TIMEOUT;
    play(toSms, [
      STARTED,
      [deadline(0), ['deadline 0 in 6000'], graceBegins],
      [DELIVERED[0], DELIVERED[1], graceBegins + 1],
      [deadline(0), [], graceBegins + 6_000],
    ]);
  });

  it('delivers the message whose submit result was unknown, and brought no id', () => {
    play(toSms, [STARTED, [of('first', unknown(0, 'No response')), []], DELIVERED]);
  });

  it('says that the provider took the message, and a failure of it counts from then on', () => {
    const message = play(toSms, [
      STARTED,
      [claimed(receiptArrived(0, 'sent')), ['sent sms']],
      [FAILED, ['unschedule 0', 'finally failed sms: Absent', 'release']],
    ]);
    expect(message.attempts).toMatchObject([{ state: 'failed', provider: 'first' }]);
  });

  it('of failure does not count while another provider may have the message', () => {
    play(toSms, [
      STARTED,
      [FAILED, []],
      [of('second', accepted(0, 'second-1')), ['sent sms']],
      [FAILED, []],
      [
        receiptArrived(0, 'delivered', 'second-1'),
        ['finally delivered sms', 'capture for sms', 'unschedule 0'],
      ],
    ]);
  });

  it.each([
    ['took the message', of('second', accepted(0, 'second-1')), ['sent sms']],
    ['took it in an earlier version', accepted(0, 'second-1'), ['sent sms']],
    ['gave no clear result', of('second', unknown(0, 'No response')), []],
  ])('changes nothing when another provider %s', (_, result, effects) => {
    const before = play(toSms, [STARTED, [result, effects]]);
    for (const kind of ['sent', 'delivered', 'read'] as const) {
      expect(play(before, [[claimed(receiptArrived(0, kind)), []]])).toEqual(before);
    }
    expect(play(before, [[FAILED, []]])).toEqual(before);
  });

  it.each([
    [
      'took',
      accepted(0, 'of-another'),
      ['sent sms'],
      ['finally delivered sms', 'capture for sms', 'unschedule 0'],
    ],
    ['gave no clear result to', unknown(0, 'No response', 'of-another'), [], DELIVERED[1]],
  ])(
    'delivers, and never fails, a message that its provider %s under the id of another',
    (_, result, effects, delivered) => {
      const message = play(toSms, [
        STARTED,
        [of('first', result), effects],
        [FAILED, []],
        [DELIVERED[0], delivered],
      ]);
      expect(message).toMatchObject({
        status: 'delivered',
        attempts: [{ state: 'delivered', providerMessageIds: [ID], deliveredIds: [ID] }],
      });
    },
  );

  it('counts as ever when its id was recorded meanwhile', () => {
    play(toSms, [
      STARTED,
      [of('first', accepted(0, ID)), ['sent sms']],
      [FAILED, ['unschedule 0', 'finally failed sms: Absent', 'release']],
    ]);
  });

  it('delivers a message whose busy provider had taken it after all, and it is not tried again', () => {
    const message = play(toSms, [
      STARTED,
      [of('first', busy(0)), ['unschedule 0', 'start 0 in 500'], 500],
      DELIVERED,
      [start(0), []],
    ]);
    expect(message.status).toBe('delivered');
  });

  it('changes nothing of an attempt of another channel, or of one that does not exist', () => {
    const toTelegram = aMessage({ channels: ['telegram'] });
    const before = play(toTelegram, [STARTED]);
    expect(play(before, [[DELIVERED[0], []]])).toEqual(before);
    expect(play(toSms, [[DELIVERED[0], []]])).toEqual(toSms);
  });

  it('changes nothing when no attempt waits for a receipt any more', () => {
    const before = play(toSms, [
      STARTED,
      [unknown(0, SILENCE), []],
      [deadline(0), TIMED_OUT, ATTEMPT_TIMEOUT],
    ]);
    expect(play(before, [[DELIVERED[0], [], LONGEST_RECEIPT_WINDOW_MS]])).toEqual(before);
    const after = play(before, [[DELIVERED[0], [], LONGEST_RECEIPT_WINDOW_MS - 1]]);
    expect(after).toMatchObject({ status: 'failed', attempts: [{ state: 'delivered' }] });
  });
});
