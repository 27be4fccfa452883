import { expect, it } from 'vitest';
import { groupBy } from '../../src/application/group-by.ts';

it('groups keep the order of their items, and come in the order of their first items', () => {
  const groups = groupBy(['b1', 'a1', 'b2', 'a2'], (item) => item[0]);
  expect([...groups]).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1', 'a2']],
  ]);
});

it('the key of an item may depend on its index', () => {
  expect([...groupBy(['x', 'y', 'z'], (_, index) => index % 2)]).toEqual([
    [0, ['x', 'z']],
    [1, ['y']],
  ]);
  expect(groupBy([], String)).toEqual(new Map());
});
