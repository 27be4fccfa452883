import { describe, expect, it, test } from 'vitest';
import { advance, type ChainEvent, reportWindowMs } from '../../../src/domain/messages/fallback-chain.ts';
import type { Message } from '../../../src/domain/messages/message.ts';
import {
  aCode,
  aMessage,
  aTemplateContent,
  aText,
  HOUR_MS,
  MINUTE_MS,
  NOW,
  SECOND_MS,
} from '../../support/builders.ts';
import {
  accepted,
  deadline,
  inWords,
  refused,
  reported,
  reportedFailed,
  start,
  unknown,
} from '../../support/chain-words.ts';

type Scene = readonly [event: ChainEvent, effects: readonly string[]];

const STEP_TIMEOUT = 30 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
const SILENCE = 'No delivered report in time';
const CANNOT = 'The channel cannot carry this message';

/** Plays scenes a second apart, comparing the effects of each, and gives the message at the end. */
function play(message: Message, scenes: readonly Scene[]): Message {
  let current = message;
  scenes.forEach(([event, effects], index) => {
    const now = NOW + index * SECOND_MS;
    const outcome = advance(current, event, now);
    expect(
      outcome.effects.map((effect) => inWords(effect, now)),
      `scene ${index + 1}: ${JSON.stringify(event)}`,
    ).toEqual(effects);
    current = outcome.message;
  });
  return current;
}

const toSms = aMessage({ channels: ['sms'], prices: {} });
const toWhatsappThenSms = aMessage({ channels: ['whatsapp', 'sms'] });
const toAll = aMessage({ channels: ['whatsapp', 'telegram', 'sms'] });

const STARTED: Scene = [start(0), [`deadline 0 in ${STEP_TIMEOUT}`, 'submit 0']];
const SECOND_STARTED: Scene = [start(1), [`deadline 1 in ${STEP_TIMEOUT}`, 'submit 1']];
const SMS_TAKEN: Scene = [accepted(0), ['sent sms', `deadline 0 in ${DAY_MS}`]];

describe('one channel', () => {
  it('delivers', () => {
    const message = play(toSms, [
      STARTED,
      [accepted(0, 'carrier-1'), ['sent sms', `deadline 0 in ${DAY_MS}`]],
      [reported(0, 'delivered'), ['finally delivered sms', 'take for sms', 'unschedule 0']],
    ]);
    expect(message).toMatchObject({
      status: 'delivered',
      isFinal: true,
      sentAt: NOW + SECOND_MS,
      finalAt: NOW + 2 * SECOND_MS,
      errorReason: null,
      content: aCode('******'),
      steps: [
        {
          channel: 'sms',
          state: 'delivered',
          reference: 'carrier-1',
          startedAt: NOW,
          endedAt: NOW + 2 * SECOND_MS,
        },
      ],
    });
  });

  it('refuses', () => {
    const message = play(toSms, [
      STARTED,
      [refused(0, 'No route'), ['unschedule 0', 'finally failed sms: No route', 'give back']],
    ]);
    expect(message).toMatchObject({ status: 'failed', isFinal: true, sentAt: null, errorReason: 'No route' });
    expect(message.content).toEqual(aCode('******'));
  });

  it('reports failed after it took the message', () => {
    const message = play(toSms, [
      STARTED,
      SMS_TAKEN,
      [reportedFailed(0, 'Absent'), ['unschedule 0', 'finally failed sms: Absent', 'give back']],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: 'Absent', sentAt: NOW + SECOND_MS });
  });

  it('took it and stays silent: sent is the final word, and it is charged', () => {
    const message = play(toSms, [
      STARTED,
      SMS_TAKEN,
      [deadline(0), ['finally sent sms', 'take for sms']],
      [reported(0, 'delivered'), []],
      [reportedFailed(0, 'Too late'), []],
    ]);
    expect(message).toMatchObject({ status: 'sent', isFinal: true, errorReason: null });
    expect(message.content).toEqual(aCode('******'));
  });

  it('never answers', () => {
    const message = play(toSms, [
      STARTED,
      [deadline(0), ['unschedule 0', `finally failed sms: ${SILENCE}`, 'give back']],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: SILENCE });
  });

  it('answers unclearly and stays silent', () => {
    play(toSms, [
      STARTED,
      [unknown(0, 'Timed out'), []],
      [deadline(0), ['unschedule 0', 'finally failed sms: Timed out', 'give back']],
    ]);
  });

  it('answers unclearly, then reports', () => {
    const message = play(toSms, [
      STARTED,
      [unknown(0, 'Timed out'), []],
      [reported(0, 'delivered'), ['sent sms', 'finally delivered sms', 'take for sms', 'unschedule 0']],
    ]);
    expect(message).toMatchObject({ status: 'delivered', sentAt: NOW + 2 * SECOND_MS });
    expect(message.steps[0]).toMatchObject({ state: 'delivered', reason: null });
  });

  it('answers unclearly, then says that it took the message', () => {
    play(toSms, [
      STARTED,
      [unknown(0, 'Timed out'), []],
      [reported(0, 'sent'), ['sent sms', `deadline 0 in ${DAY_MS}`]],
      [deadline(0), ['finally sent sms', 'take for sms']],
    ]);
  });

  it('reports before it answers', () => {
    play(toSms, [
      STARTED,
      [reported(0, 'delivered'), ['sent sms', 'finally delivered sms', 'take for sms', 'unschedule 0']],
      [accepted(0), []],
    ]);
  });

  it('waits a day for a report over sms and telegram, three over whatsapp', () => {
    expect(reportWindowMs('sms')).toBe(DAY_MS);
    expect(reportWindowMs('telegram')).toBe(DAY_MS);
    expect(reportWindowMs('whatsapp')).toBe(3 * DAY_MS);
    play(aMessage({ channels: ['whatsapp'] }), [
      STARTED,
      [accepted(0), ['sent whatsapp', `deadline 0 in ${3 * DAY_MS}`]],
    ]);
  });

  it('waits for the answer as long as the message says', () => {
    play(aMessage({ channels: ['sms'], content: aText(), stepTimeoutMs: 5 * MINUTE_MS }), [
      [start(0), [`deadline 0 in ${5 * MINUTE_MS}`, 'submit 0']],
    ]);
  });
});

