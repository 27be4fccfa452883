import { expect, it } from 'vitest';
import { readJsonPrices } from '../../../../src/application/operators/prices/json-price-file.ts';

it('millions of lines before a row of a price list hold up the process for no longer than a slice', async () => {
  let longestMs = 0;
  let isDone = false;
  let before = process.cpuUsage();
  const tick = () => {
    const { user } = process.cpuUsage(before);
    longestMs = Math.max(longestMs, user / 1_000);
    before = process.cpuUsage();
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  const lines = 30_000_000;
  const read: number[] = [];
  await readJsonPrices(`{"international":[${'\n'.repeat(lines)}{}]}`, ({ line }) => read.push(line) > 0);
  isDone = true;
  tick();
  expect(read).toEqual([lines + 1]);
  expect(longestMs, 'processor time of the longest turn').toBeLessThan(150);
});
