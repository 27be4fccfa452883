import { beforeEach, describe, expect, it } from 'vitest';
import { ThrottledRate } from '../../../src/application/providers/throttled-rate.ts';

/** Between two requests at 14 a second, in milliseconds: 0.7 of the 20 that the provider took. */
const INTERVAL_MS = 1_000 / 14;
/** Between two requests at 7 a second: a provider that took less than ten is asked as if it had taken ten. */
const SLOWEST_MS = 1_000 / 7;
/** As many as lower the rate of a provider that took twenty: a tenth of all results. */
const ENOUGH_OF_20 = 3;

let now: number;
let rate: ThrottledRate;

beforeEach(() => {
  now = 5_000;
  rate = new ThrottledRate(() => now);
});

function take(count: number, projectId = 'a'): void {
  for (let taken = 0; taken < count; taken += 1) rate.noteTaken(projectId);
}

function reject(count: number, projectId = 'a'): void {
  for (let rejected = 0; rejected < count; rejected += 1) rate.throttle(projectId);
}

/** How many requests go out within so many milliseconds, when each goes out as soon as it may. */
function sentWithin(ms: number): number {
  expect(rate.isThrottled).toBe(true);
  const end = now + ms;
  let sent = 0;
  for (; now < end; now += 1) {
    for (; rate.allowed() > 0; sent += 1) rate.noteSent();
  }
  return sent;
}

describe('the rate of a provider that throttles', () => {
  it('a provider has no rate before it says that it takes no more', () => {
    take(20);
    rate.noteSent();
    expect([rate.isThrottled, rate.allowed(), rate.waitMs()]).toEqual([false, Number.POSITIVE_INFINITY, 0]);
  });

  it('requests go out one by one at 0.7 of the rate at which the provider took them', () => {
    take(20);
    reject(ENOUGH_OF_20);
    expect([rate.isThrottled, rate.allowed(), rate.waitMs()]).toEqual([true, 0, Math.ceil(INTERVAL_MS)]);
    now += INTERVAL_MS;
    expect([rate.allowed(), rate.waitMs()]).toEqual([1, 0]);
    rate.noteSent();
    expect(rate.allowed()).toBe(0);
  });

  it('less than a tenth of rejections are about single messages, and lower no rate', () => {
    take(19);
    reject(2);
    expect(rate.isThrottled).toBe(false);
    reject(1);
    expect(rate.isThrottled).toBe(true);
  });

  it('rejections of one project alone lower no rate while three of others should have been rejected too', () => {
    take(3, 'b');
    reject(100, 'a');
    expect(rate.isThrottled).toBe(false);
    reject(1, 'b');
    expect(rate.isThrottled).toBe(true);
  });

  it('rejections of one project lower the rate while so few of others are taken that luck may be why', () => {
    take(2, 'b');
    reject(100, 'a');
    expect(rate.isThrottled).toBe(true);
  });

  it('a project of which half is rejected counts for half as many of others', () => {
    take(5, 'b');
    take(10, 'a');
    reject(9, 'a');
    expect(rate.isThrottled).toBe(true);
    rate = new ThrottledRate(() => now);
    take(10, 'b');
    take(2, 'a');
    reject(9, 'a');
    expect(rate.isThrottled).toBe(false);
  });

  it('rejections of one project lower the rate when nothing of others came for two seconds', () => {
    take(3, 'b');
    now += 1_000;
    reject(100, 'a');
    expect(rate.isThrottled).toBe(false);
    now += 1_000;
    reject(1, 'a');
    expect(rate.isThrottled).toBe(true);
  });

  it('a provider that took little is asked as if it had taken ten a second', () => {
    take(4);
    reject(1);
    expect(rate.waitMs()).toBe(Math.ceil(SLOWEST_MS));
  });

  it('of a provider that throttles for the first time the fullest of the last ten seconds counts', () => {
    take(20);
    now += 10_000;
    take(4);
    reject(1);
    expect(rate.waitMs()).toBe(Math.ceil(INTERVAL_MS));
  });

  it('what a provider took eleven seconds ago does not count', () => {
    take(20);
    now += 11_000;
    take(4);
    reject(1);
    expect(rate.waitMs()).toBe(Math.ceil(SLOWEST_MS));
  });

  it('of a provider that throttles again the second before counts by its part within the last second', () => {
    reject(1);
    now += 1_000;
    take(40);
    now += 1_250;
    take(10);
    reject(6);
    // 10, and three quarters of the 40: 0.7 of 40 a second.
    expect(rate.waitMs()).toBe(Math.ceil(1_000 / (0.7 * 40)));
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
    reject(1);
    expect(rate.waitMs()).toBe(0);
    now += 1;
    reject(1);
    expect(rate.waitMs()).toBe(Math.ceil(INTERVAL_MS));
  });

  it('a provider that takes no more while little comes for it counts for what it took before', () => {
    take(20);
    reject(ENOUGH_OF_20);
    now += 10_000;
    take(3);
    reject(1);
    expect(rate.waitMs()).toBe(Math.ceil(INTERVAL_MS));
  });

  it('a provider that takes no more below what it took before counts for that', () => {
    take(20);
    reject(ENOUGH_OF_20);
    now += 1_000;
    take(3);
    now += 1_000;
    reject(1);
    // 19.96 was its rate after two seconds: 0.466 s before it comes back to 20.
    expect(rate.waitMs()).toBe(Math.ceil(1_000 / (0.7 * 19.96)));
  });

  it('a provider has no rate when it has taken everything for thirty seconds', () => {
    reject(1);
    now += 29_999;
    expect(rate.isThrottled).toBe(true);
    now += 1;
    expect([rate.isThrottled, rate.allowed()]).toEqual([false, Number.POSITIVE_INFINITY]);
  });

  it('what could have gone out while a timer was late goes out at once, of 50 ms at most', () => {
    take(1_000);
    reject(112);
    now += 10_000;
    // At the end of the plateau the rate is 1,000 a second again: 50 of 50 ms, and the one that may go out anyway.
    expect(rate.allowed()).toBeGreaterThan(45);
    expect(rate.allowed()).toBeLessThan(55);
  });
});
