import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Submission } from '../../../src/application/ports/channel-provider.ts';
import { anSmsId, aPhoneNumber, aSubmission } from '../../support/builders.ts';
import { decodeSmsPart } from '../../support/sms-decoding.ts';
import type { SmscSubmit } from '../../support/smsc.ts';
import { submitAll } from '../../support/submit-all.ts';
import { describeWithSmsc, openSmsc } from './open-smsc.ts';

const TEXTS = 1_000;
const CHARACTERS_MAX = 1_000;
const SEED = 20_261_123;

const LATIN = [...'abc XYZ 019 @£$_^{}[]~|\\€\n'];
const ARABIC = [...'مرحبا بك رمز التحقق ١٢٣ ، ؟ لا إله'];
const KURDISH = [...'سڵاو کۆدی پشتڕاستکردنەوە ێ ۆ ڕ ڵ ژ گ چ'];
const EMOJI = ['😀', '👨‍👩‍👧‍👦', '🇮🇶', '👍🏽', '❤️', '🏴‍☠️', '1️⃣'];
const MARKED = ['e\u0301', 'مُ', 'لَّ', '\u06d5\u0654'];

const alphabets = [LATIN, ARABIC, KURDISH, EMOJI, [...LATIN, ...ARABIC, ...KURDISH, ...EMOJI, ...MARKED]];

/** 1 to 1,000 characters of one alphabet, or of all. */
const texts = fc
  .sample(
    fc
      .tuple(fc.constantFrom(...alphabets), fc.integer({ min: 1, max: CHARACTERS_MAX }))
      .chain(([alphabet, length]) =>
        fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map((characters) => {
          let text = '';
          for (const character of characters) {
            if (text.length + character.length > length) break;
            text += character;
          }
          return text === '' ? 'x' : text;
        }),
      ),
    { numRuns: TEXTS, seed: SEED },
  )
  .map((text, index) => ({ text, phoneNumber: aPhoneNumber(String(9_647_700_000_000 + index)) }));

describeWithSmsc('the SMPP provider and texts', () => {
  it('a thousand texts come out of the SMSC as they went in', { timeout: 60_000 }, async () => {
    const { smsc, world } = await openSmsc({ binds: 2 });
    const submissions: readonly Submission[] = texts.map((given, index) =>
      aSubmission({ ...given, smsId: anSmsId(index) }),
    );
    const results = await submitAll(world.provider, submissions);
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
    const byNumber = new Map<string, SmscSubmit[]>();
    for (const submit of await smsc.submits()) {
      byNumber.set(submit.destination_addr, [...(byNumber.get(submit.destination_addr) ?? []), submit]);
    }
    for (const [index, { text, phoneNumber }] of texts.entries()) {
      const parts = byNumber.get(phoneNumber) ?? [];
      expect(joined(parts)).toBe(text);
      const result = results[index];
      expect(result?.kind === 'accepted' && [...result.providerMessageIds].sort()).toEqual(
        parts.map(({ id }) => id).sort(),
      );
    }
  });
});

/** What a handset shows. */
function joined(parts: readonly SmscSubmit[]): string {
  const encoding = parts[0]?.data_coding === 8 ? 'ucs2' : 'gsm7';
  const octets = parts.map(({ short_message }) => Buffer.from(short_message, 'hex'));
  if (parts.length === 1 && parts[0]?.esm_class === 0) {
    return decodeSmsPart(encoding, octets[0] ?? Buffer.alloc(0));
  }
  const texts: string[] = [];
  for (const [index, part] of octets.entries()) {
    const [length, element, size, reference, total, number = 0] = part;
    if (length !== 5 || element !== 0 || size !== 3 || reference !== octets[0]?.[3])
      throw new Error('No header');
    if (total !== parts.length || parts[index]?.esm_class !== 0x40) throw new Error('Parts are missing');
    if (part.length > 140 + (encoding === 'gsm7' ? 20 : 0)) throw new Error('A part is too long');
    texts[number - 1] = decodeSmsPart(encoding, part.subarray(6));
  }
  if (Object.keys(texts).length !== parts.length) throw new Error('A part came twice');
  return texts.join('');
}
