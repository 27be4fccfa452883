import { describe, expect, it, test } from 'vitest';
import {
  beginsToFail,
  type CircuitBreaker,
  CLOSED_CIRCUIT,
  circuitAt as circuitWith,
  halfOpened,
  openedUntil,
  recordAttempt as recordWith,
} from '../../../src/domain/shared/circuit-breaker.ts';
import { countsForCircuit } from '../../../src/domain/webhooks/delivery-result.ts';
import {
  BREAKER_LIFETIME_MS,
  DESTINATION_OPEN_WINDOWS_MS,
} from '../../../src/domain/webhooks/destination.ts';
import type { WebhookKind } from '../../../src/domain/webhooks/webhook-kind.ts';
import { MINUTE_MS, NOW, SECOND_MS } from '../../support/builders.ts';

const circuitAt = (breaker: CircuitBreaker, now: number) =>
  circuitWith(breaker, now, DESTINATION_OPEN_WINDOWS_MS);

const recordAttempt = (breaker: CircuitBreaker, succeeded: boolean, now: number) =>
  recordWith(breaker, succeeded, now, DESTINATION_OPEN_WINDOWS_MS);

/** Results in order, `+` a success and `-` a failure, one every `everyMs` from NOW on. */
function having(
  results: string,
  everyMs = SECOND_MS,
  breaker: CircuitBreaker = CLOSED_CIRCUIT,
): CircuitBreaker {
  return [...results].reduce(
    (state, sign, at) => recordAttempt(state, sign === '+', NOW + at * everyMs),
    breaker,
  );
}

describe('a closed circuit', () => {
  test.each<[does: string, when: string, results: string, open: boolean]>([
    ['stays closed', 'nine failures in a row', '---------', false],
    ['opens', 'ten failures in a row', '----------', true],
    ['stays closed', 'nine failures between successes', '++++++++---------+', false],
    ['opens', 'seven failures of ten', '+++-------', true],
    ['stays closed', 'six failures of ten', '++++------', false],
    ['stays closed', 'seven failures of nine', '++-------', false],
    ['stays closed', 'every second of fifty attempts failed', '+-'.repeat(25), false],
  ])('%s after %s', (_does, _when, results, open) => {
    expect(having(results).openUntil !== null).toBe(open);
  });

  it('opens after ten failures in a row, however far apart they are', () => {
    expect(having('----------', 60 * MINUTE_MS).openUntil).toBe(NOW + 9 * 60 * MINUTE_MS + MINUTE_MS);
  });

  it('forgets attempts that are more than five minutes old', () => {
    expect(having('+++-------', MINUTE_MS).openUntil).toBeNull();
  });

  it('counts the attempts of one slice of 30 seconds together', () => {
    expect(having('+-+').recent).toEqual([{ slice: NOW / 30_000, succeeded: 2, failed: 1 }]);
    expect(having('+-', 30 * SECOND_MS).recent).toEqual([
      { slice: NOW / 30_000, succeeded: 1, failed: 0 },
      { slice: NOW / 30_000 + 1, succeeded: 0, failed: 1 },
    ]);
  });
});

describe('the share of failures', () => {
  /** Six failures, then three successes, all at NOW, and one failure at `last`: seven of ten. */
  const sevenOfTenUntil = (last: number) => recordAttempt(having('------+++', 0), false, last);

  it('adds up the attempts of five minutes', () => {
    expect(sevenOfTenUntil(NOW + 5 * MINUTE_MS - 1).openUntil).toBe(NOW + 6 * MINUTE_MS - 1);
    expect(sevenOfTenUntil(NOW + 5 * MINUTE_MS).openUntil).toBeNull();
  });

  it('opens the circuit for attempts that are spread over the five minutes', () => {
    const breaker = having('------+++-', 30 * SECOND_MS);
    expect(breaker.openUntil).toBe(NOW + 9 * 30 * SECOND_MS + MINUTE_MS);
  });
});

