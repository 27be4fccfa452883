import { describe, expect, it, test } from 'vitest';
import type { SendState } from '../../../src/domain/messages/send-policy.ts';
import type { SendRequest } from '../../../src/domain/messages/send-request.ts';
import {
  decideSendWithTestNumbers,
  rateLimitFor,
  requestOutcomeOf,
} from '../../../src/domain/sandbox/sandbox-send.ts';
import { iqd, ZERO } from '../../../src/domain/shared/money.ts';
import {
  anAccount,
  aPhoneNumber,
  aProject,
  aSenderId,
  aSendRequest,
  aSendState,
  aTestNumber,
  MINUTE_MS,
  NOW,
} from '../../support/builders.ts';

const LIMIT = { maxRequests: 2, timeWindowMinutes: 7 };
const live = aProject({ environment: 'live' });
const dev = aProject({ environment: 'dev' });

describe('sandbox sends', () => {
  const send = (digits: string, given: Partial<SendState> = {}, request: Partial<SendRequest> = {}) =>
    decideSendWithTestNumbers(
      aSendState({ project: dev, ...given }),
      aSendRequest({ phoneNumber: aTestNumber(digits), provider: 'sms', ...request }),
      NOW,
    );

  test.each(['0001', '0006', '0016', '0108', '0109', '0110', '9999'])(
    'a send to 999…%s is accepted at the price of an unknown mobile operator at home',
    (digits) => {
      expect(send(digits)).toMatchObject({ kind: 'accepted', cost: iqd(100) });
    },
  );

  it('a send to a test number is priced by its sender ID', () => {
    expect(send('0001', { senderId: aSenderId() }, { senderId: 'Barid' })).toMatchObject({ cost: iqd(90) });
  });

  it('a send to a test number costs as many units as its text is long', () => {
    const content = { smsType: 'custom', customMessage: 'a'.repeat(141) } as const;
    expect(send('0001', {}, { content })).toMatchObject({ cost: iqd(200) });
  });

  it('a send to 999…0101 is rejected with the real credit, or with none when there is enough', () => {
    const rejection = { kind: 'insufficient-credit', requiredCredit: iqd(100) };
    expect(send('0101')).toEqual({ ...rejection, yourCredit: ZERO });
    expect(send('0101', { account: anAccount({ balance: iqd(100) }) })).toEqual({
      ...rejection,
      yourCredit: ZERO,
    });
    expect(send('0101', { account: anAccount({ balance: iqd(99) }) })).toEqual({
      ...rejection,
      yourCredit: iqd(99),
    });
  });

  it('a send to 999…0102 is rejected with a threshold that is used up', () => {
    expect(send('0102', { account: anAccount({ held: iqd(20), spent: iqd(30) }) })).toEqual({
      kind: 'spending-threshold',
      currentSpending: iqd(50),
      spendingThreshold: iqd(50),
      cost: iqd(100),
    });
  });

  test.each([
    ['0103', 'sender-id-not-found'],
    ['0104', 'sender-id-not-accepted'],
    ['0105', 'trial-mode'],
  ])('a send to 999…%s is rejected as %s', (digits, kind) => {
    expect(send(digits)).toEqual({ kind });
  });

  it('a send to 999…0106 is rejected from the first request on, by the rate limit of the project', () => {
    const limited = { kind: 'rate-limited', waitMinutes: 10, maxRequests: 5, timeWindowMinutes: 10 };
    expect(send('0106')).toEqual(limited);
    const rateLimit = { maxRequests: 2, timeWindowMinutes: 3 };
    const project = aProject({ environment: 'dev', settings: { rateLimit } });
    expect(send('0106', { project })).toEqual({ kind: 'rate-limited', waitMinutes: 3, ...rateLimit });
    const unlimited = aProject({ environment: 'dev', settings: { rateLimit: null } });
    expect(send('0106', { project: unlimited })).toEqual(limited);
  });

  it('a send to 999…0107 is rejected from the third request of the window on', () => {
    const limited = { kind: 'rate-limited', maxRequests: 2, timeWindowMinutes: 10 };
    expect(send('0107', { acceptedAt: [NOW - MINUTE_MS] }).kind).toBe('accepted');
    expect(send('0107', { acceptedAt: [NOW - MINUTE_MS, NOW - 3 * MINUTE_MS] })).toEqual({
      ...limited,
      waitMinutes: 7,
    });
    expect(send('0107', { acceptedAt: [NOW - MINUTE_MS, NOW - 10 * MINUTE_MS] }).kind).toBe('accepted');
  });

  it('a send to 999…0002 waits a minute for each channel, so that the receipt after 30 s comes in time', () => {
    expect(send('0002')).toMatchObject({ kind: 'accepted', attemptTimeoutMs: MINUTE_MS });
    expect(send('0001')).toMatchObject({ kind: 'accepted', attemptTimeoutMs: 30_000 });
    const patient = aProject({
      environment: 'dev',
      settings: { attemptTimeoutMs: { verification: 2 * MINUTE_MS, other: MINUTE_MS } },
    });
    expect(send('0002', { project: patient })).toMatchObject({ attemptTimeoutMs: 2 * MINUTE_MS });
    expect(send('0002', { account: anAccount({ balance: ZERO }) })).toEqual({
      kind: 'insufficient-credit',
      yourCredit: ZERO,
      requiredCredit: iqd(100),
    });
  });

  it('a send to a test number is rejected by the ordinary checks too', () => {
    expect(send('0001', { account: anAccount({ balance: ZERO }) }).kind).toBe('insufficient-credit');
    expect(send('0001', {}, { senderId: 'Nobody' }).kind).toBe('sender-id-not-found');
  });

  it('a send to a test number is rejected for its content before its outcome is asked for', () => {
    const content = { smsType: 'custom', customMessage: 'Hello' } as const;
    expect(send('0101', {}, { provider: 'telegram', content }).kind).toBe('unsupported-content');
  });
});

