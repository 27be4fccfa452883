import fc from 'fast-check';
import { expect, it } from 'vitest';
import { billingUnits } from '../../../src/domain/billing/billing-units.ts';
import { countSmsParts } from '../../../src/domain/sms/sms-parts.ts';
import { decodeSmsPart, GSM_CHARACTERS, octetPartsOf } from '../../support/sms-decoding.ts';

const RUNS = 300;

const gsm = fc.constantFrom(...GSM_CHARACTERS.map(([character]) => character), '\r\n', '€', '[');
const kurdish = fc.constantFrom(...'ئابپتجچحخدرڕزژسشعغفڤقکگلڵمنوۆهەیێ،؟ ');
const marks = fc.constantFrom('\u064e', '\u0651', '\u0301', '\u0308', '\ufe0f', '\u200d', '\u20e3', '🏽');
const pictures = fc.constantFrom(
  '😀',
  '👨‍👩‍👧‍👦',
  '🇮🇶',
  '🇮',
  '👍🏽',
  '❤\ufe0f',
  '1\ufe0f\u20e3',
  '\r\n',
  '각',
  'क्षि',
);
const units = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));
const zalgo = fc.integer({ min: 60, max: 150 }).map((length) => `a${'\u0301'.repeat(length)}`);

const textOf = (...pieces: readonly fc.Arbitrary<string>[]) =>
  fc.array(fc.oneof(...pieces), { maxLength: 400, size: 'max' }).map((all) => all.join(''));

const gsmTexts = textOf(gsm);
const texts = fc.oneof(
  gsmTexts,
  textOf(kurdish, kurdish, marks),
  textOf(kurdish, pictures),
  textOf(kurdish, pictures, marks, units),
  textOf(kurdish, kurdish, kurdish, zalgo),
  textOf(units),
);

const CLUSTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** What a text takes in an encoding: septets or UTF-16 units. */
function sizeOf(encoding: 'gsm7' | 'ucs2', text: string): number {
  if (encoding === 'ucs2') return text.length;
  return [...text].reduce((sum, each) => sum + ('\f^{}\\[~]|€'.includes(each) ? 2 : 1), 0);
}

it('the parts of an sms are together the text, with U+FFFD for lone surrogates', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { encoding, parts } = octetPartsOf(text);
      const read = parts.map((part) => decodeSmsPart(encoding, part)).join('');
      expect(read).toBe(text.replace(/\p{Cs}/gu, '\ufffd'));
    }),
    { numRuns: RUNS },
  );
});

it('an sms is in the GSM alphabet exactly when every character is', () => {
  fc.assert(
    fc.property(gsmTexts, kurdish, (text, letter) => {
      expect(octetPartsOf(text).encoding).toBe('gsm7');
      expect(octetPartsOf(`${text}${letter}ڕ`).encoding).toBe('ucs2');
    }),
    { numRuns: RUNS },
  );
});

it('no part of an sms is too long, and a text that fits one part has one', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { encoding, parts } = octetPartsOf(text);
      const [single, several, octets] = encoding === 'gsm7' ? [160, 153, 1] : [70, 67, 2];
      const size = sizeOf(encoding, text);
      expect(parts.length === 1).toBe(size <= single);
      for (const part of parts) {
        expect(part.length).toBeLessThanOrEqual((parts.length === 1 ? single : several) * octets);
      }
    }),
    { numRuns: RUNS },
  );
});

it('every part of an sms ends between clusters, or inside one that is longer than a part, and takes what fits', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { encoding, parts } = octetPartsOf(text);
      const read = parts.map((part) => decodeSmsPart(encoding, part));
      const several = encoding === 'gsm7' ? 153 : 67;
      const clusters = [...CLUSTERS.segment(read.join(''))];
      let cut = 0;
      for (const part of read.slice(0, -1)) {
        cut += part.length;
        const cluster = clusters.findLast(({ index }) => index <= cut) ?? expect.fail('There is a cluster');
        const isInside = cluster.index < cut;
        if (isInside) expect(sizeOf(encoding, cluster.segment)).toBeGreaterThan(several);
        const next = isInside ? String.fromCodePoint(read.join('').codePointAt(cut) ?? 0) : cluster.segment;
        expect(sizeOf(encoding, part) + sizeOf(encoding, next)).toBeGreaterThan(several);
      }
    }),
    { numRuns: RUNS },
  );
});

it('a text is billed for exactly the parts that are sent', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { parts } = octetPartsOf(text);
      expect(countSmsParts(text)).toBe(parts.length);
      expect(billingUnits('gsm0338', text)).toBe(parts.length);
    }),
    { numRuns: RUNS },
  );
});
