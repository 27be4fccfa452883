import { expect, it } from 'vitest';
import { jsonMistake } from '../../../src/bootstrap/config/json-mistake.ts';

it.each([
  ['', 'line 1, column 1'],
  ['{', 'line 1, column 2'],
  ['{"a":1,}', 'line 1, column 8'],
  ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3'],
  ['{\n  "a": tru\n}', 'line 2, column 11'],
  ['{\n  "a": .5,\n  "b": 1 }', 'line 2, column 8'],
  ['{ "a": "x\ny" }', 'line 1, column 10'],
  ['{ "a": 1 } x', 'line 1, column 12'],
  ["{ 'a': 1 }", 'line 1, column 3'],
  ['{ // A comment.\n}', 'line 1, column 3'],
  ['[1, 2', 'line 1, column 6'],
])('the mistake in %j is at %s', (text, place) => {
  expect(jsonMistake(text)).toBe(place);
});
