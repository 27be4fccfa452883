import { beforeEach, describe, expect, it } from 'vitest';
import { ThrottledRates } from '../../../src/application/providers/throttled-rates.ts';
import { rejectedAs, type SubmitResult } from '../../../src/domain/providers/submit-result.ts';

/** Between two requests at 14 a second, in milliseconds: 0.7 of the 20 that the provider took. */
const INTERVAL_MS = 1_000 / 14;
/** Between two requests at 7 a second: a provider that took less than ten is asked as if it had taken ten. */
const SLOWEST_MS = 1_000 / 7;
/** As many as give a project a rate of which twenty were taken: half of all results. */
const ENOUGH_OF_20 = 20;

const TAKEN: SubmitResult = { kind: 'accepted', providerMessageIds: [] };
const THROTTLED = rejectedAs('throttled', 'The SMSC takes no more');

let now: number;
let rates: ThrottledRates;

beforeEach(() => {
  now = 5_000;
  rates = new ThrottledRates(() => now);
});

function take(count: number, projectId = 'a'): void {
  for (let taken = 0; taken < count; taken += 1) rates.noteResult(projectId, TAKEN);
}

function reject(count: number, projectId = 'a'): void {
  for (let rejected = 0; rejected < count; rejected += 1) rates.noteResult(projectId, THROTTLED);
}

const waitMs = (projectId = 'a'): number => rates.waitMs(projectId);

/** How many requests go out within so many milliseconds, when each goes out as soon as it may. */
function sentWithin(ms: number): number {
  const end = now + ms;
  let sent = 0;
  for (; now < end; now += 1) {
    for (; (rates.allowed('a') ?? 0) > 0; sent += 1) rates.noteSent('a');
  }
  return sent;
}

