import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  canonicalMessageId,
  MESSAGE_ID_FORMS,
  type MessageIdForm,
  type MessageIdForms,
  receiptMessageId,
} from '../../../src/domain/sms/message-id-forms.ts';

const AS_IS: MessageIdForms = { submitIds: 'as-is', receiptIds: 'as-is' };
const HEX_THEN_DECIMAL: MessageIdForms = { submitIds: 'hex', receiptIds: 'decimal' };

it.each<[string, MessageIdForm, string]>([
  ['39f99dd5', 'hex', '972660181'],
  ['39F99DD5', 'hex', '972660181'],
  ['0039F99DD5', 'hex', '972660181'],
  ['0x39F99DD5', 'hex', '972660181'],
  ['0972660181', 'decimal', '972660181'],
  ['972660181', 'decimal', '972660181'],
  ['12', 'hex', '18'],
  ['12', 'decimal', '12'],
  ['12', 'as-is', '12'],
  // More digits than a float holds.
  ['ffffffffffffffffffff', 'hex', '1208925819614629174706175'],
  ['117062714244798261123456', 'decimal', '117062714244798261123456'],
  ['00B8BE19', 'as-is', '00B8BE19'],
  ['b8be19', 'as-is', 'b8be19'],
  ['1101C1-C9D03D-F000', 'as-is', '1101C1-C9D03D-F000'],
  ['0', 'as-is', '0'],
  ['000', 'as-is', '000'],
  ['000', 'hex', '0'],
  ['000', 'decimal', '0'],
  [' 77 \0', 'decimal', '77'],
  ['ab\0\0', 'as-is', 'ab'],
  [' 0A \0', 'as-is', '0A'],
  ['00Ab', 'decimal', 'ab'],
])('the id %j, written %s, is canonically %s', (id, form, canonical) => {
  expect(canonicalMessageId(id, form)).toBe(canonical);
});

it.each<[string, MessageIdForm, string]>([
  ['00Ab-12', 'hex', 'ab-12'],
  ['0x', 'hex', 'x'],
  ['00A12', 'decimal', 'a12'],
  ['-5', 'decimal', '-5'],
  ['1e3', 'decimal', '1e3'],
])('the id %j, which is no number in %s, is canonically %s, as it is', (id, form, canonical) => {
  expect(canonicalMessageId(id, form)).toBe(canonical);
});

it.each(MESSAGE_ID_FORMS)('an absurd id has no canonical spelling in the form %s', (form) => {
  expect(canonicalMessageId('1'.repeat(65), form)).not.toBeNull();
  for (const id of ['1'.repeat(66), '', ' ', '\0', '1\n2', '1\u0661', 'é']) {
    expect(canonicalMessageId(id, form)).toBeNull();
  }
});

it('a canonical id is its own canonical spelling, also as a decimal number', () => {
  const ids = fc.stringMatching(/^[0-9a-fA-FxXgG-]{1,30}$/);
  fc.assert(
    fc.property(ids, fc.constantFrom(...MESSAGE_ID_FORMS), (id, form) => {
      const canonical = canonicalMessageId(id, form) ?? '';
      expect(canonicalMessageId(canonical, 'as-is')).toBe(canonical);
      if (form !== 'as-is') expect(canonicalMessageId(canonical, 'decimal')).toBe(canonical);
    }),
  );
});

it('a number has one canonical id in hex and in decimal, with any leading zeros and case', () => {
  const zeros = fc.integer({ min: 0, max: 5 }).map((count) => '0'.repeat(count));
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n }), zeros, zeros, (number, before, between) => {
      const canonical = number.toString();
      expect(canonicalMessageId(before + number.toString(16), 'hex')).toBe(canonical);
      expect(canonicalMessageId(between + number.toString(16).toUpperCase(), 'hex')).toBe(canonical);
      expect(canonicalMessageId(before + number.toString(), 'decimal')).toBe(canonical);
    }),
  );
});

it.each<[parameter: string | null, text: string | null, forms: MessageIdForms, id: string | null]>([
  [null, null, AS_IS, null],
  [null, '0A1', AS_IS, '0A1'],
  ['0B2', null, AS_IS, '0B2'],
  ['0B2', 'A1', AS_IS, '0B2'],
  // The parameter repeats the submit response, the text is another notation of it.
  ['10', '16', HEX_THEN_DECIMAL, '16'],
  ['10', null, HEX_THEN_DECIMAL, '16'],
  [null, '16', HEX_THEN_DECIMAL, '16'],
  // The parameter is written as the text is.
  ['0016', '16', HEX_THEN_DECIMAL, '16'],
  // They differ in every notation: the parameter is the id.
  ['10', '99', HEX_THEN_DECIMAL, '16'],
  ['10', '1'.repeat(66), HEX_THEN_DECIMAL, '16'],
  ['\0', '16', HEX_THEN_DECIMAL, '16'],
  ['1'.repeat(66), '16', HEX_THEN_DECIMAL, '16'],
  ['1'.repeat(66), '1'.repeat(66), HEX_THEN_DECIMAL, null],
  ['1'.repeat(66), null, HEX_THEN_DECIMAL, null],
])('a receipt with the parameter %j and the text id %j of %j is about %j', (parameter, text, forms, id) => {
  expect(receiptMessageId({ parameter, text }, forms)).toBe(id);
});
