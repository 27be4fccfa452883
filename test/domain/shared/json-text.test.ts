import { describe, expect, it, test } from 'vitest';
import { jsonExcess, limitedJsonOf } from '../../../src/domain/shared/json-text.ts';

it('a JSON text has its value', () => {
  expect(limitedJsonOf('{"a":[1,null]}')).toEqual({ a: [1, null] });
});

it('a text that is no JSON has no value', () => {
  expect(limitedJsonOf('{"a":')).toBeUndefined();
  expect(limitedJsonOf('')).toBeUndefined();
});

describe('what JSON may hold', () => {
  const limits = { depth: 3, objectMembers: 4, listItems: 5, members: 8 };

  test.each([
    ['a scalar', '1', null],
    ['as many levels', '[[[1]]]', null],
    ['a level more', '[[[[1]]]]', 'depth'],
    ['as many members of an object', '{"a":1,"b":2,"c":3,"d":4}', null],
    ['a member of an object more', '{"a":1,"b":2,"c":3,"d":4,"e":5}', 'members'],
    ['as many items of a list', '[1,2,3,4,5]', null],
    ['an item of a list more', '[1,2,3,4,5,6]', 'members'],
    ['as many members in all', '[[1,2],[1,2],[1]]', null],
    ['a member more in all', '[[1,2],[1,2],[1,2]]', 'members'],
    ['empty objects', '[{},{},{},{},{}]', 'members'],
    ['commas and brackets in a string', '["[[[[,,,,,,,,{{{{"]', null],
    ['an escaped quote in a string', '["\\",,,,,,,,[[[["]', null],
    ['a string that ends with a backslash', '["\\\\",1,2,3,4,5]', 'members'],
    ['a string that does not end', '["[[[[', null],
  ])('JSON is measured before it is parsed: %s', (_, text, excess) => {
    expect(jsonExcess(text, limits)).toBe(excess);
  });

  it('a text with more members than are asked for has no value', () => {
    expect(limitedJsonOf('[[1,2]]', 3)).toEqual([[1, 2]]);
    expect(limitedJsonOf('[[1,2]]', 2)).toBeUndefined();
  });

  it('a text that exceeds what others may send us has no value', () => {
    expect(limitedJsonOf(`${'['.repeat(32)}${']'.repeat(32)}`)).toBeDefined();
    expect(limitedJsonOf(`${'['.repeat(33)}${']'.repeat(33)}`)).toBeUndefined();
    expect(limitedJsonOf(`[${'1,'.repeat(99_998)}1]`)).toHaveLength(99_999);
    expect(limitedJsonOf(`[${'1,'.repeat(100_000)}1]`)).toBeUndefined();
  });
});
