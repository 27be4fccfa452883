import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FairReading } from '../../../../../src/adapters/http/server/rounds/fair-reading.ts';

const MS_MAX = 2;
let now: number;
let roundMs: number;
let reading: FairReading;
let wentOn: string[];

beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  roundMs = MS_MAX;
  reading = new FairReading({ msMax: () => roundMs, perRound: 1, share: 0.25 });
  wentOn = [];
});

afterEach(() => {
  vi.restoreAllMocks();
});

const readerOf = (network: string) => ({ serveNext: () => wentOn.push(network) });
const mayGoOn = (network: string) => reading.mayGoOn(network, readerOf(network));

it('pieces follow each other while the round has time, then one in a round, by address in rotation and by time', async () => {
  expect(mayGoOn('a')).toBe(true);
  now += MS_MAX;
  for (const network of ['a', 'a', 'a', 'b']) expect(mayGoOn(network)).toBe(false);
  expect(wentOn).toEqual([]);
  await setImmediate();
  expect(wentOn).toEqual(['a']);
  await setImmediate();
  expect(wentOn).toEqual(['a', 'a']);
  await setImmediate();
  expect(wentOn).toEqual(['a', 'a', 'b']);
  await setImmediate();
  expect(wentOn).toEqual(['a', 'a', 'b', 'a']);
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
  expect([mayGoOn('a'), reading.mayGoOn('a', gone), mayGoOn('a')]).toEqual(Array(3).fill(false));
  reading.drop(gone);
  reading.drop(gone);
  roundMs = MS_MAX;
  for (let round = 0; round < 4; round += 1) await setImmediate();
  expect(wentOn).toEqual(['a', 'a']);
});

it('nobody goes on before those who wait, and as many go on in a round as it says', async () => {
  reading = new FairReading({ msMax: () => roundMs, perRound: 2, share: 1 });
  now += MS_MAX;
  roundMs = 0;
  for (const network of ['a', 'a', 'a', 'b']) expect(mayGoOn(network)).toBe(false);
  roundMs = MS_MAX;
  await setImmediate();
  expect(wentOn).toEqual(['a', 'a']);
  expect(mayGoOn('d')).toBe(false);
  await setImmediate();
  expect(wentOn).toEqual(['a', 'a', 'b', 'a']);
  await setImmediate();
  expect(wentOn.at(-1)).toBe('d');
});

it('behind a long round as many go on as its milliseconds allow, behind an hour no more than behind 50, and behind time in which nobody waited as behind a short one', async () => {
  reading = new FairReading({ msMax: () => roundMs, perRound: 2, perMs: 0.5, share: 1 });
  const wait = (clients: number): void => {
    roundMs = 0;
    for (let client = 0; client < clients; client += 1) expect(mayGoOn('a')).toBe(false);
    roundMs = MS_MAX;
  };
  wait(33);
  now += 3_600_000;
  await setImmediate();
  expect(wentOn).toHaveLength(25);
  now += 3;
  await setImmediate();
  expect(wentOn).toHaveLength(27);
  now += 12;
  await setImmediate();
  expect(wentOn).toHaveLength(33);
  now += 60;
  wait(3);
  await setImmediate();
  expect(wentOn).toHaveLength(35);
  await setImmediate();
  expect(wentOn).toHaveLength(36);
});

it('a round that takes longer than it has is followed by a pause, and one that takes less is not', async () => {
  const read = (ms: number) => {
    reading.noteRead();
    now += ms;
    reading.noteRead();
  };
  read(MS_MAX);
  await setImmediate();
  expect(mayGoOn('a')).toBe(true);
  now += MS_MAX;
  read(20);
  await setImmediate();
  expect(mayGoOn('a')).toBe(false);
  await setImmediate();
  now += 59;
  expect(mayGoOn('b')).toBe(false);
  expect(wentOn).toEqual([]);
  now += 1;
  await vi.waitFor(() => expect(wentOn).toEqual(['a', 'b']));
});
