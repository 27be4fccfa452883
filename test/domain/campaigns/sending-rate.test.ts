import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  freeSince,
  keepRate,
  messagesPerSecond,
  NO_SLOTS,
  NOTHING_SENT,
  nextSlots,
} from '../../../src/domain/campaigns/sending-rate.ts';
import { aWhatsappPhoneNumber, NOW } from '../../support/builders.ts';

describe('the sending rate of a number', () => {
  it.each([
    ['TIER_UNLIMITED', 'GREEN', 1_000],
    ['TIER_UNLIMITED', 'YELLOW', 1_000],
    ['TIER_UNLIMITED', 'RED', 80],
    ['TIER_UNLIMITED', 'UNKNOWN', 80],
    ['TIER_100K', 'GREEN', 80],
    ['', '', 80],
  ])(
    'a number of limit %s and quality %s sends %i messages a second',
    (messagingLimit, qualityRating, expected) => {
      expect(messagesPerSecond(aWhatsappPhoneNumber({ messagingLimit, qualityRating }))).toBe(expected);
    },
  );
});

describe('the slots of a number', () => {
  it('slots start eight messages every 100 ms at 80 a second', () => {
    const { startsAt, freeAt } = nextSlots(0, 80, 17, NOW);
    expect(startsAt).toEqual([
      ...Array.from({ length: 8 }, () => NOW),
      ...Array.from({ length: 8 }, () => NOW + 100),
      NOW + 200,
    ]);
    expect(freeAt).toBe(NOW + 300);
    expect(nextSlots(0, 80, 16, NOW).freeAt).toBe(NOW + 200);
  });

  it('slots start a hundred messages every 100 ms at 1,000 a second', () => {
    const { startsAt, freeAt } = nextSlots(0, 1_000, 101, NOW);
    expect([startsAt[99], startsAt[100], freeAt]).toEqual([NOW, NOW + 100, NOW + 200]);
  });

  it('slots begin when the number is free, and at once when it already is', () => {
    expect(nextSlots(NOW + 70, 80, 1, NOW)).toEqual({ startsAt: [NOW + 70], freeAt: NOW + 170 });
    expect(nextSlots(NOW - 70, 80, 1, NOW)).toEqual({ startsAt: [NOW], freeAt: NOW + 100 });
    expect(nextSlots(NOW + 5, 80, 0, NOW)).toEqual({ startsAt: [], freeAt: NOW + 5 });
  });

  it('slots are all now where nothing limits the rate, and leave the number as it was', () => {
    expect(nextSlots(NOW + 9, null, 3, NOW)).toEqual({ startsAt: [NOW, NOW, NOW], freeAt: NOW + 9 });
  });

  it('slots never start more messages in a second than the number may send, over several campaigns', () => {
    const counts = fc.array(fc.nat({ max: 300 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(counts, fc.constantFrom(80, 1_000), (campaigns, perSecond) => {
        let freeAt = 0;
        const all = campaigns.flatMap((count, n) => {
          const slots = nextSlots(freeAt, perSecond, count, NOW + n * 37);
          freeAt = slots.freeAt;
          return slots.startsAt;
        });
        const most = Math.max(
          0,
          ...all.map((from) => all.filter((at) => at >= from && at < from + 1_000).length),
        );
        expect(most).toBeLessThanOrEqual(perSecond);
        expect([...all].sort((a, b) => a - b)).toEqual(all);
      }),
    );
  });
});

describe('messages whose slots have come', () => {
  it('messages that are in time all start, group after group', () => {
    let state = NOTHING_SENT;
    for (let group = 0; group < 50; group += 1) {
      const decision = keepRate(state, 80, 8, NOW + group * 100);
      expect(decision).toMatchObject({ startsNow: 8, retryAts: [] });
      state = decision.state;
    }
    expect(state).toEqual({ sentUntil: NOW + 5_000, givenUntil: 0 });
  });

  it('messages that are late start for 300 ms of the rate, and the others get slots behind them', () => {
    const decision = keepRate(NOTHING_SENT, 80, 100, NOW);
    expect(decision.startsNow).toBe(24);
    expect(decision.retryAts).toHaveLength(76);
    expect(decision.retryAts.slice(0, 9)).toEqual([...Array.from({ length: 8 }, () => NOW + 300), NOW + 400]);
    expect(decision.retryAts.slice(-5)).toEqual([
      NOW + 1_100,
      ...Array.from({ length: 4 }, () => NOW + 1_200),
    ]);
    expect(decision.state).toEqual({ sentUntil: NOW + 300, givenUntil: NOW + 1_300 });
    // Those who come next get slots behind these.
    const next = keepRate(decision.state, 80, 9, NOW);
    expect(next).toEqual({
      startsNow: 0,
      retryAts: [...Array.from({ length: 8 }, () => NOW + 1_300), NOW + 1_400],
      state: { sentUntil: NOW + 300, givenUntil: NOW + 1_500 },
    });
    // At their slots they start.
    expect(keepRate(next.state, 80, 8, NOW + 300)).toMatchObject({ startsNow: 8, retryAts: [] });
  });

  it('messages of a number that was quiet for long have no more than 300 ms in hand', () => {
    const quiet = { sentUntil: NOW - 3_600_000, givenUntil: NOW - 3_600_000 };
    expect(keepRate(quiet, 1_000, 1_500, NOW).startsNow).toBe(300);
  });

  it('messages start again as time passes', () => {
    const state = { sentUntil: NOW + 1_000, givenUntil: NOW + 1_200 };
    expect(keepRate(state, 80, 17, NOW + 900)).toMatchObject({ startsNow: 16, retryAts: [NOW + 1_200] });
    expect(keepRate(state, 80, 16, NOW + 900)).toEqual({
      startsNow: 16,
      retryAts: [],
      state: { sentUntil: NOW + 1_200, givenUntil: NOW + 1_200 },
    });
    expect(keepRate({ sentUntil: NOW + 300, givenUntil: 0 }, 80, 1, NOW)).toEqual({
      startsNow: 0,
      retryAts: [NOW + 300],
      state: { sentUntil: NOW + 300, givenUntil: NOW + 400 },
    });
  });

  it('slots of late messages are whole milliseconds', () => {
    expect(keepRate({ sentUntil: NOW + 5, givenUntil: 0 }, 80, 24, NOW)).toEqual({
      startsNow: 23,
      retryAts: [NOW + 293],
      state: { sentUntil: NOW + 292.5, givenUntil: NOW + 393 },
    });
  });

  it('messages never start faster than the rate, but for 300 ms in hand, however late they come', () => {
    const batch = fc.record({
      afterMs: fc.integer({ min: 0, max: 2_000 }),
      count: fc.integer({ min: 1, max: 250 }),
    });
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 60 }), (batches) => {
        let state = NOTHING_SENT;
        let now = NOW;
        const started: { at: number; count: number }[] = [];
        for (const { afterMs, count } of batches) {
          now += afterMs;
          const decision = keepRate(state, 80, count, now);
          expect(decision.startsNow + decision.retryAts.length).toBe(count);
          for (const at of decision.retryAts) expect(at).toBeGreaterThan(now);
          started.push({ at: now, count: decision.startsNow });
          state = decision.state;
        }
        for (const from of started) {
          let sum = 0;
          for (const { at, count } of started.filter((each) => each.at >= from.at)) {
            sum += count;
            expect(sum).toBeLessThanOrEqual(((at - from.at) / 1_000 + 0.3) * 80 + 1);
          }
        }
      }),
    );
  });
});

describe('a clock that ran ahead', () => {
  it('slots that were noted more than a minute after now do not count', () => {
    const freeAt = NOW + 86_400_000;
    expect(freeSince({ freeAt, savedAt: NOW + 60_000 }, NOW)).toBe(freeAt);
    expect(freeSince({ freeAt, savedAt: NOW + 60_001 }, NOW)).toBe(0);
    expect(freeSince(NO_SLOTS, NOW)).toBe(0);
  });

  it('what was started by it does not hold up what starts now', () => {
    const ahead = { sentUntil: NOW + 301, givenUntil: NOW + 86_400_000 };
    expect(keepRate(ahead, 80, 25, NOW)).toEqual({
      startsNow: 24,
      retryAts: [NOW + 300],
      state: { sentUntil: NOW + 300, givenUntil: NOW + 400 },
    });
    const inTime = { sentUntil: NOW + 300, givenUntil: NOW + 86_400_000 };
    expect(keepRate(inTime, 80, 1, NOW)).toMatchObject({ startsNow: 0, retryAts: [NOW + 86_400_000] });
  });
});
