import { expect, it } from 'vitest';
import { AddressLimit } from '../../../../src/adapters/http/families/address-limit.ts';

const LIMITS = { max: 5, perAddressMax: 2 };

it('an address has as many in progress as its limit says, and others have theirs', () => {
  const limit = new AddressLimit(LIMITS);
  const end = limit.begin('a');
  limit.begin('a');
  expect(() => limit.begin('a')).toThrow('overloaded');
  limit.begin('b');
  end();
  limit.begin('a');
  expect(() => limit.begin('a')).toThrow('overloaded');
});

it('a process has as many in progress as the limit in all says', () => {
  const limit = new AddressLimit(LIMITS);
  const ends = Array.from({ length: 5 }, (_, index) => limit.begin(`address ${index}`));
  expect(() => limit.begin('another')).toThrow('overloaded');
  ends[0]?.();
  limit.begin('another');
});
