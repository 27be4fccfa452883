import { describe, expect, it, test } from 'vitest';
import {
  nextDeliveryAttempt,
  nextInboundAttempt,
  plannedDeliveryDelayMs,
} from '../../../src/domain/webhooks/retry-schedule.ts';
import { HOUR_MS, NOW, SECOND_MS } from '../../support/builders.ts';

const DELIVERY_SECONDS = [5, 15, 45, 135, 405, 1_215, 3_645, 10_935, 21_600, 21_600];
const EVENTS = 10_000;

describe('status webhooks', () => {
  it('plans ten retries, each three times as late, never later than six hours', () => {
    const planned = DELIVERY_SECONDS.map((_, at) => plannedDeliveryDelayMs(at + 1) / SECOND_MS);
    expect(planned).toEqual(DELIVERY_SECONDS);
  });

  test.each([
    ['earliest', 0, 4_000],
    ['middle', 0.5, 5_000],
    ['latest', 1 - Number.EPSILON, 6_000],
  ])('spreads a delay by a fifth: %s', (_, jitter, delay) => {
    expect(nextDeliveryAttempt({ attempts: 1, failedAt: NOW, jitter, retryAfterMs: null })).toEqual({
      kind: 'retry',
      at: NOW + delay,
    });
  });

  test.each([
    ['longer than planned', 1, 8_000, 8_000],
    ['more than twice as long', 1, 3_600_000, 10_000],
    ['shorter', 1, 1_000, 5_000],
    ['nothing', 1, 0, 5_000],
    ['more than twice the longest', 10, 10 * 24 * HOUR_MS, 12 * HOUR_MS],
  ])('waits as long as a receiver asks, within limits: %s', (_, attempts, retryAfterMs, delay) => {
    expect(nextDeliveryAttempt({ attempts, failedAt: NOW, jitter: 0.5, retryAfterMs })).toEqual({
      kind: 'retry',
      at: NOW + delay,
    });
  });

  it('gives up after the eleventh attempt', () => {
    const failed = { failedAt: NOW, jitter: 0.5, retryAfterMs: null };
    expect(nextDeliveryAttempt({ ...failed, attempts: 10 }).kind).toBe('retry');
    expect(nextDeliveryAttempt({ ...failed, attempts: 11 })).toEqual({ kind: 'give-up' });
  });

  it('plans every gap of ten thousand events within its bounds', () => {
    for (let event = 0; event < EVENTS; event += 1) {
      const gaps = attemptsOf(NOW + event, (attempts, failedAt) =>
        nextDeliveryAttempt({ attempts, failedAt, jitter: Math.random(), retryAfterMs: null }),
      );
      expect(gaps).toHaveLength(10);
      const outside = gaps.filter((gap, at) => {
        const planned = (DELIVERY_SECONDS[at] ?? 0) * SECOND_MS;
        return gap < planned * 0.8 || gap > planned * 1.2;
      });
      expect(outside).toEqual([]);
    }
  });
});

describe('inbound events', () => {
  it('attempts an inbound event at once, 10 s and 15 s later, then hourly for two days, to the millisecond', () => {
    const gaps = attemptsOf(NOW, (attempts, attemptedAt) =>
      nextInboundAttempt({ attempts, attemptedAt, firstAttemptAt: NOW }),
    );
    expect(gaps).toEqual([10_000, 15_000, ...Array.from({ length: 47 }, () => HOUR_MS)]);
  });

  it('attempts an inbound event on the last instant of the two days, and not after it', () => {
    const failed = { attempts: 9, firstAttemptAt: NOW };
    const lastStart = NOW + 47 * HOUR_MS;
    expect(nextInboundAttempt({ ...failed, attemptedAt: lastStart })).toEqual({
      kind: 'retry',
      at: NOW + 48 * HOUR_MS,
    });
    expect(nextInboundAttempt({ ...failed, attemptedAt: lastStart + 1 })).toEqual({ kind: 'give-up' });
  });
});

/** Runs a schedule on a clock that stands still between the attempts; the gaps it left, in milliseconds. */
function attemptsOf(
  start: number,
  next: (attempts: number, at: number) => ReturnType<typeof nextDeliveryAttempt>,
): readonly number[] {
  const gaps: number[] = [];
  let at = start;
  for (let attempts = 1; ; attempts += 1) {
    const outcome = next(attempts, at);
    if (outcome.kind === 'give-up') return gaps;
    gaps.push(outcome.at - at);
    at = outcome.at;
  }
}
