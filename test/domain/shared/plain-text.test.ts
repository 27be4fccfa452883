import { expect, it } from 'vitest';
import { plainText } from '../../../src/domain/shared/plain-text.ts';

it.each([
  ['Part 2 of 2 was not delivered', 'Part 2 of 2 was not delivered'],
  ['ناردن سەرکەوتوو نەبوو 👋', 'ناردن سەرکەوتوو نەبوو 👋'],
  ['a\u0000b\nc\u009fd', 'a b c d'],
  ['half \ud83d of a pair \udc4b', 'half   of a pair  '],
])('%j becomes %j', (text, plain) => {
  expect(plainText(text)).toBe(plain);
});

it('cuts at 500 units, never through a character', () => {
  expect(plainText('x'.repeat(500))).toHaveLength(500);
  expect(plainText('x'.repeat(501))).toHaveLength(500);
  expect(plainText(`${'x'.repeat(499)}👋`)).toBe('x'.repeat(499));
});
