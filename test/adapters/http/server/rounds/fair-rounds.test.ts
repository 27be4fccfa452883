import { nextTick } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type CallerGroup, FairRounds } from '../../../../../src/adapters/http/server/rounds/fair-rounds.ts';
import { WAITING_REQUESTS_MS_MAX } from '../../../../../src/adapters/http/server-limits.ts';

let rounds: FairRounds;
/** The connections whose requests were served, in order. */
let served: string[];
let now: number;

beforeEach(() => {
  rounds = new FairRounds(() => WAITING_REQUESTS_MS_MAX);
  served = [];
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** A connection of `network` with so many waiting requests, each of which takes `ms` behind its first promise. */
function wait(network: string, name: string, requests: number, ms = 0, group: CallerGroup = 'unknown'): void {
  let left = requests;
  const connection = {
    serveNext(): void {
      served.push(name);
      void Promise.resolve().then(() => {
        nextTick(() => {
          now += ms;
        });
      });
      left -= 1;
      if (left > 0) rounds.add(network, connection, group);
    },
  };
  rounds.add(network, connection, group);
}

it('serves waiting requests round-robin over addresses, and over the connections of each', async () => {
  wait('a', 'a1', 4);
  wait('a', 'a2', 2);
  wait('b', 'b1', 3);
  await setImmediate();
  expect(served).toEqual(['a1', 'b1', 'a2', 'b1', 'a1', 'b1', 'a2', 'a1', 'a1']);
});

it('serves projects and unknown callers alternately, however many of those wait', async () => {
  for (let index = 0; index < 100; index += 1) wait(`address ${index}`, 's', 1);
  wait('p', 'p', 2, 0, 'project');
  wait('q', 'q', 1, 0, 'project');
  await setImmediate();
  expect(served.slice(0, 7).join('')).toBe('spsqsps');
  expect(served).toHaveLength(103);
});

it('serves nothing in the round in which a connection is added', async () => {
  wait('a', 'a1', 1);
  expect(served).toEqual([]);
  await setImmediate();
  expect(served).toEqual(['a1']);
});

it('lets callers go on at once while nothing waits and the round has time, and else in rotation over projects', async () => {
  expect(rounds.wait('a', 'project')).toBeNull();
  now += WAITING_REQUESTS_MS_MAX - 1;
  expect(rounds.wait('a', 'project')).toBeNull();
  now += 1;
  const order = ['a1', 'a2', 'a3', 'b1'].map((name) =>
    rounds.wait(name.charAt(0), 'project')?.then(() => {
      served.push(name);
    }),
  );
  // The next round has time again, but what waits goes first.
  await setImmediate();
  await Promise.all(order);
  expect(served).toEqual(['a1', 'b1', 'a2', 'a3']);
  expect(rounds.wait('a', 'project')).toBeNull();
});

it('pauses between rounds when it has a share of the time', async () => {
  const shared = new FairRounds(() => 1, 0.2);
  const order: string[] = [];
  const go = (name: string, ms: number) =>
    shared.wait(name, 'project')?.then(() => {
      order.push(name);
      now += ms;
    });
  const waits = [go('a', 5), go('b', 5)];
  await setImmediate();
  expect(order).toEqual(['a']);
  now += 19;
  await setImmediate();
  expect(order).toEqual(['a']);
  await Promise.all(waits);
  expect(order).toEqual(['a', 'b']);
});

it('leaves the rest to the next rounds once their time in one round is over, however many connections wait', async () => {
  for (let index = 0; index < 100; index += 1) wait('a', `a${index}`, 16, 1);
  await setImmediate();
  expect(served).toHaveLength(WAITING_REQUESTS_MS_MAX);
  await setImmediate();
  expect(served).toHaveLength(2 * WAITING_REQUESTS_MS_MAX);
});

it('serves less in a round as soon as a round is to be shorter', async () => {
  let msPerRound = 4;
  const rounds = new FairRounds(() => msPerRound);
  const round: string[] = [];
  const work = (name: string) => ({
    serveNext(): void {
      round.push(name);
      now += 1;
    },
  });
  for (const name of ['1', '2', '3', '4', '5', '6']) rounds.add('a', work(name), 'project');
  await setImmediate();
  expect(round.splice(0)).toEqual(['1', '2', '3', '4']);
  msPerRound = 0;
  await setImmediate();
  expect(round.splice(0)).toEqual([]);
  msPerRound = 1;
  await setImmediate();
  expect(round.splice(0)).toEqual(['5']);
  await setImmediate();
  expect(round).toEqual(['6']);
});
