import { expect, it } from 'vitest';
import { SurplusLine } from '../../../src/application/webhooks/surplus-line.ts';

const NOW = 1_000_000;

function nextOf(line: SurplusLine, jobs: number, now: number): number[] {
  return Array.from({ length: jobs }, () => line.next(now));
}

it('SurplusLine lets jobs come again after 2 s, and 200 a second of them', () => {
  expect(nextOf(new SurplusLine(), 4, NOW)).toEqual([1_002_000, 1_002_005, 1_002_010, 1_002_015]);
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
  expect(nextOf(line, 3, NOW)).toEqual([1_002_000, 1_002_001, 1_002_002]);
  expect(nextOf(line, 3, NOW + 2_500)).toEqual([1_004_500, 1_004_501, 1_004_502]);
  expect(nextOf(line, 3, NOW + 5_000)).toEqual([1_007_000, 1_007_005, 1_007_010]);
});

it('SurplusLine forgets what ended when nothing did for a while', () => {
  const line = new SurplusLine();
  for (let ended = 0; ended < 1_000; ended += 1) line.noteEnded(NOW);
  expect(nextOf(line, 2, NOW + 4_000)).toEqual([1_006_000, 1_006_005]);
});

it('SurplusLine keeps no job away for longer than ten minutes', () => {
  const line = new SurplusLine();
  nextOf(line, 150_000, NOW);
  expect(line.next(NOW)).toBe(1_600_000);
});

it('SurplusLine keeps no job away for longer when the clock is put back', () => {
  const line = new SurplusLine();
  line.noteEnded(NOW);
  line.next(NOW);
  expect(line.next(0)).toBe(600_000);
});
