import { expect, test } from 'vitest';
import { isSameJson } from '../../../src/domain/shared/same-json.ts';

test.each<[one: unknown, other: unknown]>([
  [1, 1],
  ['a', 'a'],
  [null, null],
  [[], []],
  [
    [1, 'a'],
    [1, 'a'],
  ],
  [{}, {}],
  [
    { a: 1, b: [{ c: 2 }] },
    { b: [{ c: 2 }], a: 1 },
  ],
  [{ a: 1, b: null }, { a: 1 }],
  [{ a: 1 }, { a: 1, b: undefined }],
  [{ a: null }, { b: null }],
])('%j is the same JSON as %j', (one, other) => {
  expect(isSameJson(one, other)).toBe(true);
  expect(isSameJson(other, one)).toBe(true);
});

test.each<[one: unknown, other: unknown]>([
  [1, 2],
  [1, '1'],
  [null, 0],
  [null, {}],
  [null, []],
  [1, {}],
  [{}, []],
  ['', []],
  ['a', ['a']],
  [[1], [1, 2]],
  [[1], []],
  [
    [1, 2],
    [1, 3],
  ],
  [
    [1, 2],
    [2, 1],
  ],
  [{ a: 1 }, {}],
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, { b: 1 }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: { b: 1 } }, { a: { b: 2 } }],
])('%j is another JSON value than %j', (one, other) => {
  expect(isSameJson(one, other)).toBe(false);
  expect(isSameJson(other, one)).toBe(false);
});
