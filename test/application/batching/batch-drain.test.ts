import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BatchDrain } from '../../../src/application/batching/batch-drain.ts';
import { Gate } from '../../support/job-collector.ts';

/** A drain of words, grouped by their first letter; batches of a letter in `gates` wait for its gate. */
function drainOf(batchMax: number, gates: Readonly<Record<string, Gate>> = {}) {
  const batches: (readonly string[])[] = [];
  const drain = new BatchDrain<string>({
    batchMax,
    groupOf: (word) => word.slice(0, 1),
    handle: async (batch) => {
      batches.push(batch);
      await gates[batch[0]?.slice(0, 1) ?? '']?.opened;
    },
  });
  const push = (...words: string[]) => {
    for (const word of words) drain.push(word);
  };
  return { batches, drain, push };
}

it('a batch drain hands over what was pushed in one turn in one batch, up to its limit, in order', async () => {
  const { batches, drain, push } = drainOf(2);
  push('a1', 'a2', 'a3');
  expect([batches, drain.waiting]).toEqual([[], 3]);
  await drain.idle();
  expect([batches, drain.waiting, drain.isIdle]).toEqual([[['a1', 'a2'], ['a3']], 0, true]);
});

it('a batch drain handles one batch of a group at a time and fills the next meanwhile', async () => {
  const a = new Gate();
  const { batches, drain, push } = drainOf(10, { a });
  push('a1');
  await nextRound();
  push('a2');
  push('a3');
  await nextRound();
  expect([batches, drain.waiting, drain.isIdle]).toEqual([[['a1']], 2, false]);
  a.open();
  await drain.idle();
  expect(batches).toEqual([['a1'], ['a2', 'a3']]);
});

it('a batch drain does not let one group wait for the batch of another', async () => {
  const a = new Gate();
  const { batches, drain, push } = drainOf(10, { a });
  push('a1', 'b1', 'a2');
  await nextRound();
  push('b2');
  await nextRound();
  expect(batches).toEqual([['a1', 'a2'], ['b1'], ['b2']]);
  expect(drain.isIdle).toBe(false);
  a.open();
  await drain.idle();
});

it('a batch drain forgets what waits when it is cleared, and finishes the batch at hand', async () => {
  const a = new Gate();
  const { batches, drain, push } = drainOf(1, { a });
  push('a1', 'a2', 'b1');
  await nextRound();
  push('b2');
  drain.clear();
  expect([drain.waiting, drain.isIdle]).toEqual([0, false]);
  a.open();
  await drain.idle();
  expect(batches).toEqual([['a1'], ['b1']]);
});
