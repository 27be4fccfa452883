import { afterEach, beforeEach, expect, it } from 'vitest';
import { TLS_SAVED_MS_MAX, TlsTime } from '../../../src/adapters/undici/tls-time.ts';
import { until } from '../../support/until.ts';

let now: number;
let tlsTime: TlsTime;
let ran: string[];

beforeEach(() => {
  now = 1_000;
  ran = [];
  tlsTime = new TlsTime(() => now);
});
afterEach(() => tlsTime.close());

/** A computation that takes so long. */
const computation = (name: string, ms: number) => () => {
  now += ms;
  ran.push(name);
};
it('computations run at once until a project has used up what it saved', () => {
  tlsTime.of('a').run(computation('first', TLS_SAVED_MS_MAX - 1));
  tlsTime.of('a').run(computation('second', 2));
  tlsTime.of('a').run(computation('third', 1));
  expect(ran).toEqual(['first', 'second']);
});

it('the computations of another project run at once', () => {
  tlsTime.of('a').run(computation('costly', TLS_SAVED_MS_MAX + 1));
  tlsTime.of('a').run(computation('waits', 1));
  tlsTime.of('b').run(computation('other', 1));
  expect(ran).toEqual(['costly', 'other']);
});

it('the computations that wait run in order when their project has time again, and no longer than it lasts', async () => {
  tlsTime.of('a').run(computation('costly', TLS_SAVED_MS_MAX + 1));
  tlsTime.of('a').run(computation('first', 0.5));
  tlsTime.of('a').run(computation('second', 20));
  tlsTime.of('a').run(computation('third', 1));
  expect(ran).toEqual(['costly']);
  now += 40;
  await until(() => ran.length >= 3);
  expect(ran).toEqual(['costly', 'first', 'second']);
});

it('a project saves up no more than its maximum', () => {
  tlsTime.of('a').run(computation('first', 1));
  now += 1_000_000;
  tlsTime.of('a').run(computation('second', TLS_SAVED_MS_MAX + 1));
  tlsTime.of('a').run(computation('third', 1));
  expect(ran).toEqual(['first', 'second']);
});

it('no computation runs after the end', async () => {
  const others = new TlsTime(() => now);
  others.of('a').run(computation('costly', TLS_SAVED_MS_MAX + 1));
  others.of('a').run(computation('waits behind it', 1));
  tlsTime.of('a').run(computation('costly', TLS_SAVED_MS_MAX + 1));
  tlsTime.of('a').run(computation('waits', 1));
  tlsTime.close();
  now += 40;
  await until(() => ran.length >= 3);
  expect(ran).toEqual(['costly', 'costly', 'waits behind it']);
  others.close();
});

it('time that was taken counts, and none is left until it is made up for', () => {
  const project = tlsTime.of('a');
  project.take(TLS_SAVED_MS_MAX);
  expect(project.isLeft()).toBe(true);
  project.take(1);
  expect(project.isLeft()).toBe(false);
  now += 20;
  expect(project.isLeft()).toBe(true);
});
