import { expect, it } from 'vitest';
import { providerText } from '../../../src/domain/shared/provider-text.ts';

it.each([
  ['Part 2 of 2 was not delivered', 'Part 2 of 2 was not delivered'],
  ['ناردن سەرکەوتوو نەبوو 👋', 'ناردن سەرکەوتوو نەبوو 👋'],
  ['a\u0000b\nc\u009fd', 'a b c d'],
  ['half \ud83d of a pair \udc4b', 'half   of a pair  '],
])('the text of a provider is stored without control characters: %j becomes %j', (text, plain) => {
  expect(providerText(text)).toBe(plain);
});

it('the text of a provider is cut at 500 units, never within a character', () => {
  expect(providerText('x'.repeat(500))).toHaveLength(500);
  expect(providerText('x'.repeat(501))).toHaveLength(500);
  expect(providerText(`${'x'.repeat(499)}👋`)).toBe('x'.repeat(499));
});

it('the text of a provider keeps every character before the cut', () => {
  expect(providerText(`👋${'x'.repeat(600)}`)).toBe(`👋${'x'.repeat(498)}`);
});
