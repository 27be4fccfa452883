import { describe, expect, it, test } from 'vitest';
import type { ChainEvent } from '../../../src/domain/chain/chain-event.ts';
import { advance } from '../../../src/domain/chain/fallback-chain.ts';
import { receiptWindowMs } from '../../../src/domain/chain/receipt-window.ts';
import {
  aCode,
  aMessage,
  anAttempt,
  aTemplateContent,
  aText,
  MINUTE_MS,
  NOW,
  SECOND_MS,
} from '../../support/builders.ts';
import {
  ATTEMPT_TIMEOUT,
  CANNOT,
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
  deadline,
  receiptArrived,
  receiptFailed,
  rejected,
  start,
  unknown,
} from '../../support/chain-words.ts';

describe('one channel', () => {
  it('delivers over the only channel', () => {
    const message = play(toSms, [
      STARTED,
      [accepted(0, 'provider-1'), ['sent sms']],
      [receiptArrived(0, 'delivered'), ['finally delivered sms', 'capture for sms', 'unschedule 0']],
    ]);
    expect(message).toMatchObject({
      status: 'delivered',
      isFinal: true,
      sentAt: NOW + SECOND_MS,
      finalAt: NOW + 2 * SECOND_MS,
      errorReason: null,
      content: aCode('******'),
      attempts: [
        {
          channel: 'sms',
          state: 'delivered',
          providerMessageIds: ['provider-1'],
          startedAt: NOW,
          endedAt: NOW + 2 * SECOND_MS,
        },
      ],
    });
  });

  it('begins with an attempt that no provider knows yet', () => {
    const message = play(toSms, [STARTED]);
    expect(message.attempts).toEqual([
      {
        channel: 'sms',
        state: 'dispatching',
        reason: null,
        providerMessageIds: [],
        deliveredIds: [],
        startedAt: NOW,
        endedAt: null,
      },
    ]);
  });

  it.each([
    ['took it', accepted(0, 'provider-1')],
    ['rejected it', rejected(0, 'No route')],
    ['gave no clear result', unknown(0, 'Silence')],
  ])('names the provider that %s, and keeps its name', (_, event) => {
    const started = advance(toSms, start(0), NOW).message;
    const named = advance(started, { ...event, provider: 'smsc' } as ChainEvent, NOW).message;
    expect(named.attempts[0]?.provider).toBe('smsc');
    expect(advance(named, accepted(0, 'provider-2'), NOW).message.attempts[0]?.provider).toBe('smsc');
    expect(advance(started, event, NOW).message.attempts[0]).not.toHaveProperty('provider');
  });

  it('keeps its provider message ids when a receipt names none', () => {
    const message = play(toSms, [
      STARTED,
      [accepted(0, 'part-1', 'part-2'), ['sent sms']],
      [receiptArrived(0, 'sent'), []],
    ]);
    expect(message.attempts[0]?.providerMessageIds).toEqual(['part-1', 'part-2']);
  });

  it('has no provider message id when a receipt comes before the submit result', () => {
    const message = play(toSms, [STARTED, [receiptArrived(0, 'sent'), ['sent sms']]]);
    expect(message.attempts[0]?.providerMessageIds).toEqual([]);
  });

  it('fails when the only channel rejects the message', () => {
    const message = play(toSms, [
      STARTED,
      [rejected(0, 'No route'), ['unschedule 0', 'finally failed sms: No route', 'release']],
    ]);
    expect(message).toMatchObject({ status: 'failed', isFinal: true, sentAt: null, errorReason: 'No route' });
    expect(message.content).toEqual(aCode('******'));
  });

  it('receipts failed after it took the message', () => {
    const message = play(toSms, [
      STARTED,
      SMS_TAKEN,
      [receiptFailed(0, 'Absent'), ['unschedule 0', 'finally failed sms: Absent', 'release']],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: 'Absent', sentAt: NOW + SECOND_MS });
  });

  it('took it and stays silent: sent is the final word, and it is charged', () => {
    const message = play(toSms, [
      STARTED,
      SMS_TAKEN,
      [deadline(0), [`deadline 0 in ${DAY_MS - ATTEMPT_TIMEOUT}`], ATTEMPT_TIMEOUT],
      [deadline(0), ['deadline 0 in 1000'], DAY_MS - 1],
      [deadline(0), ['finally sent sms', 'capture for sms'], DAY_MS],
      [receiptArrived(0, 'delivered'), []],
      [receiptFailed(0, 'Too late'), []],
    ]);
    expect(message).toMatchObject({ status: 'sent', isFinal: true, errorReason: null });
    expect(message.content).toEqual(aCode('******'));
  });

  it('fails when the only channel never gives a submit result', () => {
    const message = play(toSms, [
      STARTED,
      [deadline(0), ['unschedule 0', `finally failed sms: ${SILENCE}`, 'release']],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: SILENCE });
  });

  it('results unclearly and stays silent', () => {
    play(toSms, [
      STARTED,
      [unknown(0, 'Timed out'), []],
      [deadline(0), ['unschedule 0', 'finally failed sms: Timed out', 'release']],
    ]);
  });

  it('results unclearly, then receipts', () => {
    const message = play(toSms, [
      STARTED,
      [unknown(0, 'Timed out'), []],
      [
        receiptArrived(0, 'delivered'),
        ['sent sms', 'finally delivered sms', 'capture for sms', 'unschedule 0'],
      ],
    ]);
    expect(message).toMatchObject({ status: 'delivered', sentAt: NOW + 2 * SECOND_MS });
    expect(message.attempts[0]).toMatchObject({ state: 'delivered', reason: null });
  });

  it('closes the report window of a channel that has more time than that for its attempt', () => {
    const patient = aMessage({ channels: ['sms'], attemptTimeoutMs: 3 * DAY_MS });
    const message = play(patient, [
      [start(0), [`deadline 0 in ${3 * DAY_MS}`, 'submit 0']],
      [accepted(0), ['sent sms', `deadline 0 in ${DAY_MS - SECOND_MS}`]],
      [receiptArrived(0, 'sent'), []],
      [deadline(0), ['finally sent sms', 'capture for sms'], DAY_MS],
    ]);
    expect(message).toMatchObject({ status: 'sent', isFinal: true });
    play(aMessage({ channels: ['sms', 'whatsapp'], attemptTimeoutMs: 3 * DAY_MS }), [
      [start(0), [`deadline 0 in ${3 * DAY_MS}`, 'submit 0']],
      [accepted(0), ['sent sms']],
    ]);
    play(aMessage({ channels: ['sms'], attemptTimeoutMs: DAY_MS }), [
      [start(0), [`deadline 0 in ${DAY_MS}`, 'submit 0']],
      [accepted(0), ['sent sms']],
    ]);
  });

  it('results unclearly, then says that it took the message', () => {
    play(toSms, [
      STARTED,
      [unknown(0, 'Timed out'), []],
      [receiptArrived(0, 'sent'), ['sent sms']],
      [deadline(0), ['finally sent sms', 'capture for sms'], DAY_MS],
    ]);
  });

  it('receipts before it results', () => {
    play(toSms, [
      STARTED,
      [
        receiptArrived(0, 'delivered'),
        ['sent sms', 'finally delivered sms', 'capture for sms', 'unschedule 0'],
      ],
      [accepted(0), []],
    ]);
  });

  it('waits a day for a receipt over sms and telegram, three over whatsapp', () => {
    expect(receiptWindowMs('sms')).toBe(DAY_MS);
    expect(receiptWindowMs('telegram')).toBe(DAY_MS);
    expect(receiptWindowMs('whatsapp')).toBe(3 * DAY_MS);
    play(aMessage({ channels: ['whatsapp'] }), [
      STARTED,
      [accepted(0), ['sent whatsapp']],
      [deadline(0), [`deadline 0 in ${DAY_MS}`], 2 * DAY_MS],
      [deadline(0), ['finally sent whatsapp', 'capture for whatsapp'], 3 * DAY_MS],
    ]);
  });

  it('waits ten minutes more, and once, when the wait for a receipt ends late: an outage kept receipts back', () => {
    const late = DAY_MS + 1_000;
    const TEN_MINUTES_MS = 600_000;
    const waiting: readonly Scene[] = [
      STARTED,
      [accepted(0), ['sent sms']],
      [deadline(0), [`deadline 0 in ${TEN_MINUTES_MS}`], late],
    ];
    play(toSms, [
      ...waiting,
      [receiptFailed(0, 'Absent'), ['unschedule 0', 'finally failed sms: Absent', 'release']],
    ]);
    const end = late + TEN_MINUTES_MS;
    play(toSms, [...waiting, [deadline(0), ['finally sent sms', 'capture for sms'], end]]);
    play(toSms, [...waiting, [deadline(0), ['finally sent sms', 'capture for sms'], end + DAY_MS]]);
  });

  it('ends the wait for a receipt at once when that comes in time', () => {
    play(toSms, [
      STARTED,
      [accepted(0), ['sent sms']],
      [deadline(0), ['finally sent sms', 'capture for sms'], DAY_MS + 999],
    ]);
  });

  it('waits for the result as long as the message says', () => {
    play(aMessage({ channels: ['sms'], content: aText(), attemptTimeoutMs: 5 * MINUTE_MS }), [
      [start(0), [`deadline 0 in ${5 * MINUTE_MS}`, 'submit 0']],
    ]);
  });
});

