import { expect, it } from 'vitest';
import { SurplusLine } from '../../../src/application/webhooks/surplus-line.ts';

const NOW = 1_000_000;

function nextOf(line: SurplusLine, jobs: number, now: number): number[] {
  return Array.from({ length: jobs }, () => line.next(now));
}

function countsOf(instants: readonly number[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const at of instants) counts[at] = (counts[at] ?? 0) + 1;
  return counts;
}

it('SurplusLine lets jobs come again after 2 s, 200 a second of them, a hundred together', () => {
  const instants = nextOf(new SurplusLine(), 301, NOW);
  expect(countsOf(instants)).toEqual({ 1002000: 1, 1002500: 100, 1003000: 100, 1003500: 100 });
});

it('SurplusLine puts later jobs behind those that wait already', () => {
  const line = new SurplusLine();
  nextOf(line, 1_000, NOW);
  expect(line.next(NOW + 1_000)).toBe(1_007_000);
  expect(line.next(NOW + 60_000)).toBe(1_062_000);
});

it('SurplusLine moves twice as fast as destinations have ended lately', () => {
  const line = new SurplusLine();
  for (let ended = 0; ended < 1_000; ended += 1) line.noteEnded(NOW);
  expect(countsOf(nextOf(line, 201, NOW))).toEqual({ 1002000: 1, 1002100: 100, 1002200: 100 });
  expect(nextOf(line, 2, NOW + 2_500)).toEqual([1_004_500, 1_004_600]);
  expect(nextOf(line, 2, NOW + 5_000)).toEqual([1_007_000, 1_007_500]);
});

it('SurplusLine forgets what ended when nothing did for a while', () => {
  const line = new SurplusLine();
  for (let ended = 0; ended < 1_000; ended += 1) line.noteEnded(NOW);
  expect(nextOf(line, 2, NOW + 4_000)).toEqual([1_006_000, 1_006_500]);
});

it('SurplusLine keeps no job away for longer than ten minutes', () => {
  const line = new SurplusLine();
  nextOf(line, 150_000, NOW);
  expect(line.next(NOW)).toBe(1_600_000);
  expect(line.next(NOW + 1)).toBe(1_600_001);
});

it('SurplusLine keeps no job away for longer when the clock is put back', () => {
  const line = new SurplusLine();
  line.noteEnded(NOW);
  line.next(NOW);
  expect(line.next(0)).toBe(600_000);
});
