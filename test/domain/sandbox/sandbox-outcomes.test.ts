import { describe, expect, it, test } from 'vitest';
import {
  outcomeOf,
  type RejectionOutcome,
  type RequestOutcome,
  SANDBOX_OUTCOMES,
  type SubmissionOutcome,
  submissionOutcome,
} from '../../../src/domain/sandbox/sandbox-outcomes.ts';
import { isUnsupportedInCampaigns } from '../../../src/domain/sandbox/sandbox-send.ts';
import type { Channel } from '../../../src/domain/shared/channel.ts';
import { aPhoneNumber, aTestNumber } from '../../support/builders.ts';

/** An attempt in one line: the result, then each receipt as `delay kind`. */
function inWords({ result, receipts = [] }: SubmissionOutcome): string {
  const told = receipts.map(
    ({ afterMs, from, part, receipt }) =>
      `${afterMs}${from === 'attempt-timeout' ? ' late' : ''}${part === undefined ? '' : ` part ${part}`} ${receipt.kind}`,
  );
  return [result, ...told].join(', ');
}

const SOON = 'accepted, 1000 delivered';

describe('what an outcome does to the submissions', () => {
  test.each<[digits: string, first: Channel, asFirst: string, later: Channel, asLater: string]>([
    ['0001', 'whatsapp', SOON, 'sms', SOON],
    ['0002', 'whatsapp', 'accepted, 30000 delivered', 'sms', 'accepted, 30000 delivered'],
    ['0003', 'whatsapp', 'accepted', 'sms', 'accepted'],
    ['0004', 'whatsapp', 'accepted, 1000 delivered, 2000 read', 'sms', 'accepted, 1000 delivered, 2000 read'],
    ['0005', 'whatsapp', 'accepted, 1000 read', 'sms', 'accepted, 1000 read'],
    ['0006', 'whatsapp', 'rejected', 'sms', 'rejected'],
    ['0007', 'whatsapp', 'rejected', 'telegram', SOON],
    ['0007', 'telegram', SOON, 'whatsapp', 'rejected'],
    ['0008', 'telegram', 'rejected', 'sms', SOON],
    ['0008', 'whatsapp', SOON, 'telegram', 'rejected'],
    ['0009', 'whatsapp', 'rejected', 'sms', SOON],
    ['0009', 'telegram', 'rejected', 'sms', SOON],
    ['0010', 'whatsapp', 'accepted', 'sms', SOON],
    ['0010', 'sms', 'accepted', 'whatsapp', SOON],
    ['0011', 'whatsapp', 'unknown, 5000 delivered', 'sms', 'unknown, 5000 delivered'],
    [
      '0012',
      'whatsapp',
      'accepted, 1000 delivered, 1100 delivered',
      'sms',
      'accepted, 1000 delivered, 1100 delivered',
    ],
    [
      '0013',
      'whatsapp',
      'accepted, 1000 read, 1100 delivered, 1200 sent',
      'sms',
      'accepted, 1000 read, 1100 delivered, 1200 sent',
    ],
    ['0014', 'whatsapp', 'accepted, 2000 late delivered', 'sms', 'accepted'],
    ['0015', 'whatsapp', SOON, 'sms', 'accepted, 1000 part 1 delivered, 1000 part 2 failed'],
    ['0015', 'sms', 'accepted, 1000 part 1 delivered, 1000 part 2 failed', 'whatsapp', SOON],
    ['0016', 'whatsapp', 'unavailable', 'sms', SOON],
    ['0201', 'whatsapp', SOON, 'sms', SOON],
    ['0202', 'whatsapp', 'rejected', 'sms', SOON],
    ['0203', 'whatsapp', 'rejected', 'sms', SOON],
    ['0204', 'whatsapp', 'rejected', 'telegram', SOON],
  ])(
    '999…%s gives %s as the first channel %j and %s as a later one %j',
    (digits, first, asFirst, later, asLater) => {
      const phoneNumber = aTestNumber(digits, 123_456);
      const { rejection, request } = outcomeOf(phoneNumber);
      expect([rejection, request]).toEqual([undefined, undefined]);
      expect(inWords(submissionOutcome(phoneNumber, first, true))).toBe(asFirst);
      expect(inWords(submissionOutcome(phoneNumber, later, false))).toBe(asLater);
    },
  );
});

