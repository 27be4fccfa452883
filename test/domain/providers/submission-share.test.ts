import { expect, it } from 'vitest';
import { moreInFlight, waitingMax } from '../../../src/domain/providers/submission-share.ts';

it('of a backlog four may wait at a provider, or a quarter of what it took, rounded up', () => {
  expect([0, 1, 16, 17, 100].map(waitingMax)).toEqual([4, 4, 4, 5, 25]);
});

it('a project without slow submissions may have as many in flight as it leaves free, and more but for the kept places', () => {
  expect(moreInFlight({ inFlight: 0, slow: 0, tookLong: false }, { free: 1, places: 10 })).toBe(1);
  expect(moreInFlight({ inFlight: 0, slow: 0, tookLong: false }, { free: 9, places: 10 })).toBe(8);
  expect(moreInFlight({ inFlight: 4, slow: 0, tookLong: false }, { free: 5, places: 9 })).toBe(4);
  expect(moreInFlight({ inFlight: 8, slow: 0, tookLong: false }, { free: 2, places: 10 })).toBe(1);
  expect(moreInFlight({ inFlight: 9, slow: 0, tookLong: false }, { free: 1, places: 10 })).toBe(0);
});

it('a project with slow submissions may have more while those are fewer than the places that are free beyond the kept ones', () => {
  expect(moreInFlight({ inFlight: 7, slow: 1, tookLong: false }, { free: 3, places: 10 })).toBe(1);
  expect(moreInFlight({ inFlight: 7, slow: 2, tookLong: false }, { free: 3, places: 10 })).toBe(0);
});

it('a project that was slow lately leaves whole tenths of the places free', () => {
  expect(moreInFlight({ inFlight: 0, slow: 0, tookLong: true }, { free: 1, places: 9 })).toBe(1);
  expect(moreInFlight({ inFlight: 0, slow: 0, tookLong: true }, { free: 1, places: 10 })).toBe(0);
  expect(moreInFlight({ inFlight: 0, slow: 0, tookLong: true }, { free: 26, places: 256 })).toBe(1);
  expect(moreInFlight({ inFlight: 0, slow: 0, tookLong: true }, { free: 25, places: 256 })).toBe(0);
  expect(moreInFlight({ inFlight: 0, slow: 0, tookLong: false }, { free: 25, places: 256 })).toBe(13);
});
