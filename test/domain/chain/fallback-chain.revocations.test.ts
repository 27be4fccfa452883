import { describe, expect, it } from 'vitest';
import { isGivenUp } from '../../../src/domain/chain/chain-outcome.ts';
import { advance } from '../../../src/domain/chain/fallback-chain.ts';
import { aMessage, anAttempt, aTemplateContent, NOW } from '../../support/builders.ts';
import {
  DAY_MS,
  play,
  SECOND_STARTED,
  SILENCE,
  STARTED,
  toSms,
  toWhatsappThenSms,
} from '../../support/chain-scenes.ts';
import {
  accepted,
  deadline,
  receiptArrived,
  receiptFailed,
  rejected,
  unknown,
} from '../../support/chain-words.ts';

const moved = ['unschedule 0', 'start 1'];

describe('what a fallback chain revokes', () => {
  it('a channel that took the message and brought no receipt in time is revoked when the chain goes on', () => {
    play(toWhatsappThenSms, [
      STARTED,
      [accepted(0, 'wa-1'), ['sent whatsapp']],
      [deadline(0), [...moved, 'revoke 0']],
      SECOND_STARTED,
    ]);
  });

  it('an unclear submission of the last channel that named an id is revoked when the message fails', () => {
    play(toSms, [
      STARTED,
      [unknown(0, 'Cut off', 'part-1'), []],
      [deadline(0), ['unschedule 0', 'finally failed sms: Cut off', 'release', 'revoke 0']],
    ]);
  });

  it('a submission without an id cannot be revoked in time', () => {
    play(toWhatsappThenSms, [STARTED, [accepted(0), ['sent whatsapp']], [deadline(0), moved]]);
    play(toWhatsappThenSms, [STARTED, [unknown(0, 'Cut off'), []], [deadline(0), moved]]);
    play(toWhatsappThenSms, [STARTED, [deadline(0), moved]]);
  });

  it('a submission that is accepted after its time is revoked then', () => {
    play(toWhatsappThenSms, [
      STARTED,
      [deadline(0), moved],
      [accepted(0, 'late'), ['sent whatsapp', 'revoke 0']],
      SECOND_STARTED,
    ]);
  });

  it('a submission that is accepted after the message failed or was delivered elsewhere is revoked', () => {
    play(toSms, [
      STARTED,
      [deadline(0), ['unschedule 0', `finally failed sms: ${SILENCE}`, 'release']],
      [accepted(0, 'late'), ['revoke 0']],
    ]);
    play(toWhatsappThenSms, [
      STARTED,
      [deadline(0), moved],
      SECOND_STARTED,
      [
        receiptArrived(1, 'delivered'),
        ['sent sms', 'finally delivered sms', 'capture for sms', 'unschedule 1'],
      ],
      [accepted(0, 'late'), ['revoke 0']],
    ]);
  });

  it('an unclear result that names an id after the time of its attempt revokes it', () => {
    play(toWhatsappThenSms, [
      STARTED,
      [unknown(0, 'No response'), []],
      [deadline(0), moved],
      [unknown(0, 'Cut off', 'late'), ['revoke 0']],
    ]);
  });

  it('a late result without an id, or of a rejection, revokes nothing', () => {
    const timedOut = [STARTED, [deadline(0), moved]] as const;
    play(toWhatsappThenSms, [...timedOut, [accepted(0), ['sent whatsapp']]]);
    play(toWhatsappThenSms, [...timedOut, [unknown(0, 'Cut off'), []]]);
    play(toWhatsappThenSms, [...timedOut, [rejected(0, 'Not on whatsapp'), []]]);
  });

  it('a receipt of a submission that timed out revokes nothing a second time', () => {
    const message = play(toWhatsappThenSms, [
      STARTED,
      [accepted(0, 'wa-1'), ['sent whatsapp']],
      [deadline(0), [...moved, 'revoke 0']],
      [receiptArrived(0, 'sent', 'wa-1'), []],
      [receiptFailed(0, 'Revoked', 'wa-1'), []],
      [accepted(0, 'wa-1'), []],
    ]);
    expect(message.attempts[0]).toMatchObject({ state: 'failed', reason: 'Revoked' });
  });

  it('a submission that was delivered late is not revoked when its result comes', () => {
    play(toWhatsappThenSms, [
      STARTED,
      [deadline(0), moved],
      [
        receiptArrived(0, 'delivered', 'wa-1'),
        [
          'sent whatsapp',
          'finally delivered whatsapp',
          'capture for whatsapp',
          'unschedule 0',
          'unschedule 1',
        ],
      ],
      [accepted(0, 'wa-1'), []],
    ]);
  });

  it('an attempt that is on its way is revoked when an older one was delivered late', () => {
    const lateDelivery = [
      'finally delivered whatsapp',
      'capture for whatsapp',
      'unschedule 1',
      'revoke 1',
    ] as const;
    const secondOnItsWay = [
      STARTED,
      [accepted(0, 'wa-1'), ['sent whatsapp']],
      [deadline(0), [...moved, 'revoke 0']],
      SECOND_STARTED,
    ] as const;
    play(toWhatsappThenSms, [
      ...secondOnItsWay,
      [accepted(1, 'sms-1'), []],
      [receiptArrived(0, 'delivered', 'wa-1'), lateDelivery],
    ]);
    play(toWhatsappThenSms, [
      ...secondOnItsWay,
      [unknown(1, 'Cut off', 'sms-1'), []],
      [receiptArrived(0, 'delivered', 'wa-1'), lateDelivery],
    ]);
  });

  it('an attempt without an id is revoked when its result comes after an older one was delivered', () => {
    const delivered = [
      STARTED,
      [accepted(0, 'wa-1'), ['sent whatsapp']],
      [deadline(0), [...moved, 'revoke 0']],
      SECOND_STARTED,
      [
        receiptArrived(0, 'delivered', 'wa-1'),
        ['finally delivered whatsapp', 'capture for whatsapp', 'unschedule 1'],
      ],
    ] as const;
    play(toWhatsappThenSms, [...delivered, [accepted(1, 'sms-1'), ['revoke 1']]]);
    play(toWhatsappThenSms, [...delivered, [unknown(1, 'Cut off', 'sms-1'), ['revoke 1']]]);
    play(toWhatsappThenSms, [...delivered, [rejected(1, 'Bad number'), []]]);
  });

  it('a later attempt that failed is not revoked when an older one was delivered late', () => {
    play(aMessage({ channels: ['whatsapp', 'telegram', 'sms'] }), [
      STARTED,
      [accepted(0, 'wa-1'), ['sent whatsapp']],
      [deadline(0), [...moved, 'revoke 0']],
      SECOND_STARTED,
      [rejected(1, 'Not on telegram'), ['unschedule 1', 'start 2']],
      [
        receiptArrived(0, 'delivered', 'wa-1'),
        ['finally delivered whatsapp', 'capture for whatsapp', 'unschedule 1', 'unschedule 2'],
      ],
    ]);
  });

  it('a channel that failed or rejected the message is not revoked', () => {
    play(toWhatsappThenSms, [
      STARTED,
      [accepted(0, 'wa-1'), ['sent whatsapp']],
      [receiptFailed(0, 'Spam', 'wa-1'), moved],
    ]);
    play(toWhatsappThenSms, [STARTED, [rejected(0, 'Not on whatsapp'), moved]]);
  });

  it('the last channel that took the message stays sent at the end of its window, and is not revoked', () => {
    play(aMessage({ channels: ['whatsapp', 'sms'], content: aTemplateContent() }), [
      STARTED,
      [accepted(0, 'wa-1'), ['sent whatsapp']],
      [deadline(0), ['finally sent whatsapp', 'capture for whatsapp'], 3 * DAY_MS],
    ]);
  });
});

