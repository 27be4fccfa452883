import { expect, it, test } from 'vitest';
import { attemptName, parseAttemptName } from '../../../src/domain/chain/attempt-name.ts';

const ATTEMPT = { smsId: 'sms-01a1f9c087c8753d76e826f2', attemptNumber: 2 };

it('the name of an attempt stands for it', () => {
  expect(attemptName(ATTEMPT)).toBe('sms-01a1f9c087c8753d76e826f2-2');
  expect(parseAttemptName('sms-01a1f9c087c8753d76e826f2-2')).toEqual(ATTEMPT);
});

test.each(['', '-', 'sms-01a1f9c087c8753d76e826f2', 'sms-01a1f9c087c8753d76e826f2-10', 'order-2', '-2'])(
  'what is no name of an attempt stands for none: %j',
  (name) => {
    expect(parseAttemptName(name)).toBeUndefined();
  },
);
