import { expect, it } from 'vitest';
import { remembered } from '../../src/application/remembered.ts';

/** The function under a memory of two results, and what it was called with. */
function aMemory() {
  const calls: string[] = [];
  const lengthOf = remembered(2, (text: string) => {
    calls.push(text);
    return text === '' ? null : text.length;
  });
  return { lengthOf, calls };
}

it('a remembered function works once for each argument, also when the result is null', () => {
  const { lengthOf, calls } = aMemory();
  expect(['a', '', 'a', ''].map(lengthOf)).toEqual([1, null, 1, null]);
  expect(calls).toEqual(['a', '']);
});

it('one result more than fits empties the memory', () => {
  const { lengthOf, calls } = aMemory();
  expect(['a', 'bb', 'ccc', 'ccc', 'a'].map(lengthOf)).toEqual([1, 2, 3, 3, 1]);
  expect(calls).toEqual(['a', 'bb', 'ccc', 'a']);
});

it('a remembered function that throws works again for the same argument', () => {
  let calls = 0;
  const failing = remembered(2, (_: string): string => {
    calls += 1;
    throw new Error('No result');
  });
  expect(() => failing('a')).toThrow('No result');
  expect(() => failing('a')).toThrow('No result');
  expect(calls).toBe(2);
});
