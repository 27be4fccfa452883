import { expect, it } from 'vitest';
import { InFlight } from '../../../src/application/concurrency/in-flight.ts';

it('counts what is in flight by key, and takes as much of a key as it may have', () => {
  const inFlight = new InFlight({ perKey: 2 });
  expect([inFlight.tryBegin('a'), inFlight.tryBegin('a'), inFlight.tryBegin('a')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(inFlight.tryBegin('b')).toBe(true);
  inFlight.end('a');
  expect([inFlight.tryBegin('a'), inFlight.tryBegin('a')]).toEqual([true, false]);
  inFlight.end('a');
  inFlight.end('a');
  expect([inFlight.tryBegin('a'), inFlight.tryBegin('a'), inFlight.tryBegin('a')]).toEqual([
    true,
    true,
    false,
  ]);
});

it('takes as much in all as it may, of whatever key, and counts nothing that it does not take', () => {
  const inFlight = new InFlight({ perKey: 2, all: 3 });
  for (const key of ['a', 'b', 'c']) expect(inFlight.tryBegin(key)).toBe(true);
  expect([inFlight.tryBegin('d'), inFlight.tryBegin('a')]).toEqual([false, false]);
  inFlight.end('b');
  expect([inFlight.tryBegin('d'), inFlight.tryBegin('a')]).toEqual([true, false]);
});
