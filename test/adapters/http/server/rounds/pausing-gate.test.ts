import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PausingGate } from '../../../../../src/adapters/http/server/rounds/pausing-gate.ts';
import { FairGate } from '../../../../../src/application/concurrency/fair-gate.ts';

/** By the clock, and of that how long the loop was busy. */
let now: number;
let busy: number;
let begun: string[];
let gate: PausingGate;
let ends: Map<string, () => void>;

beforeEach(() => {
  now = 0;
  busy = 0;
  begun = [];
  ends = new Map();
  const maxima = new FairGate({ perKey: 2, all: 6 }, { clock: { now: () => 0 } });
  gate = new PausingGate(maxima, { freeMs: 5, share: 0.2 }, () => busy);
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Work of a key that runs until it is ended. */
function work(name: string): Promise<void> {
  return gate.run(name.charAt(0), async () => {
    begun.push(name);
    await new Promise<void>((resolve) => ends.set(name, resolve));
  });
}

async function end(name: string): Promise<void> {
  ends.get(name)?.();
  await setImmediate();
}

function pass(ms: number, busyMs: number): void {
  now += ms;
  busy += busyMs;
}

it('the gate pauses for 400 ms at most: work that took longer has waited while others computed', async () => {
  const first = work('a1');
  await setImmediate();
  pass(10_000, 9_000);
  await end('a1');
  await first;
  const later = work('b1');
  pass(399, 0);
  await setImmediate();
  expect(begun).toEqual(['a1']);
  pass(1, 0);
  await vi.waitFor(() => expect(begun).toEqual(['a1', 'b1']));
  await end('b1');
  await later;
});

it('the gate pauses behind work that kept the loop busy, until all of it has had a fifth of the time', async () => {
  const first = work('a1');
  await setImmediate();
  pass(50, 10);
  await end('a1');
  await first;
  const later = [work('b1'), work('c1')];
  // Ten milliseconds of work, forty of a pause.
  pass(39, 0);
  await setImmediate();
  expect(begun).toEqual(['a1']);
  pass(1, 0);
  await vi.waitFor(() => expect(begun).toEqual(['a1', 'b1', 'c1']));
  await end('b1');
  await end('c1');
  await Promise.all(later);
});

it('the gate does not pause behind work during which the loop waited, or was busy for a moment', async () => {
  const first = work('a1');
  await setImmediate();
  pass(500, 5);
  await end('a1');
  await first;
  const second = work('a2');
  await setImmediate();
  expect(begun).toEqual(['a1', 'a2']);
  await end('a2');
  await second;
});

it('short work that ends behind long work does not shorten the pause', async () => {
  const running = [work('a1')];
  await setImmediate();
  pass(90, 90);
  running.push(work('b1'));
  await setImmediate();
  pass(10, 10);
  await end('a1');
  await end('b1');
  running.push(work('c1'));
  // The long one had 100 ms: 400 of a pause, where the short one would have 40.
  pass(399, 0);
  await setImmediate();
  expect(begun).toEqual(['a1', 'b1']);
  pass(1, 0);
  await vi.waitFor(() => expect(begun).toEqual(['a1', 'b1', 'c1']));
  await end('c1');
  await Promise.all(running);
});

it('work that fails has had its time as well, and its place is free', async () => {
  const failing = gate.run('a', async () => {
    pass(20, 20);
    throw new Error('planted');
  });
  await expect(failing).rejects.toThrow('planted');
  const next = work('a1');
  pass(79, 0);
  await setImmediate();
  expect(begun).toEqual([]);
  pass(1, 0);
  await vi.waitFor(() => expect(begun).toEqual(['a1']));
  await end('a1');
  await next;
});

it('behind a pause one begins in a round: when it computes long at once, the next one waits behind its pause', async () => {
  const first = work('a1');
  await setImmediate();
  pass(10, 10);
  await end('a1');
  await first;
  const computing = (name: string) =>
    gate.run(name.charAt(0), async () => {
      begun.push(name);
      pass(100, 100);
    });
  const later = [computing('b1'), computing('c1')];
  await setImmediate();
  pass(40, 0);
  await vi.waitFor(() => expect(begun).toEqual(['a1', 'b1']));
  pass(399, 0);
  await setImmediate();
  expect(begun).toEqual(['a1', 'b1']);
  pass(1, 0);
  await vi.waitFor(() => expect(begun).toEqual(['a1', 'b1', 'c1']));
  await Promise.all(later);
});