describe('moving on', () => {
  const moved = ['unschedule 0', 'start 1'];

  test.each<[string, readonly Scene[], reason: string]>([
    ['refused', [[refused(0, 'Not on whatsapp'), moved]], 'Not on whatsapp'],
    ['silent before an answer', [[deadline(0), moved]], SILENCE],
    [
      'took it, no report',
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
        [reportedFailed(0, 'Spam'), moved],
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
      'failed before an answer',
      [
        [reportedFailed(0, 'Spam'), moved],
        [refused(0, 'Spam'), []],
      ],
      'Spam',
    ],
  ])('%s', (_, scenes, reason) => {
    const message = play(toWhatsappThenSms, [STARTED, ...scenes, SECOND_STARTED]);
    expect(message).toMatchObject({ isFinal: false, errorReason: reason });
    expect(message.steps.map(({ channel }) => channel)).toEqual(['whatsapp', 'sms']);
  });

  it('says sent once for the whole chain', () => {
    const message = play(toWhatsappThenSms, [
      STARTED,
      [accepted(0), ['sent whatsapp']],
      [deadline(0), moved],
      SECOND_STARTED,
      [accepted(1), [`deadline 1 in ${DAY_MS}`]],
      [reported(1, 'delivered'), ['finally delivered sms', 'take for sms', 'unschedule 1']],
    ]);
    expect(message).toMatchObject({ status: 'delivered', sentAt: NOW + SECOND_MS, errorReason: SILENCE });
  });

  it('fails when the last channel does, with its reason', () => {
    const message = play(toWhatsappThenSms, [
      STARTED,
      [refused(0, 'Not on whatsapp'), moved],
      SECOND_STARTED,
      [refused(1, 'No route'), ['unschedule 1', 'finally failed sms: No route', 'give back']],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: 'No route' });
  });

  it('does not go on when a refusal ends the chain', () => {
    const message = play(toWhatsappThenSms, [
      STARTED,
      [refused(0, 'Blocked', true), ['unschedule 0', 'finally failed whatsapp: Blocked', 'give back']],
      [start(1), []],
    ]);
    expect(message).toMatchObject({ status: 'failed', errorReason: 'Blocked' });
    expect(message.steps).toHaveLength(1);
  });

  it('skips a channel that cannot carry the code', () => {
    const message = play({ ...toAll, content: aCode('AB12') }, [
      STARTED,
      [refused(0, 'Not on whatsapp'), moved],
      [start(1), ['unschedule 1', 'start 2']],
      [start(2), [`deadline 2 in ${STEP_TIMEOUT}`, 'submit 2']],
    ]);
    expect(message.errorReason).toBe(CANNOT);
    expect(message.steps[1]).toMatchObject({
      state: 'skipped',
      reason: CANNOT,
      endedAt: NOW + 2 * SECOND_MS,
    });
  });

  it('gives a template its whole window when no later channel can carry it', () => {
    const message = play(aMessage({ channels: ['whatsapp', 'sms'], content: aTemplateContent() }), [
      STARTED,
      [accepted(0), ['sent whatsapp', `deadline 0 in ${3 * DAY_MS}`]],
      [deadline(0), ['finally sent whatsapp', 'take for whatsapp']],
    ]);
    expect(message).toMatchObject({ status: 'sent', isFinal: true });
  });

  it('fails a refused template when no later channel can carry it', () => {
    play(aMessage({ channels: ['whatsapp', 'sms'], content: aTemplateContent() }), [
      STARTED,
      [refused(0, 'Not on whatsapp'), moved],
      [start(1), ['unschedule 1', `finally failed sms: ${CANNOT}`, 'give back']],
    ]);
  });
});

