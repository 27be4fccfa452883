import { expect, it } from 'vitest';
import { EventLoopShare } from '../../../src/application/concurrency/event-loop-share.ts';

/** An event loop that is as busy as the work says, and ends its pauses at once. */
function shareWorld() {
  let busyMs = 1_000;
  const pauses: number[] = [];
  const share = new EventLoopShare({
    busyMs: () => busyMs,
    pause: async (ms) => void pauses.push(ms),
  });
  const work = (ms: number) =>
    share.run(async () => {
      busyMs += ms;
      return ms;
    });
  return { share, work, pauses };
}

it('work that kept the event loop busy is followed by a pause of twice as long', async () => {
  const { work, pauses } = shareWorld();
  expect(await work(40)).toBe(40);
  expect(pauses).toEqual([80]);
});

it.each([
  [5, []],
  [6, [12]],
  [100, [200]],
  [10_000, [200]],
])('work of %i ms is followed by the pauses %j', async (ms, expected) => {
  const { work, pauses } = shareWorld();
  await work(ms);
  expect(pauses).toEqual(expected);
});

it('short pieces of work are followed by one pause for them all', async () => {
  const { work, pauses } = shareWorld();
  await work(3);
  await work(2);
  expect(pauses).toEqual([]);
  await work(3);
  await work(4);
  expect(pauses).toEqual([16]);
});

it('work that fails is followed by a pause as well', async () => {
  let busyMs = 0;
  const pauses: number[] = [];
  const share = new EventLoopShare({ busyMs: () => busyMs, pause: async (ms) => void pauses.push(ms) });
  const failing = share.run(async () => {
    busyMs += 10;
    throw new Error('planted');
  });
  await expect(failing).rejects.toThrow('planted');
  expect(pauses).toEqual([20]);
});

it('work resolves before its pause, and the next one begins behind it', async () => {
  let busyMs = 0;
  const overs: (() => void)[] = [];
  const share = new EventLoopShare({
    busyMs: () => busyMs,
    pause: () => new Promise<void>((over) => void overs.push(over)),
  });
  const begun: string[] = [];
  const work = (name: string) =>
    share.run(async () => {
      begun.push(name);
      busyMs += 10;
    });
  await work('first');
  const later = [work('second'), work('third')];
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(begun).toEqual(['first']);
  overs[0]?.();
  await Promise.all(later);
  expect(begun).toEqual(['first', 'second', 'third']);
});
