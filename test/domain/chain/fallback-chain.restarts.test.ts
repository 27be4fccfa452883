import { describe, expect, it } from 'vitest';
import { aMessage, MINUTE_MS, SECOND_MS } from '../../support/builders.ts';
import { ATTEMPT_TIMEOUT, play, type Scene } from '../../support/chain-scenes.ts';
import { accepted, receiptArrived, start, submitted } from '../../support/chain-words.ts';

const toSms = aMessage({ channels: ['sms'], prices: {} });
const startedBy = (startId: string, after: number): Scene => [
  start(0, startId),
  [`deadline 0 in ${ATTEMPT_TIMEOUT}`, 'submit 0'],
  after,
];
const busyFor = (startId: string) =>
  submitted(0, { kind: 'rejected', reason: 'Busy', endsChain: false, cause: 'busy' }, startId);
const unclearFor = (startId: string) =>
  submitted(0, { kind: 'unknown', reason: 'Cut off', providerMessageIds: [] }, startId);
const ENDS_CHAIN = submitted(0, { kind: 'rejected', reason: 'Blocked', endsChain: true }, 'first');

/** A busy provider made the attempt start again. */
const restarted: readonly Scene[] = [
  startedBy('first', 0),
  [busyFor('first'), ['unschedule 0', 'start 0 in 500'], SECOND_MS / 2],
  startedBy('second', 3 * SECOND_MS),
];

describe('an attempt that started again', () => {
  it.each([
    ['a busy result', busyFor('first')],
    ['a rejection', ENDS_CHAIN],
    ['an unclear result', unclearFor('first')],
  ])('%s of an earlier start that is stored again decides nothing about the newer start', (_, event) => {
    const message = play(toSms, [...restarted, [event, [], 4 * SECOND_MS]]);
    expect(message).toMatchObject({
      isFinal: false,
      attempts: [{ state: 'dispatching', startId: 'second' }],
    });
  });

  it('the results of its newest start decide', () => {
    const message = play(toSms, [...restarted, [unclearFor('second'), [], 4 * SECOND_MS]]);
    expect(message.attempts).toMatchObject([{ state: 'unknown', reason: 'Cut off' }]);
  });

  it('the provider took the message, whichever start says so', () => {
    const took = submitted(0, { kind: 'accepted', providerMessageIds: ['late'] }, 'first');
    const message = play(toSms, [...restarted, [took, ['sent sms'], 4 * SECOND_MS]]);
    expect(message.attempts).toMatchObject([{ state: 'accepted', providerMessageIds: ['late'] }]);
  });
});

describe('a provider that was busy and took the message after all', () => {
  it.each([
    ['its submit result', accepted(0)],
    ['a receipt', receiptArrived(0, 'sent')],
  ])('the attempt does not start again when %s says so', (_, event) => {
    const message = play(toSms, [
      startedBy('first', 0),
      [busyFor('first'), ['unschedule 0', 'start 0 in 500'], SECOND_MS / 2],
      [event, ['sent sms', 'unschedule 0', `deadline 0 in ${ATTEMPT_TIMEOUT}`], 2 * SECOND_MS],
      [start(0, 'second'), [], 3 * SECOND_MS],
    ]);
    expect(message.attempts).toMatchObject([{ state: 'accepted', endedAt: null }]);
  });

  it('a message that has ended meanwhile is waited for no more', () => {
    const message = play(toSms, [
      startedBy('first', 0),
      [busyFor('first'), ['unschedule 0', 'start 0 in 500'], SECOND_MS / 2],
      [
        { kind: 'cancel', attemptNumber: 0, reason: 'Stopped' },
        ['unschedule 0', 'finally failed sms: Stopped', 'release'],
      ],
      [accepted(0), [], MINUTE_MS],
    ]);
    expect(message).toMatchObject({ status: 'failed', attempts: [{ state: 'accepted' }] });
  });
});
