import { describe, expect, it } from 'vitest';
import { LinearPattern, PATTERN_CHARACTERS_MAX } from '../../../src/adapters/http-gateway/linear-pattern.ts';

describe('a pattern of an operator', () => {
  it('a pattern finds its named groups, and null for those without a part', () => {
    const pattern = new LinearPattern('^(?:OK (?<id>\\w+)|ERR (?<error>\\d+) ?(?<text>.*))$');
    expect(pattern.groupsIn('ERR 7 no such number')).toEqual({
      id: null,
      error: '7',
      text: 'no such number',
    });
    expect(pattern.groupsIn('OK 7f3a01')).toEqual({ id: '7f3a01', error: null, text: null });
    expect(pattern.groupsIn('PENDING')).toBeNull();
  });

  it.each([
    ['^NUMBER_', 'NUMBER_BLOCKED', true],
    ['^NUMBER_', 'A_NUMBER_', false],
    ['[(+*)]+', '+', true],
    ['\\(a+\\)$', 'an (aa)', true],
    ['(?i)blocked', 'BLOCKED', true],
    ['(ab){3}', 'abab', false],
  ])('whether the pattern %s is in the text %s is %s', (source, text, expected) => {
    expect(new LinearPattern(source).isIn(text)).toBe(expected);
  });

  it.each([
    ['.*i.*d.*=.*b', 'id='.repeat(170)],
    ['(a+)+$', `${'a'.repeat(500)}b`],
    ['(x+x+)+y', 'x'.repeat(512)],
    ['(?:a?){200}a{200}$', `${'a'.repeat(400)}b`],
    ['(?<a>.*)(?<b>.*)(?<c>.*)(?<d>.*)(?<e>.*)(?<f>.*)=', 'a'.repeat(512)],
  ])('the pattern %s takes seconds at most, where backtracking takes minutes', (source, text) => {
    const pattern = new LinearPattern(source);
    const start = process.cpuUsage();
    expect(pattern.isIn(text)).toBe(false);
    expect(pattern.groupsIn(text)).toBeNull();
    // A slow machine takes one second.
    expect(process.cpuUsage(start).user).toBeLessThan(10_000_000);
  });

  it.each(['(', '[', '*', '(?<id>a)(?<id>b)', '(a)\\1', '(?<x>a)\\k<x>', '^(?!OK$)', '(?<=id=)x', 'a(?=b)'])(
    'a text that is no pattern of RE2 is a mistake: %s',
    (source) => {
      expect(() => new LinearPattern(source)).toThrow(/^the pattern is no regular expression of RE2: /);
    },
  );

  it('a mistake in a pattern names the part that is wrong', () => {
    expect(() => new LinearPattern('^(?!OK$)')).toThrow('RE2: invalid or unsupported Perl syntax: `(?!`');
  });

  it('a pattern that is too long is a mistake', () => {
    expect(new LinearPattern('a'.repeat(PATTERN_CHARACTERS_MAX)).isIn('b')).toBe(false);
    expect(() => new LinearPattern('a'.repeat(PATTERN_CHARACTERS_MAX + 1))).toThrow('at most 500 characters');
  });

  it.each(['(?:.{1000})', '\\pL{0,250}\\pL{0,250}', '(?:[ab]c){500}'])(
    'a pattern whose repetitions count too far is a mistake: %s',
    (source) => {
      expect(() => new LinearPattern(source)).toThrow('repetitions count too far');
    },
  );

  it('a pattern sees the first 512 characters', () => {
    expect(new LinearPattern('b').isIn(`${'a'.repeat(511)}b`)).toBe(true);
    expect(new LinearPattern('b').isIn(`${'a'.repeat(512)}b`)).toBe(false);
  });
});
