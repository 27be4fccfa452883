import { expect, test } from 'vitest';
import type { Content } from '../../../src/domain/messages/send-request.ts';
import { textOf, verificationText } from '../../../src/domain/messages/verification-text.ts';
import type { Language } from '../../../src/domain/shared/language.ts';
import { countSmsParts } from '../../../src/domain/sms/sms-parts.ts';
import { aCode, aTemplateContent, aText } from '../../support/builders.ts';

test.each<[Language, string]>([
  ['ar', 'رمز التحقق الخاص بك هو: 123456'],
  ['ckb', 'کۆدی پشتڕاستکردنەوەت: 123456'],
  ['en', 'Your verification code is: 123456'],
])('a verification text in the language %s is %j', (language, text) => {
  expect(verificationText(language, '123456')).toBe(text);
});

test.each<Language>(['ar', 'ckb', 'en'])(
  'a verification text in the language %s with the longest code is one sms',
  (language) => {
    expect(countSmsParts(verificationText(language, '0'.repeat(20)))).toBe(1);
    expect(countSmsParts(verificationText(language, '😀'.repeat(10)))).toBe(1);
  },
);

test.each<[Content, string]>([
  [aCode('4711'), 'Your verification code is: 4711'],
  [aText('Hello'), 'Hello'],
  [aTemplateContent(), ''],
])('the text of %j is %j', (content, text) => {
  expect(textOf('en', content)).toBe(text);
});
