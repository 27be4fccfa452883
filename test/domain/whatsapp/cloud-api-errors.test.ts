import { expect, it, test } from 'vitest';
import type { RejectionClass } from '../../../src/domain/providers/rejection-class.ts';
import {
  cloudApiErrorClass,
  isCredentialsError,
  saysNotTaken,
} from '../../../src/domain/whatsapp/cloud-api-errors.ts';

test.each<[RejectionClass, readonly number[]]>([
  ['busy', [0, 3, 102, 190]],
  ['throttled', [4, 17, 613, 80007, 130429]],
  ['limited', [131057, 132069]],
  ['sender', [10, 200, 250, 299, 131005]],
  ['busy', [1, 2, 131000, 131016, 133004]],
  ['sender', [33, 368, 131031, 131037, 131042, 131045, 131048, 133010]],
  ['sender', [132001, 132015, 132016, 132068]],
  ['message', [130472, 130497, 131021, 131026, 131030, 131047, 131049, 131056]],
  ['message', [100, 131008, 131009, 131051, 131052, 131053, 132000, 132005, 132007, 132012, 132018]],
  ['ends-chain', [131050]],
])('an error of the Cloud API is of the class %s for the codes %j', (name, codes) => {
  expect(codes.map((code) => cloudApiErrorClass(code, true))).toEqual(codes.map(() => name));
});

it.each([-1, 199, 300, 999_999, 131_099])(
  'an error of the Cloud API with the unknown code %i is about the message',
  (code) => {
    expect(cloudApiErrorClass(code, true)).toBe('message');
    expect(saysNotTaken(code)).toBe(false);
  },
);

it('an error of the Cloud API with a code of tokens or permissions is about the credentials', () => {
  expect([0, 3, 10, 102, 190, 200, 299, 131005].every(isCredentialsError)).toBe(true);
  expect([1, 4, 100, 199, 300, 131000, 131026].some(isCredentialsError)).toBe(false);
});

it('an error of the Cloud API says that the message was not taken, except with the vague code', () => {
  expect([2, 131000, 131016, 131026, 190, 210].every(saysNotTaken)).toBe(true);
  expect(saysNotTaken(1)).toBe(false);
});

it('the rate of a recipient makes a verification code move on, and other messages wait', () => {
  expect([cloudApiErrorClass(131056, true), cloudApiErrorClass(131056, false)]).toEqual([
    'message',
    'limited',
  ]);
  expect(cloudApiErrorClass(131026, false)).toBe('message');
});
