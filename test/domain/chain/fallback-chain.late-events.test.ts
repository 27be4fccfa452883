import { describe, expect, it, test } from 'vitest';
import { WINDOW_GRACE_MS } from '../../../src/domain/chain/attempt-deadline.ts';
import type { ChainEvent } from '../../../src/domain/chain/chain-event.ts';
import { advance } from '../../../src/domain/chain/fallback-chain.ts';
import type { Content } from '../../../src/domain/messages/send-request.ts';
import { aMessage, anId, aText, NOW, SECOND_MS } from '../../support/builders.ts';
import {
  ATTEMPT_TIMEOUT,
  DAY_MS,
  play,
  type Scene,
  SECOND_STARTED,
  SILENCE,
  SMS_TAKEN,
  STARTED,
  toAll,
  toSms,
  toWhatsappThenSms,
} from '../../support/chain-scenes.ts';
import {
  accepted,
  busy,
  deadline,
  receiptArrived,
  receiptFailed,
  rejected,
  start,
  unknown,
} from '../../support/chain-words.ts';

describe('late, doubled and reversed events', () => {
  const movedOn: readonly Scene[] = [STARTED, [deadline(0), ['unschedule 0', 'start 1']]];

  it('an earlier channel delivers while the next one waits to start', () => {
    const message = play(toAll, [
      ...movedOn,
      [
        receiptArrived(0, 'delivered'),
        [
          'sent whatsapp',
          'finally delivered whatsapp',
          'capture for whatsapp',
          'unschedule 0',
          'unschedule 1',
        ],
      ],
      [start(1), []],
    ]);
    expect(message.attempts).toHaveLength(1);
  });

  it('an earlier channel delivers while the next one works: charged once, for the first', () => {
    const message = play(toAll, [
      ...movedOn,
      SECOND_STARTED,
      [
        receiptArrived(0, 'delivered'),
        [
          'sent whatsapp',
          'finally delivered whatsapp',
          'capture for whatsapp',
          'unschedule 1',
          'unschedule 2',
        ],
      ],
      [accepted(1), []],
      [receiptArrived(1, 'delivered'), []],
      [deadline(1), []],
      [start(2), []],
    ]);
    expect(message.attempts.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });

  it('the last channel says again that it took the message: its window stays where it was', () => {
    play(toSms, [STARTED, SMS_TAKEN, [receiptArrived(0, 'sent'), []], [accepted(0), []]]);
  });

  it('replaces the control characters of a provider', () => {
    const message = play(toSms, [
      STARTED,
      [receiptFailed(0, 'no\u0000 route\n'), ['unschedule 0', 'finally failed sms: no  route ', 'release']],
    ]);
    expect(message.errorReason).toBe('no  route ');
  });

  it('what a receipt quotes of the message is masked, and what one says after the end is not kept', () => {
    const { verificationCode } = toSms.content as Extract<Content, { smsType: 'verification' }>;
    const quoted = play(toSms, [
      STARTED,
      [
        receiptFailed(0, `Spam: ${verificationCode} to ${toSms.phoneNumber}`),
        ['unschedule 0', 'finally failed sms: Spam: *** to ***', 'release'],
      ],
    ]);
    expect(quoted.attempts[0]?.reason).toBe('Spam: *** to ***');
    const late = play(toSms, [
      STARTED,
      [deadline(0), ['unschedule 0', `finally failed sms: ${SILENCE}`, 'release']],
      [receiptFailed(0, `Spam: ${verificationCode}`), []],
    ]);
    expect(late.attempts[0]).toMatchObject({
      state: 'failed',
      reason: 'The provider reported a failure after the message was final',
    });
  });

  it('a submit result of the last channel after the end schedules nothing', () => {
    play(toWhatsappThenSms, [
      ...movedOn,
      SECOND_STARTED,
      [
        receiptArrived(0, 'delivered'),
        ['sent whatsapp', 'finally delivered whatsapp', 'capture for whatsapp', 'unschedule 1'],
      ],
      [accepted(1), []],
    ]);
  });

  it('a rejection of the last channel after the end fails nothing', () => {
    const message = play(toWhatsappThenSms, [
      ...movedOn,
      SECOND_STARTED,
      [
        receiptArrived(0, 'delivered'),
        ['sent whatsapp', 'finally delivered whatsapp', 'capture for whatsapp', 'unschedule 1'],
      ],
      [rejected(1, 'No route'), []],
    ]);
    expect(message).toMatchObject({ status: 'delivered', errorReason: SILENCE });
  });

  it('neither a deadline nor a failed receipt undoes a final sent', () => {
    const message = play(toWhatsappThenSms, [
      ...movedOn,
      SECOND_STARTED,
      [accepted(1), ['sent sms']],
      [deadline(1), [`deadline 1 in ${WINDOW_GRACE_MS}`], 2 * DAY_MS],
      [deadline(1), ['finally sent sms', 'capture for sms'], 2 * DAY_MS + WINDOW_GRACE_MS],
      [deadline(1), []],
      [receiptFailed(1, 'Absent'), []],
    ]);
    expect(message).toMatchObject({ status: 'sent', isFinal: true, errorReason: SILENCE });
  });

  it('an earlier channel takes the message late', () => {
    const message = play(toWhatsappThenSms, [
      ...movedOn,
      [accepted(0, 'late'), ['sent whatsapp', 'revoke 0']],
      SECOND_STARTED,
    ]);
    expect(message.attempts[0]).toMatchObject({ state: 'timed-out', providerMessageIds: ['late'] });
  });

  it('does not schedule the next channel again when the one that timed out fails before that starts', () => {
    const message = play(toWhatsappThenSms, [...movedOn, [receiptFailed(0, 'Spam'), []]]);
    expect(message.attempts[0]).toMatchObject({ state: 'failed', reason: 'Spam' });
    expect(message.errorReason).toBe(SILENCE);
  });

  it('does not raise a delivered message to read for the receipt of another channel', () => {
    const message = play(toWhatsappThenSms, [
      ...movedOn,
      SECOND_STARTED,
      [
        receiptArrived(1, 'delivered'),
        ['sent sms', 'finally delivered sms', 'capture for sms', 'unschedule 1'],
      ],
      [receiptArrived(0, 'read'), []],
    ]);
    expect(message.status).toBe('delivered');
    expect(message.attempts.map(({ state }) => state)).toEqual(['read', 'delivered']);
  });

  it('an earlier channel fails late', () => {
    const message = play(toWhatsappThenSms, [...movedOn, SECOND_STARTED, [receiptFailed(0, 'Spam'), []]]);
    expect(message.attempts[0]).toMatchObject({ state: 'failed', reason: 'Spam' });
    expect(message.isFinal).toBe(false);
  });

  it('a success after the refund stays in the trace and is not charged', () => {
    const message = play(toSms, [
      STARTED,
      [deadline(0), ['unschedule 0', `finally failed sms: ${SILENCE}`, 'release']],
      [receiptArrived(0, 'delivered'), []],
      [receiptArrived(0, 'read'), []],
    ]);
    expect(message).toMatchObject({ status: 'failed', isFinal: true });
    expect(message.attempts[0]).toMatchObject({ state: 'delivered' });
  });

  it('receipts come twice', () => {
    play(toSms, [
      STARTED,
      SMS_TAKEN,
      [receiptArrived(0, 'delivered'), ['finally delivered sms', 'capture for sms', 'unschedule 0']],
      [receiptArrived(0, 'delivered'), []],
    ]);
  });

  it('receipts come in reverse order', () => {
    const message = play(aMessage({ channels: ['whatsapp'] }), [
      STARTED,
      [
        receiptArrived(0, 'read'),
        ['sent whatsapp', 'finally delivered whatsapp', 'capture for whatsapp', 'unschedule 0'],
      ],
      [receiptArrived(0, 'delivered'), []],
      [receiptArrived(0, 'sent'), []],
      [accepted(0), []],
      [receiptFailed(0, 'x'), []],
    ]);
    expect(message).toMatchObject({ status: 'read', attempts: [{ state: 'read' }] });
  });

  it('read after delivered raises the status and tells nobody', () => {
    const delivered: readonly Scene[] = [
      STARTED,
      [
        receiptArrived(0, 'delivered'),
        ['sent whatsapp', 'finally delivered whatsapp', 'capture for whatsapp', 'unschedule 0'],
      ],
      [receiptArrived(0, 'read'), []],
    ];
    const message = play(aMessage({ channels: ['whatsapp'] }), delivered);
    expect(message).toMatchObject({
      status: 'read',
      finalAt: NOW + SECOND_MS,
      attempts: [{ state: 'read' }],
    });
  });

  it('an sms is never read', () => {
    const message = play(toSms, [
      STARTED,
      [receiptArrived(0, 'read'), ['sent sms', 'finally delivered sms', 'capture for sms', 'unschedule 0']],
      [receiptArrived(0, 'read'), []],
    ]);
    expect(message).toMatchObject({ status: 'delivered', attempts: [{ state: 'delivered' }] });
  });

  test.each<[string, ChainEvent]>([
    ['a second start', start(0)],
    ['a start that is not due yet', start(1)],
    ['a start beyond the chain', start(2)],
    ['a negative start', start(-1)],
    ['a deadline of a later attempt', deadline(1)],
    ['a submit result of a later attempt', accepted(1)],
    ['a receipt of a later attempt', receiptArrived(1, 'delivered')],
  ])('%s changes nothing while the first channel works', (_, event) => {
    const message = play(toWhatsappThenSms, [STARTED]);
    expect(advance(message, event, NOW)).toEqual({ message, effects: [] });
  });

  test.each<[string, ChainEvent]>([
    ['its start', start(0)],
    ['its deadline', deadline(0)],
    ['a rejection', rejected(0, 'x')],
    ['an unclear result', unknown(0, 'x')],
  ])('%s again changes nothing once the next channel works', (_, event) => {
    const message = play(toWhatsappThenSms, [...movedOn, SECOND_STARTED]);
    expect(advance(message, event, NOW)).toEqual({ message, effects: [] });
  });

  describe('a rejection after a result that was unclear', () => {
    const unclear: readonly Scene[] = [STARTED, [unknown(0, 'No response'), []]];

    it('a late rejection moves the chain on at once, and nothing more follows for its channel', () => {
      const message = play(toWhatsappThenSms, [
        ...unclear,
        [rejected(0, 'Not on whatsapp'), ['unschedule 0', 'start 1']],
        [rejected(0, 'Not on whatsapp'), []],
        [deadline(0), []],
        [start(1), [`deadline 1 in ${ATTEMPT_TIMEOUT}`, 'submit 1']],
      ]);
      expect(message.attempts[0]).toMatchObject({ state: 'rejected', reason: 'Not on whatsapp' });
    });

    it('a late rejection on the last channel fails the message once', () => {
      play(toSms, [
        ...unclear,
        [rejected(0, 'Barred'), ['unschedule 0', 'finally failed sms: Barred', 'release']],
        [rejected(0, 'Barred'), []],
        [deadline(0), []],
      ]);
    });

    it('a provider that says late that it was busy is not given the message again', () => {
      play(toSms, [...unclear, [busy(0), ['unschedule 0', 'finally failed sms: Busy', 'release']]]);
      const ofCampaign = { ...toSms, campaignId: anId(1) };
      play(ofCampaign, [...unclear, [busy(0), ['unschedule 0', 'finally failed sms: Busy', 'release']]]);
    });

    it('a late rejection changes nothing when ids show that the provider took a part', () => {
      const message = play(toWhatsappThenSms, [STARTED, [unknown(0, 'No response', 'part-1'), []]]);
      expect(advance(message, rejected(0, 'x'), NOW)).toEqual({ message, effects: [] });
    });

    it('a late rejection changes nothing once a receipt came or the time was over', () => {
      const received = play(toWhatsappThenSms, [...unclear, [receiptArrived(0, 'sent'), ['sent whatsapp']]]);
      expect(advance(received, rejected(0, 'x'), NOW)).toEqual({ message: received, effects: [] });
      const over = play(toWhatsappThenSms, [...unclear, [deadline(0), ['unschedule 0', 'start 1']]]);
      expect(advance(over, rejected(0, 'x'), NOW)).toEqual({ message: over, effects: [] });
    });
  });

  it('a rejection after the channel took the message changes nothing', () => {
    const message = play(toWhatsappThenSms, [STARTED, [accepted(0), ['sent whatsapp']]]);
    expect(advance(message, rejected(0, 'x'), NOW)).toEqual({ message, effects: [] });
    expect(advance(message, unknown(0, 'x'), NOW)).toEqual({ message, effects: [] });
  });

  test.each<ChainEvent>([
    accepted(1),
    receiptArrived(1, 'sent'),
    receiptArrived(1, 'delivered'),
    receiptFailed(1, 'x'),
    deadline(1),
  ])('ignores events of a skipped channel: %j', (event) => {
    const message = play({ ...toAll, content: aText() }, [
      STARTED,
      [rejected(0, 'Not on whatsapp'), ['unschedule 0', 'start 1']],
      [start(1), ['unschedule 1', 'start 2']],
    ]);
    expect(advance(message, event, NOW)).toEqual({ message, effects: [] });
  });
});
