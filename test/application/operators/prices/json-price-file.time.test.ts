import { expect, it } from 'vitest';
import { readJsonPrices } from '../../../../src/application/operators/prices/json-price-file.ts';

const LINES = 30_000_000;

it('millions of lines before a row of a price list hold up the process for no longer than a slice', async () => {
  const shares = [await longestRoundShare(), await longestRoundShare(), await longestRoundShare()];
  // The garbage of other tests may be collected in any one round of one reading: a long slice is there in all three.
  expect(Math.min(...shares), 'share of the longest round in the processor time of all').toBeLessThan(0.25);
});

/** The part of the processor time of a whole reading that was taken by its longest round of the event loop. */
async function longestRoundShare(): Promise<number> {
  const start = process.cpuUsage();
  let before = start;
  let longest = 0;
  let isDone = false;
  const noteRound = () => {
    longest = Math.max(longest, processorTime(before));
    before = process.cpuUsage();
    if (!isDone) setImmediate(noteRound);
  };
  setImmediate(noteRound);
  const read: number[] = [];
  await readJsonPrices(`{"international":[${'\n'.repeat(LINES)}{}]}`, ({ line }) => read.push(line) > 0);
  isDone = true;
  noteRound();
  expect(read).toEqual([LINES + 1]);
  return longest / processorTime(start);
}

/** Of the process since then, in microseconds. Linux knows the sum exactly, and its two parts only roughly. */
function processorTime(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}
