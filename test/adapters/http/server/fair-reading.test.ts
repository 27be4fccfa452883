import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FairReading } from '../../../../src/adapters/http/server/fair-reading.ts';

const MS_MAX = 2;
let now: number;
let roundMs: number;
let reading: FairReading;
let wentOn: string[];

beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  roundMs = MS_MAX;
  reading = new FairReading(() => roundMs);
  wentOn = [];
});

afterEach(() => {
  vi.restoreAllMocks();
});

const readerOf = (network: string) => ({ serveNext: () => wentOn.push(network) });
const mayGoOn = (network: string) => reading.mayGoOn(network, readerOf(network));

it('pieces follow each other while the round has time, then one in a round, by address in rotation', async () => {
  expect(mayGoOn('a')).toBe(true);
  now += MS_MAX;
  expect(mayGoOn('a')).toBe(false);
  expect(mayGoOn('a')).toBe(false);
  expect(mayGoOn('b')).toBe(false);
  expect(wentOn).toEqual([]);
  await setImmediate();
  expect(wentOn).toEqual(['a']);
  await setImmediate();
  expect(wentOn).toEqual(['a', 'b']);
  await setImmediate();
  expect(wentOn).toEqual(['a', 'b', 'a']);
  expect(mayGoOn('a')).toBe(true);
});

it('nothing is read in a round without time for it', async () => {
  roundMs = 0;
  expect(mayGoOn('a')).toBe(false);
  await setImmediate();
  await setImmediate();
  expect(wentOn).toEqual([]);
  roundMs = MS_MAX;
  await setImmediate();
  expect(wentOn).toEqual(['a']);
});

it('a client that is gone waits no longer, and the others are read in their order', async () => {
  roundMs = 0;
  const gone = readerOf('gone');
  expect([mayGoOn('a'), reading.mayGoOn('a', gone), reading.mayGoOn('b', gone), mayGoOn('a')]).toEqual(
    Array(4).fill(false),
  );
  reading.drop('a', gone);
  reading.drop('b', gone);
  reading.drop('c', gone);
  roundMs = MS_MAX;
  for (let round = 0; round < 4; round += 1) await setImmediate();
  expect(wentOn).toEqual(['a', 'a']);
});
