import { expect, it } from 'vitest';
import { withoutContent } from '../../../src/domain/chain/quoted-content.ts';
import type { Content } from '../../../src/domain/messages/send-request.ts';
import { providerText } from '../../../src/domain/shared/provider-text.ts';
import { aCode, aTemplateContent, aText } from '../../support/builders.ts';

const masked = (reason: string, content: Content = aCode('123456')) =>
  withoutContent(reason, { phoneNumber: '9647712345678', content });

it('a reason holds neither the number nor the code that was sent, nor the text around it in any language', () => {
  expect(masked('no credit for 123456 to +9647712345678 (123456)')).toBe('no credit for *** to +*** (***)');
  expect(masked('spam: "Your verification code is: 123456"')).toBe('spam: "***"');
  expect(masked('spam: "رمز التحقق الخاص بك هو: 123456"')).toBe('spam: "***"');
});

it('a reason holds no text that was sent', () => {
  expect(masked('"Your parcel" is blocked', aText('Your parcel'))).toBe('"***" is blocked');
});

it('a reason holds no parameter of a template, wherever it stands there, and the longest first', () => {
  const content = aTemplateContent({
    templateParameters: {
      header: { 1: 'Layla' },
      body: { 1: 'Layla Hassan', 2: 98_765 },
      buttons: { 0: { 1: 'tok-7' } },
    },
  });
  expect(masked('Layla, Layla Hassan, 98765 and tok-7 to 9647712345678', content)).toBe(
    '***, ***, *** and *** to ***',
  );
});

it('a reason holds no text as it is stored: on one line, and cut at the end', () => {
  const text = 'Your order\r\nis ready,\tLayla. Fetch it today before eight.';
  const stored = providerText(text);
  expect(stored).not.toBe(text);
  expect(masked(`spam: ${stored}!`, aText(text))).toBe('spam: ***!');
  expect(masked(`spam: ${stored.slice(0, 30)}`, aText(text))).toBe('spam: ***');
  expect(masked(`spam: ${text.slice(0, 30)}`, aText(text))).toBe('spam: ***');
  expect(masked('code 12345', aCode('123456'))).toBe('code ***');
  const long = 'word '.repeat(200);
  expect(masked(`spam: ${long}`, aText(long))).toBe('spam: ***');
});

it('a reason is on one line and has 500 characters at most', () => {
  expect(masked(`a\n${'b'.repeat(1_000)}`)).toBe(`a ${'b'.repeat(498)}`);
});

it('a reason keeps a piece of less than four characters at its end, and what only begins alike', () => {
  expect(masked('code 123', aCode('123456'))).toBe('code 123');
  expect(masked('code 1234 is wrong', aCode('123456'))).toBe('code 1234 is wrong');
});

it('a reason keeps what has less than four characters', () => {
  expect(masked('abc is blocked', aText('abc'))).toBe('abc is blocked');
  expect(masked('123 is blocked', aCode('123'))).toBe('123 is blocked');
  expect(masked('abcd is blocked', aText('abcd'))).toBe('*** is blocked');
});

it('a reason keeps all when the content is masked or erased', () => {
  expect(masked('No such number', aText('****'))).toBe('No such number');
  expect(masked('No such number', aText(''))).toBe('No such number');
});
