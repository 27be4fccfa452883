import { expect, test } from 'vitest';
import {
  type AttemptResult,
  isAboutEndpoint,
  isLasting,
  isSuccess,
  wasSent,
} from '../../../src/domain/webhooks/attempt-result.ts';

const responded = (status: number): AttemptResult => ({ kind: 'answered', status, retryAfterMs: null });
const failed = (reason: Extract<AttemptResult, { kind: 'failed' }>['reason']): AttemptResult => ({
  kind: 'failed',
  reason,
});

test.each<[string, AttemptResult, sent: boolean, about: boolean, lasting: boolean, success: boolean]>([
  ['a 199', responded(199), true, true, false, false],
  ['a 200', responded(200), true, true, false, true],
  ['a 299', responded(299), true, true, false, true],
  ['a 300', responded(300), true, true, false, false],
  ['a 410', responded(410), true, true, true, false],
  ['a 500', responded(500), true, true, false, false],
  ['a timeout', failed('timeout'), true, true, false, false],
  ['a lost connection', failed('connection'), true, true, false, false],
  ['a certificate nobody trusts', failed('tls'), true, true, false, false],
  ['a url that is never allowed', failed('address-refused'), true, true, true, false],
  ['a name that leads to a forbidden address', failed('name-refused'), true, true, false, false],
  ['a broken protocol', failed('protocol'), true, true, false, false],
  ['a transport without capacity', failed('busy'), false, false, false, false],
  ['a secret under a key that is gone', failed('secret-unreadable'), true, false, false, false],
])('%s is judged as an attempt', (_, result, ...expected) => {
  expect([wasSent(result), isAboutEndpoint(result), isLasting(result), isSuccess(result)]).toEqual(expected);
});
