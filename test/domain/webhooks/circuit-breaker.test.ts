import { describe, expect, it, test } from 'vitest';
import type { WebhookKind } from '../../../src/domain/webhooks/attempt-result.ts';
import {
  beganToRest,
  beginProbe,
  type CircuitBreaker,
  countsForHealth,
  decidePost,
  endpointOf,
  HEALTH_KEPT_MS,
  HEALTHY,
  hostOf,
  OPEN_WINDOWS_MS,
  recordPost,
} from '../../../src/domain/webhooks/circuit-breaker.ts';
import { MINUTE_MS, NOW, SECOND_MS } from '../../support/builders.ts';

/** Results in order, `+` a success and `-` a failure, one every `everyMs` from NOW on. */
function having(results: string, everyMs = SECOND_MS, health: CircuitBreaker = HEALTHY): CircuitBreaker {
  return [...results].reduce(
    (state, sign, at) => recordPost(state, sign === '+', NOW + at * everyMs),
    health,
  );
}

describe('opening', () => {
  test.each<[string, results: string, open: boolean]>([
    ['nine failures', '---------', false],
    ['ten failures in a row', '----------', true],
    ['nine failures on either side of a success', '++++++++---------+', false],
    ['seven of ten', '+++-------', true],
    ['six of ten', '++++------', false],
    ['seven of nine', '++-------', false],
    ['every second of fifty', '+-'.repeat(25), false],
  ])('%s', (_, results, open) => {
    expect(having(results).openUntil !== null).toBe(open);
  });

  it('counts ten in a row over any time, the share over five minutes only', () => {
    expect(having('----------', 60 * MINUTE_MS).openUntil).toBe(NOW + 9 * 60 * MINUTE_MS + MINUTE_MS);
    expect(having('+++-------', MINUTE_MS).openUntil).toBeNull();
  });
});

describe('the share of failures', () => {
  /** Six failures, then three successes, all at NOW, and one failure at `last`: seven of ten. */
  const sevenOfTenUntil = (last: number) => recordPost(having('------+++', 0), false, last);

  it('adds up the attempts of five minutes', () => {
    expect(sevenOfTenUntil(NOW + 5 * MINUTE_MS - 1).openUntil).toBe(NOW + 6 * MINUTE_MS - 1);
    expect(sevenOfTenUntil(NOW + 5 * MINUTE_MS).openUntil).toBeNull();
  });

  it('opens for attempts that are spread over the five minutes', () => {
    const health = having('------+++-', 30 * SECOND_MS);
    expect(health.openUntil).toBe(NOW + 9 * 30 * SECOND_MS + MINUTE_MS);
  });
});

describe('while it is open', () => {
  const openSince = NOW + 9 * SECOND_MS;

  it('events wait, then one probe goes out and the others wait for it', () => {
    const open = having('----------');
    expect(decidePost(open, openSince)).toEqual({ kind: 'wait', until: openSince + MINUTE_MS });
    expect(decidePost(open, openSince + MINUTE_MS - 1).kind).toBe('wait');
    expect(decidePost(open, openSince + MINUTE_MS)).toEqual({ kind: 'probe' });
    const probing = beginProbe(open, openSince + MINUTE_MS);
    expect(decidePost(probing, openSince + MINUTE_MS)).toEqual({
      kind: 'wait',
      until: openSince + MINUTE_MS + 30 * SECOND_MS,
    });
  });

  it('a probe whose result never came is followed by another', () => {
    const probing = beginProbe(having('----------'), openSince + MINUTE_MS);
    expect(decidePost(probing, openSince + MINUTE_MS + 30 * SECOND_MS)).toEqual({ kind: 'probe' });
  });

  it('windows grow: 1, 5, 15, 60 and again 60 minutes', () => {
    let health = having('----------');
    let now = openSince;
    const consecutiveOpens: number[] = [];
    for (let at = 0; at < 5; at += 1) {
      const until = health.openUntil ?? now;
      consecutiveOpens.push((until - now) / MINUTE_MS);
      now = until;
      health = recordPost(beginProbe(health, now), false, now);
    }
    expect(consecutiveOpens).toEqual([1, 5, 15, 60, 60]);
  });

  it('an endpoint begins to rest once for each window, and not by a late failure', () => {
    const tripped = having('----------');
    expect(beganToRest(having('---------'), tripped)).toBe(openSince + MINUTE_MS);
    expect(beganToRest(HEALTHY, having('-'))).toBeNull();
    expect(beganToRest(tripped, recordPost(tripped, false, openSince + 5))).toBeNull();
    let health = tripped;
    for (let window = 0; window < 6; window += 1) {
      const now = health.openUntil ?? 0;
      const probed = recordPost(beginProbe(health, now), false, now);
      expect(beganToRest(health, probed)).toBe(probed.openUntil);
      health = probed;
    }
    expect(beganToRest(health, recordPost(health, true, NOW + 86_400_000))).toBeNull();
  });

  it('failures of posts that were already on their way do not lengthen the window', () => {
    const open = having('----------');
    expect(recordPost(open, false, openSince + 5).openUntil).toBe(open.openUntil);
  });

  it('a success closes it, and the next window is short again', () => {
    const second = recordPost(
      beginProbe(having('----------'), openSince + MINUTE_MS),
      false,
      openSince + MINUTE_MS,
    );
    const closed = recordPost(beginProbe(second, NOW + 10 * MINUTE_MS), true, NOW + 10 * MINUTE_MS);
    expect(closed).toEqual(HEALTHY);
    expect(decidePost(closed, NOW + 10 * MINUTE_MS)).toEqual({ kind: 'post' });
    const again = having('----------', SECOND_MS, closed);
    expect(again.openUntil).toBe(openSince + MINUTE_MS);
  });
});

describe('which posts count', () => {
  const resting = having('----------');

  test.each<[string, CircuitBreaker, WebhookKind, boolean]>([
    ['of a message that was sent', HEALTHY, 'delivery', true],
    ['of one that came in', HEALTHY, 'inbound', false],
    ['of one that came in, as the probe', resting, 'inbound', true],
  ])('%s', (_, health, kind, counts) => {
    expect(countsForHealth(health, kind)).toBe(counts);
  });

  it('of an endpoint are remembered for longer than it may rest', () => {
    expect(HEALTH_KEPT_MS).toBeGreaterThan(Math.max(...OPEN_WINDOWS_MS));
  });
});

describe('the state', () => {
  it('of an endpoint nobody has posted to is closed and empty', () => {
    expect(HEALTHY).toEqual({
      failuresInRow: 0,
      recent: [],
      openUntil: null,
      consecutiveOpens: 0,
      isHalfOpen: false,
    });
  });

  it('forgets the recent attempts when it opens', () => {
    expect(having('----------').recent).toEqual([]);
  });

  it('is small and survives JSON', () => {
    const busy = having('+-'.repeat(5_000), 100);
    expect(JSON.parse(JSON.stringify(busy))).toEqual(busy);
    expect(busy.recent.length).toBeLessThanOrEqual(10);
    expect(JSON.stringify(busy).length).toBeLessThan(1_000);
  });

  test.each([
    ['https://example.com/hook?key=1', 'example.com/hook'],
    ['https://example.com:8443/a/b', 'example.com:8443/a/b'],
    ['https://example.com/', 'example.com/'],
  ])('belongs to a host and path: %s', (url, endpoint) => {
    expect(endpointOf(url)).toBe(endpoint);
    expect(hostOf(endpoint)).toBe(new URL(url).host);
  });
});