describe('moving on', () => {
  const moved = ['unschedule 0', 'start 1'];

  test.each<[string, readonly Scene[], reason: string]>([
    ['rejected', [[rejected(0, 'Not on whatsapp'), moved]], 'Not on whatsapp'],
    ['silent before an result', [[deadline(0), moved]], SILENCE],
    [
      'took it, no receipt',
      [
        [accepted(0), ['sent whatsapp']],
        [deadline(0), moved],
      ],
      SILENCE,
    ],
    [
      'took it, then failed',
      [
        [accepted(0), ['sent whatsapp']],
        [receiptFailed(0, 'Spam'), moved],
      ],
      'Spam',
    ],
    [
      'unclear, then silent',
      [
        [unknown(0, 'Cut off'), []],
        [deadline(0), moved],
      ],
      'Cut off',
    ],
    [
      'failed before a submit result',
      [
        [receiptFailed(0, 'Spam'), moved],
        [rejected(0, 'Spam'), []],
      ],
      'Spam',
    ],
  ])('states the reason of a failed chain: %s', (_, scenes, reason) => {
    const message = play(toWhatsappThenSms, [STARTED, ...scenes, SECOND_STARTED]);
    expect(message).toMatchObject({ isFinal: false, errorReason: reason });
    expect(message.attempts.map(({ channel }) => channel)).toEqual(['whatsapp', 'sms']);
  });

  it('says sent once for the whole chain', () => {
    const message = play(toWhatsappThenSms, [
      STARTED,
      [accepted(0), ['sent whatsapp']],
      [deadline(0), moved],
      SECOND_STARTED,
      [accepted(1), []],
      [receiptArrived(1, 'delivered'), ['finally delivered sms', 'capture for sms', 'unschedule 1']],
    ]);
    expect(message).toMatchObject({ status: 'delivered', sentAt: NOW + SECOND_MS, errorReason: SILENCE });
  });

  it('fails when the last channel does, with its reason', () => {
    const message = play(toWhatsappThenSms, [
      STARTED,
      [rejected(0, 'Not on whatsapp'), moved],
      SECOND_STARTED,
      [rejected(1, 'No route'), ['unschedule 1', 'finally failed sms: No route', 'release']],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: 'No route' });
  });

  it('does not go on when a rejection ends the chain', () => {
    const message = play(toWhatsappThenSms, [
      STARTED,
      [rejected(0, 'Blocked', true), ['unschedule 0', 'finally failed whatsapp: Blocked', 'release']],
      [start(1), []],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: 'Blocked' });
    expect(message.attempts).toHaveLength(1);
  });

  it('skips a channel that cannot carry the code', () => {
    const message = play({ ...toAll, content: aCode('AB12') }, [
      STARTED,
      [rejected(0, 'Not on whatsapp'), moved],
      [start(1), ['unschedule 1', 'start 2']],
      [start(2), [`deadline 2 in ${ATTEMPT_TIMEOUT}`, 'submit 2']],
    ]);
    expect(message.errorReason).toBe('Not on whatsapp');
    expect(message.attempts[1]).toMatchObject({
      state: 'skipped',
      reason: CANNOT,
      endedAt: NOW + 2 * SECOND_MS,
    });
  });

  it('gives a template its whole window when no later channel can carry it', () => {
    const message = play(aMessage({ channels: ['whatsapp', 'sms'], content: aTemplateContent() }), [
      STARTED,
      [accepted(0), ['sent whatsapp']],
      [deadline(0), [`deadline 0 in ${3 * DAY_MS - ATTEMPT_TIMEOUT}`], ATTEMPT_TIMEOUT],
      [deadline(0), ['finally sent whatsapp', 'capture for whatsapp'], 3 * DAY_MS],
    ]);
    expect(message).toMatchObject({ status: 'sent', isFinal: true });
  });

  it('fails a rejected template for the reason of the channel that was tried', () => {
    const message = play(aMessage({ channels: ['whatsapp', 'sms'], content: aTemplateContent() }), [
      STARTED,
      [rejected(0, 'Not on whatsapp'), moved],
      [start(1), ['unschedule 1', 'finally failed whatsapp: Not on whatsapp', 'release']],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: 'Not on whatsapp' });
    expect(message.attempts[1]).toMatchObject({ channel: 'sms', state: 'skipped', reason: CANNOT });
  });

  it('fails for the reason of the last one tried, whatever was left out behind it', () => {
    const message = play(
      aMessage({ channels: ['whatsapp', 'telegram', 'sms'], content: aTemplateContent() }),
      [
        STARTED,
        [deadline(0), moved],
        [start(1), ['unschedule 1', 'start 2']],
        [start(2), ['unschedule 2', `finally failed whatsapp: ${SILENCE}`, 'release']],
      ],
    );
    expect(message.errorReason).toBe(SILENCE);
  });

  it('fails for the reason of the second channel when the first two were tried and the third was left out', () => {
    const message = play(aMessage({ channels: ['whatsapp', 'sms', 'telegram'], content: aText() }), [
      STARTED,
      [rejected(0, 'Not on whatsapp'), moved],
      SECOND_STARTED,
      [rejected(1, 'No route'), ['unschedule 1', 'start 2']],
      [start(2), ['unschedule 2', 'finally failed sms: No route', 'release']],
    ]);
    expect(message.errorReason).toBe('No route');
  });

  it('does not start an attempt behind the last channel', () => {
    const over = aMessage({ channels: ['sms'], attempts: [anAttempt({ channel: 'sms', state: 'failed' })] });
    expect(play(over, [[start(1), []]])).toEqual(over);
  });

  it('says that no channel can carry the message when none was tried', () => {
    const message = play(aMessage({ channels: ['telegram', 'sms'], content: aTemplateContent() }), [
      [start(0), ['unschedule 0', 'start 1']],
      [start(1), ['unschedule 1', `finally failed telegram: ${CANNOT}`, 'release']],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: CANNOT });
  });
});
