import { expect, it } from 'vitest';
import { TURN_MS, TurnBudget } from '../../../src/adapters/knex/sqlite/turn-budget.ts';

let now = 0;

/** Statements of SQLite take so long. */
function work(ms: number): void {
  now += ms;
}

/** Whether the loop turned before the transaction began. */
async function turnsBefore(begin: () => Promise<void>): Promise<boolean> {
  let hasTurned = false;
  setImmediate(() => {
    hasTurned = true;
  });
  await begin();
  return hasTurned;
}

it('a transaction begins at once in a young turn, and in the next one when that is old', async () => {
  const budget = new TurnBudget(() => now);
  expect(await turnsBefore(() => budget.begin())).toBe(false);
  expect(await turnsBefore(() => budget.begin())).toBe(false);
  work(TURN_MS + 1);
  expect(await turnsBefore(() => budget.begin())).toBe(true);
});

it('the next turn is young again, however old the one before was', async () => {
  const budget = new TurnBudget(() => now);
  await budget.begin();
  work(TURN_MS + 1);
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(await turnsBefore(() => budget.begin())).toBe(false);
});
