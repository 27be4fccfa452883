import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { decodeText, hasEscapes, parseJson } from '../../../../src/adapters/http/input/request-body.ts';
import { textMistakes } from '../../../../src/adapters/http/input/text-mistakes.ts';

const unit = fc.oneof(
  fc.constantFrom('\0', '\ud800', '\udc00', '\ud83d\ude00', '\\', '"', 'a'),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
);
const anyText = fc.array(unit, { maxLength: 8 }).map((units) => units.join(''));

it('a body whose texts no database keeps has an escape', () => {
  fc.assert(
    fc.property(anyText, anyText, (name, value) => {
      const body = decodeText(Buffer.from(JSON.stringify({ [name]: [value] })));
      fc.pre([...textMistakes(parseJson(body))].length > 0);
      expect(hasEscapes(body)).toBe(true);
    }),
  );
});

it('a body without an escape holds only texts that every database keeps, or is no JSON', () => {
  fc.assert(
    fc.property(anyText, (value) => {
      const body = decodeText(Buffer.from(`{"a":"${value.replaceAll(/[\\"]/g, '')}"}`));
      expect(hasEscapes(body)).toBe(false);
      expect(mistakesIn(body)).toEqual([]);
    }),
  );
});

test.each([
  ['NUL', '{"a":"\\u0000"}'],
  ['half of a surrogate pair', '{"a":"\\ud800"}'],
  ['NUL in a name', '{"\\u0000":1}'],
])('a body with an escape is seen to have one: %s', (_name, body) => {
  expect(hasEscapes(body)).toBe(true);
  expect(mistakesIn(body)).toHaveLength(1);
});

test.each([
  ['a byte that begins no character', [0x22, 0xff, 0x22]],
  ['a character that is cut off', [0x22, 0xe2, 0x82]],
  ['half of a surrogate pair', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['a wrong byte beside a replacement character', [0x22, 0xef, 0xbf, 0xbd, 0xff, 0x22]],
])('bytes that are not UTF-8 are rejected: %s', (_name, bytes) => {
  expect(() => decodeText(Buffer.from(bytes))).toThrow('invalid-encoding');
});

it('any text in UTF-8 is decoded as it is, a replacement character too', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.oneof(fc.constant('\ufffd'), fc.string({ unit: 'binary', maxLength: 1 })) }),
      (whole) => {
        fc.pre(!whole.startsWith('\ufeff'));
        expect(decodeText(Buffer.from(whole))).toBe(whole);
      },
    ),
  );
});

function mistakesIn(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return [];
  }
  return [...textMistakes(value)];
}