describe('late, doubled and reversed news', () => {
  const movedOn: readonly Scene[] = [STARTED, [deadline(0), ['unschedule 0', 'start 1']]];

  it('an earlier channel delivers while the next one waits to start', () => {
    const message = play(toAll, [
      ...movedOn,
      [
        reported(0, 'delivered'),
        ['sent whatsapp', 'finally delivered whatsapp', 'take for whatsapp', 'unschedule 0', 'unschedule 1'],
      ],
      [start(1), []],
    ]);
    expect(message.steps).toHaveLength(1);
  });

  it('an earlier channel delivers while the next one works: charged once, for the first', () => {
    const message = play(toAll, [
      ...movedOn,
      SECOND_STARTED,
      [
        reported(0, 'delivered'),
        ['sent whatsapp', 'finally delivered whatsapp', 'take for whatsapp', 'unschedule 1', 'unschedule 2'],
      ],
      [accepted(1), []],
      [reported(1, 'delivered'), []],
      [deadline(1), []],
      [start(2), []],
    ]);
    expect(message.steps.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });

  it('an answer of the last channel after the end schedules nothing', () => {
    play(toWhatsappThenSms, [
      ...movedOn,
      SECOND_STARTED,
      [
        reported(0, 'delivered'),
        ['sent whatsapp', 'finally delivered whatsapp', 'take for whatsapp', 'unschedule 1'],
      ],
      [accepted(1), []],
    ]);
  });

  it('a refusal of the last channel after the end fails nothing', () => {
    const message = play(toWhatsappThenSms, [
      ...movedOn,
      SECOND_STARTED,
      [
        reported(0, 'delivered'),
        ['sent whatsapp', 'finally delivered whatsapp', 'take for whatsapp', 'unschedule 1'],
      ],
      [refused(1, 'No route'), []],
    ]);
    expect(message).toMatchObject({ status: 'delivered', errorReason: SILENCE });
  });

  it('neither a deadline nor a failed report undoes a final sent', () => {
    const message = play(toWhatsappThenSms, [
      ...movedOn,
      SECOND_STARTED,
      [accepted(1), ['sent sms', `deadline 1 in ${DAY_MS}`]],
      [deadline(1), ['finally sent sms', 'take for sms']],
      [deadline(1), []],
      [reportedFailed(1, 'Absent'), []],
    ]);
    expect(message).toMatchObject({ status: 'sent', isFinal: true, errorReason: SILENCE });
  });

  it('an earlier channel takes the message late', () => {
    const message = play(toWhatsappThenSms, [
      ...movedOn,
      [accepted(0, 'late'), ['sent whatsapp']],
      SECOND_STARTED,
    ]);
    expect(message.steps[0]).toMatchObject({ state: 'timed-out', reference: 'late' });
  });

  it('an earlier channel fails late', () => {
    const message = play(toWhatsappThenSms, [...movedOn, SECOND_STARTED, [reportedFailed(0, 'Spam'), []]]);
    expect(message.steps[0]).toMatchObject({ state: 'failed', reason: 'Spam' });
    expect(message.isFinal).toBe(false);
  });

  it('a success after the refund stays in the trace and is not charged', () => {
    const message = play(toSms, [
      STARTED,
      [deadline(0), ['unschedule 0', `finally failed sms: ${SILENCE}`, 'give back']],
      [reported(0, 'delivered'), []],
      [reported(0, 'read'), []],
    ]);
    expect(message).toMatchObject({ status: 'failed', isFinal: true });
    expect(message.steps[0]).toMatchObject({ state: 'delivered' });
  });

  it('reports come twice', () => {
    play(toSms, [
      STARTED,
      SMS_TAKEN,
      [reported(0, 'delivered'), ['finally delivered sms', 'take for sms', 'unschedule 0']],
      [reported(0, 'delivered'), []],
    ]);
  });

  it('reports come in reverse order', () => {
    const message = play(aMessage({ channels: ['whatsapp'] }), [
      STARTED,
      [
        reported(0, 'read'),
        ['sent whatsapp', 'finally delivered whatsapp', 'take for whatsapp', 'unschedule 0'],
      ],
      [reported(0, 'delivered'), []],
      [reported(0, 'sent'), []],
      [accepted(0), []],
      [reportedFailed(0, 'x'), []],
    ]);
    expect(message).toMatchObject({ status: 'read', steps: [{ state: 'read' }] });
  });

  it('read after delivered raises the status and tells nobody', () => {
    const delivered: readonly Scene[] = [
      STARTED,
      [
        reported(0, 'delivered'),
        ['sent whatsapp', 'finally delivered whatsapp', 'take for whatsapp', 'unschedule 0'],
      ],
      [reported(0, 'read'), []],
    ];
    const message = play(aMessage({ channels: ['whatsapp'] }), delivered);
    expect(message).toMatchObject({ status: 'read', finalAt: NOW + SECOND_MS, steps: [{ state: 'read' }] });
  });

  it('an sms is never read', () => {
    const message = play(toSms, [
      STARTED,
      [reported(0, 'read'), ['sent sms', 'finally delivered sms', 'take for sms', 'unschedule 0']],
      [reported(0, 'read'), []],
    ]);
    expect(message).toMatchObject({ status: 'delivered', steps: [{ state: 'delivered' }] });
  });

  test.each<[string, ChainEvent]>([
    ['a second start', start(0)],
    ['a start that is not due yet', start(1)],
    ['a start beyond the chain', start(2)],
    ['a negative start', start(-1)],
    ['a deadline of a later step', deadline(1)],
    ['an answer of a later step', accepted(1)],
    ['a report of a later step', reported(1, 'delivered')],
  ])('%s changes nothing while the first channel works', (_, event) => {
    const message = play(toWhatsappThenSms, [STARTED]);
    expect(advance(message, event, NOW)).toEqual({ message, effects: [] });
  });

  test.each<[string, ChainEvent]>([
    ['its start', start(0)],
    ['its deadline', deadline(0)],
    ['a refusal', refused(0, 'x')],
    ['an unclear answer', unknown(0, 'x')],
  ])('%s again changes nothing once the next channel works', (_, event) => {
    const message = play(toWhatsappThenSms, [...movedOn, SECOND_STARTED]);
    expect(advance(message, event, NOW)).toEqual({ message, effects: [] });
  });

  it('a refusal after the channel took the message changes nothing', () => {
    const message = play(toWhatsappThenSms, [STARTED, [accepted(0), ['sent whatsapp']]]);
    expect(advance(message, refused(0, 'x'), NOW)).toEqual({ message, effects: [] });
    expect(advance(message, unknown(0, 'x'), NOW)).toEqual({ message, effects: [] });
  });

  test.each<ChainEvent>([
    accepted(1),
    reported(1, 'sent'),
    reported(1, 'delivered'),
    reportedFailed(1, 'x'),
    deadline(1),
  ])('news about a skipped channel change nothing: %j', (event) => {
    const message = play({ ...toAll, content: aText() }, [
      STARTED,
      [refused(0, 'Not on whatsapp'), ['unschedule 0', 'start 1']],
      [start(1), ['unschedule 1', 'start 2']],
    ]);
    expect(advance(message, event, NOW)).toEqual({ message, effects: [] });
  });
});
