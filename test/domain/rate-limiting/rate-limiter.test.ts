import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decideRate, type RateLimit } from '../../../src/domain/rate-limiting/rate-limiter.ts';
import { MINUTE_MS, NOW, SECOND_MS } from '../../support/builders.ts';

const LIMIT: RateLimit = { maxRequests: 3, timeWindowMinutes: 10 };
const ago = (minutes: number, ms = 0) => NOW - minutes * MINUTE_MS + ms;

describe('deciding', () => {
  test.each<[string, readonly number[], 'allowed' | number]>([
    ['none before', [], 'allowed'],
    ['two before', [ago(1), ago(2)], 'allowed'],
    ['three before', [ago(1), ago(2), ago(3)], 7],
    ['in any order', [ago(2), ago(3), ago(1)], 7],
    ['four before: two have to leave', [ago(1), ago(2), ago(3), ago(4)], 7],
    ['the oldest just inside', [ago(1), ago(2), ago(10, 1)], 1],
    ['the oldest just outside', [ago(1), ago(2), ago(10)], 'allowed'],
    ['all at this instant', [NOW, NOW, NOW], 10],
    ['a minute and a bit to go', [NOW, NOW, ago(9, 1)], 2],
    ['a minute to go', [NOW, NOW, ago(9)], 1],
    ['those of a clock a minute ahead', [ago(-1), ago(1), ago(2)], 8],
    ['those of a clock further ahead do not count', [ago(-1, 1), ago(-60), ago(1), ago(2)], 'allowed'],
    ['old ones do not count', [ago(11), ago(12), ago(13), ago(1), ago(2)], 'allowed'],
  ])('the rate limiter decides by the sends within its window: %s', (_, acceptedAt, expected) => {
    expect(decideRate(LIMIT, acceptedAt, NOW)).toEqual(
      expected === 'allowed'
        ? { kind: 'allowed' }
        : { kind: 'rate-limited', waitMinutes: expected, maxRequests: 3, timeWindowMinutes: 10 },
    );
  });

  it('the rate limiter does not change the instants it is given', () => {
    const acceptedAt = Object.freeze([ago(1), ago(3), ago(2)]);
    decideRate(LIMIT, acceptedAt, NOW);
    expect(acceptedAt).toEqual([ago(1), ago(3), ago(2)]);
  });
});

const limits = fc.record({
  maxRequests: fc.integer({ min: 1, max: 6 }),
  timeWindowMinutes: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 10_080 })),
});

describe('for any limit', () => {
  it('a caller who waits waitMinutes is allowed, after at least one minute and at most the window', () => {
    fc.assert(
      fc.property(
        limits,
        fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { maxLength: 20, size: 'max' }),
        (limit, ages) => {
          const windowMs = limit.timeWindowMinutes * MINUTE_MS;
          const acceptedAt = ages.map((age) => NOW - Math.floor(age * windowMs));
          const decision = decideRate(limit, acceptedAt, NOW);
          if (decision.kind === 'allowed') return;
          expect(decision.waitMinutes).toBeGreaterThanOrEqual(1);
          expect(decision.waitMinutes).toBeLessThanOrEqual(limit.timeWindowMinutes);
          const later = NOW + decision.waitMinutes * MINUTE_MS;
          expect(decideRate(limit, acceptedAt, later)).toEqual({ kind: 'allowed' });
          // And no more than a minute longer than it has to be.
          if (decision.waitMinutes > 1) {
            expect(decideRate(limit, acceptedAt, later - MINUTE_MS).kind).toBe('rate-limited');
          }
        },
      ),
    );
  });

  it('no window has more than maxRequests accepted sends, and no send is rejected that would fit', () => {
    const pauses = fc.oneof(
      fc.constant(0),
      fc.integer({ min: 1, max: SECOND_MS }),
      fc.integer({ min: 1, max: 5 * MINUTE_MS }),
      fc.constantFrom(MINUTE_MS - 1, MINUTE_MS, MINUTE_MS + 1),
    );
    const shortLimits = fc.record({
      maxRequests: fc.integer({ min: 1, max: 5 }),
      timeWindowMinutes: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(shortLimits, fc.array(pauses, { maxLength: 60, size: 'max' }), (limit, waits) => {
        const windowMs = limit.timeWindowMinutes * MINUTE_MS;
        const accepted: number[] = [];
        let now = NOW;
        for (const wait of waits) {
          now += wait;
          const inWindow = accepted.filter((at) => now - at < windowMs).length;
          const isAllowed = decideRate(limit, accepted, now).kind === 'allowed';
          expect(isAllowed).toBe(inWindow < limit.maxRequests);
          if (isAllowed) accepted.push(now);
        }
        for (const start of accepted) {
          const together = accepted.filter((at) => at >= start && at < start + windowMs);
          expect(together.length).toBeLessThanOrEqual(limit.maxRequests);
        }
      }),
    );
  });
});
