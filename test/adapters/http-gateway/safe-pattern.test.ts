import { describe, expect, it } from 'vitest';
import {
  matchIn,
  PATTERN_CHARACTERS_MAX,
  safePattern,
} from '../../../src/adapters/http-gateway/safe-pattern.ts';

describe('the check of patterns', () => {
  it.each([
    '^OK: (?<id>\\w+)$',
    '^(?:OK (?<id>\\d+)|ERR (?<error>\\d+) ?(?<text>.*))$',
    '^(?!OK$)',
    '(?<=id=)[^&]{1,40}',
    '(ab){3}',
    '(?:a|b+)?',
    '[(+*)]+',
    '\\(a+\\)+',
    'a{b}(c)',
    '(?:a?b)?c?',
    '(?:[ab]c){26}',
  ])('a pattern that needs little time is taken: %s', (source) => {
    expect(safePattern(source).source).toBe(source);
  });

  it.each([
    '(a+)+$',
    '(a*)*',
    '(?:a+b)*',
    '(?<id>\\w+)+',
    '(a|a)*',
    '(a|aa){2,}',
    '((a+))+',
    '(?:(?:x|y))*',
    '([a-z]+)*',
    '(a{1,5}){3}',
    '(?:a?){26}b',
    '(?:a??){26}b',
    '(?:(?:ab)?c){2,}',
    '(?:a|b){26}',
    '(?:(?:a|b)c){26}',
  ])('a pattern that could take forever is a mistake: %s', (source) => {
    expect(() => safePattern(source)).toThrow('repeats a group');
  });

  it.each(['(a)\\1', '(?<x>a)\\k<x>'])('a pattern that refers to a group is a mistake: %s', (source) => {
    expect(() => safePattern(source)).toThrow('refers to one of its own groups');
  });

  it.each(['(', '[', '*', '(?<id>a)(?<id>b)'])('a text that is no pattern is a mistake: %s', (source) => {
    expect(() => safePattern(source)).toThrow('no regular expression');
  });

  it('a pattern that is too long is a mistake', () => {
    expect(safePattern('a'.repeat(PATTERN_CHARACTERS_MAX)).test('b')).toBe(false);
    expect(() => safePattern('a'.repeat(PATTERN_CHARACTERS_MAX + 1))).toThrow('at most 500 characters');
  });

  it('a pattern sees the first 512 characters', () => {
    expect(matchIn(/b/, `${'a'.repeat(511)}b`)).not.toBeNull();
    expect(matchIn(/b/, `${'a'.repeat(512)}b`)).toBeNull();
  });
});
