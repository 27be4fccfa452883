import { expect, it } from 'vitest';
import { PriceMistakes } from '../../../../src/application/operators/prices/price-mistakes.ts';

it('the first 100 mistakes of an import are collected, and no more', () => {
  const mistakes = new PriceMistakes();
  expect(mistakes.all).toEqual([]);
  for (let line = 1; line <= 99; line += 1) mistakes.add(line, 'price', 'is required');
  expect(mistakes.isFull).toBe(false);
  mistakes.add(null, null, 'the file has no rows');
  expect(mistakes.isFull).toBe(true);
  mistakes.add(101, 'price', 'is required');
  expect(mistakes.all).toHaveLength(100);
  expect(mistakes.all[0]).toEqual({ line: 1, field: 'price', problem: 'is required' });
  expect(mistakes.all[99]).toEqual({ line: null, field: null, problem: 'the file has no rows' });
});
