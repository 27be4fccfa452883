import { expect, it } from 'vitest';
import { moreInFlight } from '../../../src/domain/providers/submission-share.ts';
import { waitingMax } from '../../../src/domain/providers/waiting-limits.ts';

it('of a backlog four may wait at a provider, or a quarter of what it took, rounded up', () => {
  expect([0, 1, 16, 17, 100].map(waitingMax)).toEqual([4, 4, 4, 5, 25]);
});

it('a project without slow submissions may have as many in flight as it leaves free, and more but for the kept places', () => {
  expect(moreInFlight({ inFlight: 0, slow: 0, latency: 'quick' }, { free: 1, places: 10 })).toBe(1);
  expect(moreInFlight({ inFlight: 0, slow: 0, latency: 'quick' }, { free: 9, places: 10 })).toBe(8);
  expect(moreInFlight({ inFlight: 4, slow: 0, latency: 'quick' }, { free: 5, places: 9 })).toBe(4);
  expect(moreInFlight({ inFlight: 8, slow: 0, latency: 'quick' }, { free: 2, places: 10 })).toBe(1);
  expect(moreInFlight({ inFlight: 9, slow: 0, latency: 'quick' }, { free: 1, places: 10 })).toBe(0);
});

it('a project with slow submissions may have more while those are fewer than the places that are free beyond the kept ones', () => {
  expect(moreInFlight({ inFlight: 7, slow: 1, latency: 'quick' }, { free: 3, places: 10 })).toBe(1);
  expect(moreInFlight({ inFlight: 7, slow: 2, latency: 'quick' }, { free: 3, places: 10 })).toBe(0);
});

it('a project leaves whole tenths of the places free when it is slow, and twentieths when it is long', () => {
  expect(moreInFlight({ inFlight: 0, slow: 0, latency: 'long' }, { free: 13, places: 256 })).toBe(1);
  expect(moreInFlight({ inFlight: 0, slow: 0, latency: 'long' }, { free: 1, places: 19 })).toBe(1);
  expect(moreInFlight({ inFlight: 0, slow: 0, latency: 'long' }, { free: 1, places: 20 })).toBe(0);
  expect(moreInFlight({ inFlight: 0, slow: 0, latency: 'slow' }, { free: 1, places: 9 })).toBe(1);
  expect(moreInFlight({ inFlight: 0, slow: 0, latency: 'slow' }, { free: 1, places: 10 })).toBe(0);
  expect(moreInFlight({ inFlight: 0, slow: 0, latency: 'slow' }, { free: 26, places: 256 })).toBe(1);
  expect(moreInFlight({ inFlight: 0, slow: 0, latency: 'slow' }, { free: 25, places: 256 })).toBe(0);
  expect(moreInFlight({ inFlight: 0, slow: 0, latency: 'quick' }, { free: 25, places: 256 })).toBe(13);
});
