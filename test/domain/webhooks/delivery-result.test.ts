import { expect, test } from 'vitest';
import {
  concernsReceiver,
  type DeliveryResult,
  isPermanent,
  isSuccess,
} from '../../../src/domain/webhooks/delivery-result.ts';

const responded = (status: number): DeliveryResult => ({ kind: 'responded', status, retryAfterMs: null });
const failed = (reason: Extract<DeliveryResult, { kind: 'failed' }>['reason']): DeliveryResult => ({
  kind: 'failed',
  reason,
});

test.each<[string, DeliveryResult, receiver: boolean, permanent: boolean, success: boolean]>([
  ['a 199', responded(199), true, false, false],
  ['a 200', responded(200), true, false, true],
  ['a 299', responded(299), true, false, true],
  ['a 300', responded(300), true, false, false],
  ['a 410', responded(410), true, true, false],
  ['a 500', responded(500), true, false, false],
  ['a timeout', failed('timeout'), true, false, false],
  ['a lost connection', failed('connection'), true, false, false],
  ['a certificate nobody trusts', failed('tls'), true, false, false],
  ['a url that is never allowed', failed('address-refused'), true, true, false],
  ['a name that leads to a forbidden address', failed('name-refused'), true, false, false],
  ['a broken protocol', failed('protocol'), true, false, false],
  ['a secret under a key that is gone', failed('secret-unreadable'), false, false, false],
])('%s is judged as an attempt', (_, result, ...expected) => {
  expect([concernsReceiver(result), isPermanent(result), isSuccess(result)]).toEqual(expected);
});
