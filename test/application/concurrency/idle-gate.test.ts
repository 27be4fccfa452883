import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { IdleGate } from '../../../src/application/concurrency/idle-gate.ts';

it('an idle gate resolves at once while nothing is in flight', async () => {
  const gate = new IdleGate();
  expect(gate.isIdle).toBe(true);
  await expect(gate.idle()).resolves.toBeUndefined();
});

it('an idle gate resolves for every waiter when the last of several things ends', async () => {
  const gate = new IdleGate();
  const resolved: string[] = [];
  gate.begin(2);
  gate.begin();
  const both = Promise.all([
    gate.idle().then(() => resolved.push('first')),
    gate.idle().then(() => resolved.push('second')),
  ]);
  gate.end(2);
  await nextRound();
  expect([resolved, gate.isIdle]).toEqual([[], false]);
  gate.end();
  await both;
  expect([resolved, gate.isIdle]).toEqual([['first', 'second'], true]);
});

it('an idle gate keeps a waiter when something begins as the last one ends', async () => {
  const gate = new IdleGate();
  gate.begin();
  let isResolved = false;
  const idle = gate.idle().then(() => {
    isResolved = true;
  });
  gate.end();
  gate.begin();
  await nextRound();
  expect(isResolved).toBe(false);
  gate.end();
  await idle;
});

it('an idle gate lets a caller go on as soon as no more are in flight than it can bear', async () => {
  const gate = new IdleGate();
  gate.begin(4);
  let isResolved = false;
  const few = gate.atMost(2).then(() => {
    isResolved = true;
  });
  gate.end();
  await nextRound();
  expect(isResolved).toBe(false);
  gate.end();
  await few;
  await gate.atMost(2);
});
