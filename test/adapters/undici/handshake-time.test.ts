import { afterEach, beforeEach, expect, it } from 'vitest';
import { HANDSHAKE_SAVED_MS_MAX, HandshakeTime } from '../../../src/adapters/undici/handshake-time.ts';
import { until } from '../../support/until.ts';

let now: number;
let handshakeTime: HandshakeTime;
let ran: string[];

beforeEach(() => {
  now = 1_000;
  ran = [];
  handshakeTime = new HandshakeTime(() => now);
});
afterEach(() => handshakeTime.close());

/** A computation that takes so long. */
const computation = (name: string, ms: number) => () => {
  now += ms;
  ran.push(name);
};
it('computations run at once until a project has used up what it saved', () => {
  handshakeTime.run('a', computation('first', HANDSHAKE_SAVED_MS_MAX - 1));
  handshakeTime.run('a', computation('second', 2));
  handshakeTime.run('a', computation('third', 1));
  expect(ran).toEqual(['first', 'second']);
});

it('the computations of another project run at once', () => {
  handshakeTime.run('a', computation('costly', HANDSHAKE_SAVED_MS_MAX + 1));
  handshakeTime.run('a', computation('waits', 1));
  handshakeTime.run('b', computation('other', 1));
  expect(ran).toEqual(['costly', 'other']);
});

it('the computations that wait run in order when their project has time again, and no longer than it lasts', async () => {
  handshakeTime.run('a', computation('costly', HANDSHAKE_SAVED_MS_MAX + 1));
  handshakeTime.run('a', computation('first', 0.5));
  handshakeTime.run('a', computation('second', 20));
  handshakeTime.run('a', computation('third', 1));
  expect(ran).toEqual(['costly']);
  now += 40;
  await until(() => ran.length >= 3);
  expect(ran).toEqual(['costly', 'first', 'second']);
});

it('a project saves up no more than its maximum', () => {
  handshakeTime.run('a', computation('first', 1));
  now += 1_000_000;
  handshakeTime.run('a', computation('second', HANDSHAKE_SAVED_MS_MAX + 1));
  handshakeTime.run('a', computation('third', 1));
  expect(ran).toEqual(['first', 'second']);
});

it('no computation runs after the end', async () => {
  const others = new HandshakeTime(() => now);
  for (const each of [handshakeTime, others])
    each.run('a', computation('costly', HANDSHAKE_SAVED_MS_MAX + 1));
  handshakeTime.run('a', computation('waits', 1));
  others.run('a', computation('waits behind it', 1));
  handshakeTime.close();
  now += 40;
  await until(() => ran.length >= 3);
  expect(ran).toEqual(['costly', 'costly', 'waits behind it']);
  others.close();
});
