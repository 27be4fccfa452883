import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { WaitGroup } from '../../../src/application/concurrency/wait-group.ts';

it('a wait group resolves at once while nothing is in flight', async () => {
  const group = new WaitGroup();
  expect(group.isIdle).toBe(true);
  await expect(group.idle()).resolves.toBeUndefined();
});

it('a wait group resolves for every waiter when the last of several things ends', async () => {
  const group = new WaitGroup();
  const resolved: string[] = [];
  group.begin(2);
  group.begin();
  const both = Promise.all([
    group.idle().then(() => resolved.push('first')),
    group.idle().then(() => resolved.push('second')),
  ]);
  group.end(2);
  await nextRound();
  expect([resolved, group.isIdle]).toEqual([[], false]);
  group.end();
  await both;
  expect([resolved, group.isIdle]).toEqual([['first', 'second'], true]);
});

it('a wait group keeps a waiter when something begins as the last one ends', async () => {
  const group = new WaitGroup();
  group.begin();
  let isResolved = false;
  const idle = group.idle().then(() => {
    isResolved = true;
  });
  group.end();
  group.begin();
  await nextRound();
  expect(isResolved).toBe(false);
  group.end();
  await idle;
});

it('a wait group lets a caller go on as soon as no more are in flight than it can bear', async () => {
  const group = new WaitGroup();
  group.begin(4);
  let isResolved = false;
  const few = group.atMost(2).then(() => {
    isResolved = true;
  });
  group.end();
  await nextRound();
  expect(isResolved).toBe(false);
  group.end();
  await few;
  await group.atMost(2);
});
