import { expect, it } from 'vitest';
import { jsonOf } from '../../../src/domain/shared/json-text.ts';

it('a JSON text has its value', () => {
  expect(jsonOf('{"a":[1,null]}')).toEqual({ a: [1, null] });
});

it('a text that is no JSON has no value', () => {
  expect(jsonOf('{"a":')).toBeUndefined();
  expect(jsonOf('')).toBeUndefined();
});