describe('an attempt that the chain has given up', () => {
  const onItsWay = anAttempt({ channel: 'sms', state: 'accepted' });
  const final = (status: 'sent' | 'delivered' | 'failed', ...states: ('delivered' | 'read' | 'rejected')[]) =>
    aMessage({
      status,
      isFinal: true,
      attempts: [...states.map((state) => anAttempt({ state })), onItsWay],
    });

  it('an attempt that timed out is given up, whatever became of its message', () => {
    const attempts = [anAttempt({ state: 'timed-out' })];
    expect(isGivenUp(aMessage({ attempts }), 0)).toBe(true);
    expect(isGivenUp(aMessage({ attempts, isFinal: true, status: 'failed' }), 0)).toBe(true);
  });

  it('an attempt on its way is given up once its message was delivered or read on another channel', () => {
    expect(isGivenUp(final('delivered', 'delivered'), 1)).toBe(true);
    expect(isGivenUp(final('delivered', 'read'), 1)).toBe(true);
  });

  it('an attempt on its way is not given up when no channel delivered its message', () => {
    expect(isGivenUp(final('sent'), 0)).toBe(false);
    expect(isGivenUp(final('sent', 'rejected'), 1)).toBe(false);
    expect(isGivenUp(aMessage({ status: 'sent', attempts: [onItsWay] }), 0)).toBe(false);
  });

  it('an attempt that has ended otherwise, or does not exist, is not given up', () => {
    expect(isGivenUp(final('delivered', 'delivered'), 0)).toBe(false);
    expect(isGivenUp(final('delivered', 'rejected', 'delivered'), 0)).toBe(false);
    expect(isGivenUp(aMessage(), 0)).toBe(false);
  });
});

it('a message is the same one after a receipt that changes nothing', () => {
  const message = aMessage({
    status: 'delivered',
    isFinal: true,
    attempts: [anAttempt({ state: 'delivered', providerMessageIds: ['wa-1'], deliveredIds: ['wa-1'] })],
  });
  const { message: afterwards, effects } = advance(message, receiptFailed(0, 'Too late', 'wa-1'), NOW);
  expect(afterwards).toBe(message);
  expect(effects).toEqual([]);
});