describe('what an outcome does to the request', () => {
  test.each<[string, RejectionOutcome]>([
    ['0101', { kind: 'insufficient-credit' }],
    ['0102', { kind: 'spending-threshold' }],
    ['0103', { kind: 'sender-id-not-found' }],
    ['0104', { kind: 'sender-id-not-accepted' }],
    ['0105', { kind: 'trial-mode' }],
    ['0106', { kind: 'rate-limited', fromRequest: 1 }],
    ['0107', { kind: 'rate-limited', fromRequest: 3 }],
  ])('999…%s asks for the rejection %j and delivers what is accepted', (digits, rejection) => {
    const phoneNumber = aTestNumber(digits);
    expect(outcomeOf(phoneNumber).rejection).toEqual(rejection);
    expect(outcomeOf(phoneNumber).request).toBeUndefined();
    expect(inWords(submissionOutcome(phoneNumber, 'sms', true))).toBe(SOON);
  });

  test.each<[string, RequestOutcome]>([
    ['0108', { kind: 'internal-error' }],
    ['0109', { kind: 'slow-reply', delayMs: 5_000 }],
    ['0110', { kind: 'cut-connection' }],
  ])('999…%s asks for %j and delivers what is accepted', (digits, request) => {
    const phoneNumber = aTestNumber(digits);
    expect(outcomeOf(phoneNumber).request).toEqual(request);
    expect(outcomeOf(phoneNumber).rejection).toBeUndefined();
    expect(inWords(submissionOutcome(phoneNumber, 'sms', true))).toBe(SOON);
  });
});

it('has no outcome that is not written down here', () => {
  expect(Object.keys(SANDBOX_OUTCOMES).sort()).toEqual([
    ...Array.from({ length: 16 }, (_, index) => String(index + 1).padStart(4, '0')),
    ...Array.from({ length: 10 }, (_, index) => String(index + 101).padStart(4, '0')),
    '0201',
    '0202',
    '0203',
    '0204',
    '0301',
    '0302',
    '0303',
  ]);
  for (const { description } of Object.values(SANDBOX_OUTCOMES)) expect(description).not.toBe('');
});

test.each(['9990000000017', '9990000009999', '9990000000000', '9647712345678'])(
  '%s has no row of its own and is delivered like 999…0001',
  (digits) => {
    const phoneNumber = aPhoneNumber(digits);
    const { rejection, request } = outcomeOf(phoneNumber);
    expect([rejection, request]).toEqual([undefined, undefined]);
    expect(inWords(submissionOutcome(phoneNumber, 'whatsapp', true))).toBe(SOON);
    expect(inWords(submissionOutcome(phoneNumber, 'sms', false))).toBe(SOON);
  },
);

test.each([
  ['0006', 'sms', 'The operator rejected the message'],
  ['0007', 'whatsapp', 'The number is not on whatsapp'],
  ['0008', 'telegram', 'The number is not on telegram'],
  ['0011', 'sms', 'The provider did not respond in time'],
  ['0016', 'whatsapp', 'The channel is out of service'],
  ['0202', 'whatsapp', 'The parameters do not fit the template'],
  ['0203', 'whatsapp', 'Too many messages were sent to this number'],
  ['0204', 'whatsapp', 'The template is paused'],
] as const)('%s gives its reason on %s', (digits, channel, reason) => {
  expect(submissionOutcome(aTestNumber(digits), channel, true).reason).toBe(reason);
});

it('gives the part that failed as the reason of a multi-part sms', () => {
  const [, receipt] = submissionOutcome(aTestNumber('0015'), 'sms', true).receipts ?? [];
  expect(receipt?.receipt).toEqual({ kind: 'failed', reason: 'Part 2 of 2 was not delivered' });
});

test.each([
  ['0301', { type: 'text', content: { text: 'ok' } }],
  ['0302', { type: 'text', content: { text: 'STOP' } }],
  ['0303', { type: 'location', content: { latitude: 33.3152, longitude: 44.3661 } }],
])('999…%s is delivered and replies with %j after two seconds', (digits, content) => {
  const outcome = submissionOutcome(aTestNumber(digits), 'whatsapp', true);
  expect(inWords(outcome)).toBe(SOON);
  expect(outcome.reply).toEqual({ afterMs: 2_000, content });
});

it('describes a number without a row of its own by the row that it follows', () => {
  expect(outcomeOf(aTestNumber('9999')).description).toBe('as 0001');
});

it('only 0203 rejects because the provider is busy, and only 0204 because of the sender', () => {
  const causes = Object.keys(SANDBOX_OUTCOMES).flatMap((digits) => {
    const { cause } = submissionOutcome(aTestNumber(digits), 'whatsapp', true);
    return cause === undefined ? [] : [[digits, cause]];
  });
  expect(causes).toEqual([
    ['0203', 'busy'],
    ['0204', 'sender'],
  ]);
});

it('only 0201 stands for a number that campaigns do not support', () => {
  const digits = Object.keys(SANDBOX_OUTCOMES).filter((each) => isUnsupportedInCampaigns(aTestNumber(each)));
  expect(digits).toEqual(['0201']);
});