describe('the rate of a project that a provider throttles', () => {
  it('a project has no rate before the provider says that it takes no more', () => {
    take(20);
    rates.noteSent('a');
    expect(rates.allowed('a')).toBe(null);
  });

  it('requests go out one by one at 0.7 of the rate at which the provider took them', () => {
    take(20);
    reject(ENOUGH_OF_20);
    expect([rates.allowed('a'), waitMs()]).toEqual([0, Math.ceil(INTERVAL_MS)]);
    now += INTERVAL_MS;
    expect([rates.allowed('a'), waitMs()]).toEqual([1, 1]);
    rates.noteSent('a');
    expect(rates.allowed('a')).toBe(0);
  });

  it('rejections of less than half are about single messages, and give no rate', () => {
    take(20);
    reject(19);
    expect(rates.allowed('a')).toBe(null);
    reject(1);
    expect(rates.allowed('a')).toBe(0);
  });

  it('what is rejected of one project slows no other down, though half of all is rejected', () => {
    take(1, 'b');
    reject(100, 'a');
    expect([rates.allowed('a'), rates.allowed('b')]).toEqual([0, null]);
    reject(1, 'b');
    expect(rates.allowed('b')).toBe(0);
  });

  it('each project goes at a rate of its own', () => {
    take(20, 'a');
    reject(20, 'a');
    take(40, 'b');
    reject(40, 'b');
    expect([waitMs('a'), waitMs('b')]).toEqual([Math.ceil(INTERVAL_MS), Math.ceil(INTERVAL_MS / 2)]);
    now += INTERVAL_MS / 2;
    expect([rates.allowed('a'), rates.allowed('b')]).toEqual([0, 1]);
  });

  it('a project of which the provider took little is sent for as if it had taken ten a second', () => {
    take(1);
    reject(1);
    expect(waitMs()).toBe(Math.ceil(SLOWEST_MS));
  });

  it('projects of which the provider took little are sent for as if it had taken ten a second of all of them', () => {
    for (const project of ['a', 'b', 'c', 'd', 'e']) reject(1, project);
    expect(waitMs('e')).toBe(Math.ceil(5 * SLOWEST_MS));
    // Those of which it took more share nothing.
    take(20, 'f');
    reject(20, 'f');
    expect(waitMs('f')).toBe(Math.ceil(INTERVAL_MS));
  });

  it('a code of a project that has to wait goes out for a request of another one, which waits then', () => {
    take(1);
    reject(1);
    take(20, 'b');
    reject(ENOUGH_OF_20, 'b');
    expect([rates.allowed('a', true), rates.allowed('b', true)]).toEqual([0, 0]);
    now += INTERVAL_MS;
    expect([rates.allowed('a'), rates.allowed('a', true), rates.allowed('b')]).toEqual([0, 1, 1]);
    const before = waitMs('a');
    rates.noteSent('a', true);
    expect([rates.allowed('a', true), rates.allowed('b')]).toEqual([0, 0]);
    expect(waitMs('a')).toBe(before);
  });

  it('a code of a project that need not wait takes no request of another one', () => {
    take(20, 'b');
    reject(ENOUGH_OF_20, 'b');
    now += INTERVAL_MS;
    expect(rates.allowed('a', true)).toBe(null);
    rates.noteSent('a', true);
    expect(rates.allowed('b')).toBe(1);
    reject(1, 'a');
    now += 2 * SLOWEST_MS;
    rates.noteSent('a', true);
    expect([rates.allowed('a'), rates.allowed('b')]).toEqual([0, 1]);
  });

  it('a code finds the request of a project that was throttled after others had none', () => {
    reject(1, 'a');
    expect(rates.allowed('a', true)).toBe(0);
    take(1_000, 'b');
    reject(1_000, 'b');
    now += 2;
    expect([rates.allowed('a', true), rates.allowed('b')]).toEqual([1, 1]);
    rates.noteSent('a', true);
    expect(rates.allowed('a', true)).toBe(0);
    now += 2;
    expect(rates.allowed('a', true)).toBe(1);
  });

  it('a project whose rate is over lends nothing', () => {
    reject(1, 'b');
    now += 29_000;
    reject(1, 'a');
    now += 999;
    rates.noteSent('a');
    now += 1;
    expect(rates.allowed('b')).toBe(null);
    expect(rates.allowed('a', true)).toBe(0);
  });

  it('the second before counts by its part within the last second, and those before it do not', () => {
    take(1_000);
    now += 1_000;
    take(40);
    now += 1_250;
    take(10);
    reject(39);
    expect(rates.allowed('a')).toBe(null);
    reject(1);
    // 10, and three quarters of the 40: 0.7 of 40 a second.
    expect(waitMs()).toBe(Math.ceil(1_000 / (0.7 * 40)));
  });

  it('the rate comes back to what the provider took, and goes beyond it', () => {
    take(20);
    reject(ENOUGH_OF_20);
    expect(sentWithin(2_000)).toBeGreaterThan(30);
    expect(sentWithin(2_000)).toBeLessThan(42);
    expect(sentWithin(4_000)).toBeGreaterThan(120);
  });

  it('the rejections of one burst lower the rate once, and those that come a second later do again', () => {
    take(20);
    reject(ENOUGH_OF_20);
    now += 999;
    reject(10);
    expect(rates.allowed('a')).toBeGreaterThan(0);
    now += 1;
    reject(20);
    expect(waitMs()).toBe(Math.ceil(INTERVAL_MS));
  });

  it('a provider that takes no more while little comes for it counts for what it took before', () => {
    take(20);
    reject(ENOUGH_OF_20);
    now += 10_000;
    take(3);
    reject(3);
    expect(waitMs()).toBe(Math.ceil(INTERVAL_MS));
  });

  it('a provider that takes no more below what it took before counts for that', () => {
    take(20);
    reject(ENOUGH_OF_20);
    now += 1_000;
    take(3);
    now += 1_000;
    reject(3);
    // 19.96 was its rate after two seconds: 0.466 s before it comes back to 20.
    expect(waitMs()).toBe(Math.ceil(1_000 / (0.7 * 19.96)));
  });

  it('a project has no rate when the provider rejected nothing of it for thirty seconds', () => {
    reject(1);
    now += 29_999;
    expect(rates.allowed('a')).toBeGreaterThan(0);
    now += 1;
    expect(rates.allowed('a')).toBe(null);
  });

  it('what could have gone out while a timer was late goes out at once, of 50 ms at most', () => {
    take(1_000);
    reject(1_000);
    now += 10_000;
    // At the end of the plateau the rate is 1,000 a second again: 50 of 50 ms, and the one that may go out anyway.
    expect(rates.allowed('a')).toBeGreaterThan(45);
    expect(rates.allowed('a')).toBeLessThan(55);
  });
});
