import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LargeBodyReading } from '../../../../src/adapters/http/server/large-body-reading.ts';

const MS_MAX = 2;
let now: number;
let reading: LargeBodyReading;
let wentOn: string[];

beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  reading = new LargeBodyReading(
    () => MS_MAX,
    (request) => String(request.headers.network),
  );
  wentOn = [];
});

afterEach(() => {
  vi.restoreAllMocks();
});

function mayGoOn(network: string): boolean {
  const request = new IncomingMessage(new Socket());
  request.headers.network = network;
  return reading.mayGoOn(request, () => wentOn.push(network));
}

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