it('a live project may not send to test numbers', () => {
  const request = aSendRequest({ phoneNumber: aTestNumber('0001'), provider: 'sms' });
  expect(decideSendWithTestNumbers(aSendState({ project: live }), request, NOW)).toEqual({
    kind: 'test-number',
  });
});

test.each([live, dev])('a $environment project sends to ordinary numbers as always', (project) => {
  expect(decideSendWithTestNumbers(aSendState({ project }), aSendRequest(), NOW)).toMatchObject({
    kind: 'accepted',
    cost: iqd(80),
  });
});

describe('the outcome of a request', () => {
  it.each([
    ['0108', { kind: 'internal-error' }],
    ['0109', { kind: 'slow-reply', delayMs: 5_000 }],
    ['0110', { kind: 'cut-connection' }],
    ['0001', null],
    ['0101', null],
  ])('the last digits of a test number decide what happens to the request: 999…%s', (digits, outcome) => {
    expect(requestOutcomeOf(dev, aTestNumber(digits))).toEqual(outcome);
  });

  it('requests of live projects and to ordinary numbers are never disturbed', () => {
    expect(requestOutcomeOf(live, aTestNumber('0108'))).toBeNull();
    expect(requestOutcomeOf(dev, aPhoneNumber('9647700000108'))).toBeNull();
  });
});

describe('the rate limit of a number', () => {
  const limited = aProject({ environment: 'dev', settings: { rateLimit: LIMIT } });
  const unlimited = aProject({ environment: 'dev', settings: { rateLimit: null } });

  it("the rate limit of ordinary numbers and test numbers is the project's", () => {
    expect(rateLimitFor(limited, aPhoneNumber())).toEqual(LIMIT);
    expect(rateLimitFor(limited, aTestNumber('0107'))).toEqual(LIMIT);
  });

  it('a test number that stands for a 429 has the default rate limit when the project has none', () => {
    expect(rateLimitFor(unlimited, aPhoneNumber())).toBeNull();
    expect(rateLimitFor(unlimited, aTestNumber('0001'))).toBeNull();
    expect(rateLimitFor(unlimited, aTestNumber('0107'))).toEqual({ maxRequests: 5, timeWindowMinutes: 10 });
    expect(rateLimitFor({ ...unlimited, environment: 'live' }, aTestNumber('0107'))).toBeNull();
  });
});
