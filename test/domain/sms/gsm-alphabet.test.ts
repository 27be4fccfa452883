import { expect, it } from 'vitest';
import { GSM_ESCAPE, GSM_EXTENDED, gsmCodeOf, NOT_GSM } from '../../../src/domain/sms/gsm-alphabet.ts';
import { GSM_CHARACTERS } from '../../support/sms-decoding.ts';

it.each(GSM_CHARACTERS)('the GSM alphabet has %j under the septets %j', (character, septets) => {
  const code = gsmCodeOf(character.charCodeAt(0));
  expect(code < GSM_EXTENDED ? [code] : [GSM_ESCAPE, code - GSM_EXTENDED]).toEqual(septets);
});

it('the GSM alphabet has 127 characters, ten more behind the escape, and no others', () => {
  const found = Array.from({ length: 0x10000 }, (_, unit) => gsmCodeOf(unit)).filter(
    (code) => code !== NOT_GSM,
  );
  expect(found.filter((code) => code < GSM_EXTENDED)).toHaveLength(127);
  expect(found.filter((code) => code >= GSM_EXTENDED)).toHaveLength(10);
  expect(new Set(found).size).toBe(137);
});

it.each(['\u001b', '`', 'ç', '\t', '\0', '\u00a0', '’', '،', 'ڕ', 'م', '\u20ab', '\ud83d', '\uffff'])(
  'the GSM alphabet does not have %j',
  (character) => {
    expect(gsmCodeOf(character.charCodeAt(0))).toBe(NOT_GSM);
  },
);
