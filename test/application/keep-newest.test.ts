import { expect, it } from 'vitest';
import { keepNewest } from '../../src/application/keep-newest.ts';

it('a map and a set keep what was added last', () => {
  const map = new Map([
    ['first', 1],
    ['second', 2],
    ['third', 3],
  ]);
  keepNewest(map, 2);
  expect([...map.keys()]).toEqual(['second', 'third']);
  const set = new Set(['first', 'second', 'third', 'fourth']);
  keepNewest(set, 1);
  expect([...set]).toEqual(['fourth']);
});

it('a map with as many entries as it may have loses none', () => {
  const map = new Map([['only', 1]]);
  keepNewest(map, 1);
  expect(map.size).toBe(1);
});
