import { expect, it } from 'vitest';
import { InFlight } from '../../../src/application/concurrency/in-flight.ts';

it('counts what is in flight by key, and takes as much of a key as it may have', () => {
  const inFlight = new InFlight(2);
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