describe('an open circuit', () => {
  const openSince = NOW + 9 * SECOND_MS;

  it('lets one event be attempted after its window, and the others wait for the result', () => {
    const open = having('----------');
    expect(circuitAt(open, openSince)).toEqual({ state: 'open', until: openSince + MINUTE_MS });
    expect(circuitAt(open, openSince + MINUTE_MS - 1).state).toBe('open');
    expect(circuitAt(open, openSince + MINUTE_MS)).toEqual({ state: 'half-open' });
    const halfOpen = halfOpened(open, openSince + MINUTE_MS);
    expect(circuitAt(halfOpen, openSince + MINUTE_MS)).toEqual({
      state: 'open',
      until: openSince + MINUTE_MS + 30 * SECOND_MS,
    });
  });

  it('does not stay open for longer than its longest window when the clock is put back', () => {
    const open = { ...CLOSED_CIRCUIT, openUntil: NOW };
    // The clocks of two workers may differ by a minute.
    const longest = 61 * MINUTE_MS;
    expect(circuitAt(open, NOW - longest).state).toBe('open');
    expect(circuitAt(open, NOW - longest - 1)).toEqual({ state: 'half-open' });
    expect(circuitWith(open, NOW - 2 * MINUTE_MS - 1, [SECOND_MS, MINUTE_MS])).toEqual({
      state: 'half-open',
    });
    // A half-open attempt is waited for, however short the windows are.
    expect(circuitWith(open, NOW - 30 * SECOND_MS, [SECOND_MS]).state).toBe('open');
  });

  it('says since when it is open, also after half-open attempts that failed', () => {
    const open = having('----------');
    expect(having('---------').openSince).toBeUndefined();
    expect(open.openSince).toBe(openSince);
    const later = openSince + MINUTE_MS;
    expect(recordAttempt(halfOpened(open, later), false, later).openSince).toBe(openSince);
  });

  it('forgets the attempts from before it opened', () => {
    expect(having('+++-------').recent).toEqual([]);
  });

  it('lets another event be attempted when the result of a half-open attempt never came', () => {
    const halfOpen = halfOpened(having('----------'), openSince + MINUTE_MS);
    expect(circuitAt(halfOpen, openSince + MINUTE_MS + 30 * SECOND_MS)).toEqual({ state: 'half-open' });
  });

  it('stays open for 1, 5, 15, 60 and again 60 minutes while half-open attempts fail', () => {
    let breaker = having('----------');
    let now = openSince;
    const windows: number[] = [];
    for (let at = 0; at < 5; at += 1) {
      const until = breaker.openUntil ?? now;
      windows.push((until - now) / MINUTE_MS);
      now = until;
      breaker = recordAttempt(halfOpened(breaker, now), false, now);
    }
    expect(windows).toEqual([1, 5, 15, 60, 60]);
  });

  it('reports once for each window that it opened, and not for a late failure', () => {
    const opened = having('----------');
    expect(openedUntil(having('---------'), opened)).toBe(openSince + MINUTE_MS);
    expect(openedUntil(CLOSED_CIRCUIT, having('-'))).toBeNull();
    expect(openedUntil(opened, recordAttempt(opened, false, openSince + 5))).toBeNull();
    let breaker = opened;
    for (let window = 0; window < 6; window += 1) {
      const now = breaker.openUntil ?? 0;
      const again = recordAttempt(halfOpened(breaker, now), false, now);
      expect(openedUntil(breaker, again)).toBe(again.openUntil);
      breaker = again;
    }
    expect(openedUntil(breaker, recordAttempt(breaker, true, NOW + 86_400_000))).toBeNull();
  });

  it('does not stay open longer after failures of attempts that were in flight when it opened', () => {
    const open = having('----------');
    expect(recordAttempt(open, false, openSince + 5).openUntil).toBe(open.openUntil);
  });

  it('closes after a success, and its next window is short again', () => {
    const second = recordAttempt(
      halfOpened(having('----------'), openSince + MINUTE_MS),
      false,
      openSince + MINUTE_MS,
    );
    const closed = recordAttempt(halfOpened(second, NOW + 10 * MINUTE_MS), true, NOW + 10 * MINUTE_MS);
    expect(closed).toEqual(CLOSED_CIRCUIT);
    expect(circuitAt(closed, NOW + 10 * MINUTE_MS)).toEqual({ state: 'closed' });
    const again = having('----------', SECOND_MS, closed);
    expect(again.openUntil).toBe(openSince + MINUTE_MS);
  });
});

describe('a circuit breaker', () => {
  it('starts closed and empty for a destination without attempts', () => {
    expect(CLOSED_CIRCUIT).toEqual({
      failuresInRow: 0,
      recent: [],
      openUntil: null,
      consecutiveOpens: 0,
      isHalfOpen: false,
    });
  });

  test.each<[what: string, CircuitBreaker, WebhookKind, boolean]>([
    ['counts attempts of delivery events', CLOSED_CIRCUIT, 'delivery', true],
    ['does not count attempts of inbound events while it is closed', CLOSED_CIRCUIT, 'inbound', false],
    ['counts attempts of inbound events while it is open', having('----------'), 'inbound', true],
  ])('counts events of a kind or not: %s', (_what, breaker, kind, counts) => {
    expect(countsForCircuit(breaker, kind)).toBe(counts);
  });

  test.each<[what: string, CircuitBreaker, boolean]>([
    ['at the first failure', having('-'), true],
    ['at the first failure after successes', having('+++-'), true],
    ['not after successes alone', having('++'), false],
    ['not at the second failure', having('--'), false],
    ['not at a success after one', having('-+'), false],
    ['not at a failure within five minutes of another', having('-+-'), false],
    ['at a failure five minutes after the last', having('+-', 6 * MINUTE_MS, having('-')), true],
  ])('a destination begins to fail: %s', (_what, breaker, begins) => {
    expect(beginsToFail(breaker)).toBe(begins);
  });

  it('stores a circuit breaker for longer than it may be open', () => {
    expect(BREAKER_LIFETIME_MS).toBeGreaterThan(Math.max(...DESTINATION_OPEN_WINDOWS_MS));
  });

  it('a circuit breaker stays small and survives JSON', () => {
    const busy = having('+-'.repeat(5_000), 100);
    expect(JSON.parse(JSON.stringify(busy))).toEqual(busy);
    expect(busy.recent.length).toBeLessThanOrEqual(10);
    expect(JSON.stringify(busy).length).toBeLessThan(1_000);
  });
});
