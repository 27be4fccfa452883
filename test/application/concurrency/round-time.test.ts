import { beforeEach, expect, it } from 'vitest';
import { nextRound } from '../../../src/application/concurrency/next-round.ts';
import { RoundTime } from '../../../src/application/concurrency/round-time.ts';

const MS_MAX = 3;
let now: number;
let time: RoundTime;

beforeEach(() => {
  now = 1_000;
  time = new RoundTime(
    () => MS_MAX,
    () => now,
  );
});

it('a round has time until so many milliseconds have gone by since its first question', () => {
  expect(time.isLeft()).toBe(true);
  now += MS_MAX - 1;
  expect(time.isLeft()).toBe(true);
  now += 1;
  expect(time.isLeft()).toBe(false);
});

it('the next round has its time again, counted from its own first question', async () => {
  expect(time.isLeft()).toBe(true);
  now += MS_MAX;
  expect(time.isLeft()).toBe(false);
  await nextRound();
  now += MS_MAX;
  expect(time.isLeft()).toBe(true);
  now += MS_MAX;
  expect(time.isLeft()).toBe(false);
});

it('every question of a round gets its number, and the next round has another', async () => {
  const first = time.number;
  expect(time.isLeft()).toBe(true);
  expect(time.number).toBe(first);
  await nextRound();
  expect(time.number).toBe(first + 1);
});
