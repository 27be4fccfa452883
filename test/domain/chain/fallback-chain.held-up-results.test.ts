import { expect, it } from 'vitest';
import { ATTEMPT_GRACE_MS } from '../../../src/domain/chain/attempt-deadline.ts';
import { SUBMIT_TIMEOUT_MS } from '../../../src/domain/providers/submit-result.ts';
import { aMessage, MINUTE_MS, NOW, SECOND_MS } from '../../support/builders.ts';
import {
  ATTEMPT_TIMEOUT,
  play,
  type Scene,
  SILENCE,
  STARTED,
  toSms,
  toWhatsappThenSms,
} from '../../support/chain-scenes.ts';
import { accepted, deadline, receiptArrived, rejected, start, unknown } from '../../support/chain-words.ts';

const GRACE = [`deadline 0 in ${ATTEMPT_GRACE_MS}`];
const OUTAGE_ENDS = ATTEMPT_TIMEOUT + 5 * SECOND_MS;
const graceAt = (now: number): Scene => [deadline(0), GRACE, now];

it('a code whose submit result an outage held up is delivered and charged, though its deadline comes first', () => {
  const message = play(toSms, [
    STARTED,
    graceAt(OUTAGE_ENDS),
    [accepted(0, 'provider-1'), ['sent sms'], OUTAGE_ENDS + SECOND_MS],
    [
      receiptArrived(0, 'delivered'),
      ['finally delivered sms', 'capture for sms', 'unschedule 0'],
      OUTAGE_ENDS + 2 * SECOND_MS,
    ],
  ]);
  expect(message).toMatchObject({ status: 'delivered', attempts: [{ state: 'delivered' }] });
});

it('a deadline that comes in time as the outage ends leaves the submit result its grace too', () => {
  play(toSms, [STARTED, graceAt(ATTEMPT_TIMEOUT)]);
});

it('an attempt without a submit result ends with its grace, and has no second one', () => {
  const message = play(toSms, [
    STARTED,
    graceAt(OUTAGE_ENDS),
    [
      deadline(0),
      ['unschedule 0', `finally failed sms: ${SILENCE}`, 'release'],
      OUTAGE_ENDS + ATTEMPT_GRACE_MS,
    ],
  ]);
  expect(message.attempts).toMatchObject([
    { state: 'timed-out', graceEndsAt: NOW + OUTAGE_ENDS + ATTEMPT_GRACE_MS },
  ]);
});

it('a deadline that comes late leaves the receipts of its attempt a grace: the outage held them up too', () => {
  const accepted0: Scene = [accepted(0), ['sent whatsapp']];
  const message = play(toWhatsappThenSms, [
    STARTED,
    accepted0,
    graceAt(ATTEMPT_TIMEOUT + SECOND_MS),
    [
      receiptArrived(0, 'delivered'),
      ['finally delivered whatsapp', 'capture for whatsapp', 'unschedule 0', 'unschedule 1'],
      ATTEMPT_TIMEOUT + 2 * SECOND_MS,
    ],
  ]);
  expect(message).toMatchObject({ status: 'delivered', attempts: [{ state: 'delivered' }] });
  play(toWhatsappThenSms, [
    STARTED,
    accepted0,
    graceAt(ATTEMPT_TIMEOUT + SECOND_MS),
    [deadline(0), ['unschedule 0', 'start 1'], ATTEMPT_TIMEOUT + SECOND_MS + ATTEMPT_GRACE_MS],
  ]);
  play(toWhatsappThenSms, [
    STARTED,
    accepted0,
    [deadline(0), ['unschedule 0', 'start 1'], ATTEMPT_TIMEOUT + SECOND_MS - 1],
  ]);
});

it('an attempt gets another grace when the last one ends late, for 15 seconds behind its time', () => {
  const late = ATTEMPT_TIMEOUT + SECOND_MS;
  const againAt = late + ATTEMPT_GRACE_MS + SECOND_MS;
  const endsAt = (now: number): Scene => [
    deadline(0),
    ['unschedule 0', `finally failed sms: ${SILENCE}`, 'release'],
    now,
  ];
  play(toSms, [STARTED, graceAt(late), graceAt(againAt), endsAt(againAt + ATTEMPT_GRACE_MS)]);
  play(toSms, [STARTED, graceAt(late), endsAt(againAt - 1)]);
  const last = ATTEMPT_TIMEOUT + 15 * SECOND_MS;
  play(toSms, [STARTED, graceAt(late), graceAt(last - 1), endsAt(last + SECOND_MS + ATTEMPT_GRACE_MS)]);
  play(toSms, [STARTED, graceAt(late), endsAt(last)]);
  // After a longer outage there is a first grace all the same.
  play(toSms, [STARTED, graceAt(2 * last), endsAt(2 * last + ATTEMPT_GRACE_MS + SECOND_MS)]);
});

it('each attempt of a chain has a grace of its own', () => {
  const secondStarts = OUTAGE_ENDS + ATTEMPT_GRACE_MS;
  play(toWhatsappThenSms, [
    STARTED,
    graceAt(OUTAGE_ENDS),
    [deadline(0), ['unschedule 0', 'start 1'], secondStarts],
    [start(1), [`deadline 1 in ${ATTEMPT_TIMEOUT}`, 'submit 1'], secondStarts],
    [deadline(1), [`deadline 1 in ${ATTEMPT_GRACE_MS}`], secondStarts + ATTEMPT_TIMEOUT],
  ]);
});

it.each([
  ['took the message', accepted(0), ['sent whatsapp']],
  ['gave no clear result', unknown(0, 'Cut off'), []],
])('the fallback comes in time when the provider %s', (_, result, effects) => {
  play(toWhatsappThenSms, [
    STARTED,
    [result, effects],
    [deadline(0), ['unschedule 0', 'start 1'], ATTEMPT_TIMEOUT],
  ]);
});

it('the fallback comes in time when an attempt may take less time than a provider, which has not responded yet', () => {
  const brief = aMessage({ channels: ['whatsapp', 'sms'], attemptTimeoutMs: SUBMIT_TIMEOUT_MS });
  play(brief, [
    [start(0), [`deadline 0 in ${SUBMIT_TIMEOUT_MS}`, 'submit 0']],
    [deadline(0), ['unschedule 0', 'start 1'], SUBMIT_TIMEOUT_MS + SECOND_MS - 1],
  ]);
  play(brief, [
    [start(0), [`deadline 0 in ${SUBMIT_TIMEOUT_MS}`, 'submit 0']],
    graceAt(SUBMIT_TIMEOUT_MS + SECOND_MS),
  ]);
  play({ ...brief, attemptTimeoutMs: 5 * SECOND_MS }, [
    [start(0), ['deadline 0 in 5000', 'submit 0']],
    graceAt(6 * SECOND_MS),
  ]);
});

it('a rejection that comes in the grace sends the chain on at once', () => {
  play(toWhatsappThenSms, [
    [start(0), [`deadline 0 in ${ATTEMPT_TIMEOUT}`, 'submit 0']],
    graceAt(MINUTE_MS),
    [rejected(0, 'Not on whatsapp'), ['unschedule 0', 'start 1'], MINUTE_MS + 1],
  ]);
});
