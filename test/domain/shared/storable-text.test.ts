import { describe, expect, it, test } from 'vitest';
import {
  areStorableLines,
  cutText,
  isStorable,
  isStorableLine,
  toStorableLine,
  toStorableLines,
} from '../../../src/domain/shared/storable-text.ts';

describe('a storable text', () => {
  test.each<[string, string, storable: boolean, lines: boolean, line: boolean]>([
    ['letters of several scripts and a pair', 'a ب ێ 👋', true, true, true],
    ['a line feed', 'a\nb', true, true, false],
    ['a tab', 'a\tb', true, true, false],
    ['a carriage return', 'a\rb', true, false, false],
    ['the last control character of ASCII', 'a\u007fb', true, false, false],
    ['the last control character of all', 'a\u009fb', true, false, false],
    ['the first character behind them', 'a\u00a0b', true, true, true],
    ['NUL', 'a\0b', false, false, false],
    ['the first half of a pair', 'a\ud83d', false, false, false],
    ['the second half of a pair', '\udc4ba', false, false, false],
  ])('a text is told by what it has: %s', (_, text, storable, lines, line) => {
    expect([isStorable(text), areStorableLines(text), isStorableLine(text)]).toEqual([storable, lines, line]);
  });

  it('a text becomes storable by spaces in the place of every other character', () => {
    const text = '\0a\nb\tc\r\ud83dd\udc4b👋\u0085\u0000';
    expect(toStorableLine(text)).toBe(' a b c  d 👋  ');
    expect(toStorableLines(text)).toBe(' a\nb\tc  d 👋  ');
  });
});

it('a text is cut between characters', () => {
  expect(['👋👋', '👋👋', '👋a'].map((text, index) => cutText(text, 4 - index))).toEqual([
    '👋👋',
    '👋',
    '👋',
  ]);
  expect([cutText('abc', 3), cutText('abc', 2)]).toEqual(['abc', 'ab']);
});
