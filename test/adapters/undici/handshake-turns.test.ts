import { afterEach, beforeEach, expect, it } from 'vitest';
import { HANDSHAKE_SAVED_MS_MAX, HandshakeTurns } from '../../../src/adapters/undici/handshake-turns.ts';
import { until } from '../../support/until.ts';

let now: number;
let turns: HandshakeTurns;
let ran: string[];

beforeEach(() => {
  now = 1_000;
  ran = [];
  turns = new HandshakeTurns(() => now);
});
afterEach(() => turns.close());

/** A step that takes so long. */
const step = (name: string, ms: number) => () => {
  now += ms;
  ran.push(name);
};
it('steps run at once until a project has used up what it saved', () => {
  turns.run('a', step('first', HANDSHAKE_SAVED_MS_MAX - 1));
  turns.run('a', step('second', 2));
  turns.run('a', step('third', 1));
  expect(ran).toEqual(['first', 'second']);
});

it('the steps of another project run at once', () => {
  turns.run('a', step('costly', HANDSHAKE_SAVED_MS_MAX + 1));
  turns.run('a', step('waits', 1));
  turns.run('b', step('other', 1));
  expect(ran).toEqual(['costly', 'other']);
});

it('the steps that wait run in order when their project has time again, and no longer than it lasts', async () => {
  turns.run('a', step('costly', HANDSHAKE_SAVED_MS_MAX + 1));
  turns.run('a', step('first', 0.5));
  turns.run('a', step('second', 20));
  turns.run('a', step('third', 1));
  expect(ran).toEqual(['costly']);
  now += 40;
  await until(() => ran.length >= 3);
  expect(ran).toEqual(['costly', 'first', 'second']);
});

it('a project saves up no more than its maximum', () => {
  turns.run('a', step('first', 1));
  now += 1_000_000;
  turns.run('a', step('second', HANDSHAKE_SAVED_MS_MAX + 1));
  turns.run('a', step('third', 1));
  expect(ran).toEqual(['first', 'second']);
});

it('no step runs after the end', async () => {
  const others = new HandshakeTurns(() => now);
  for (const each of [turns, others]) each.run('a', step('costly', HANDSHAKE_SAVED_MS_MAX + 1));
  turns.run('a', step('waits', 1));
  others.run('a', step('waits behind it', 1));
  turns.close();
  now += 40;
  await until(() => ran.length >= 3);
  expect(ran).toEqual(['costly', 'costly', 'waits behind it']);
  others.close();
});
