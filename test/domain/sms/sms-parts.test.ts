import { describe, expect, it, vi } from 'vitest';
import { countSmsParts } from '../../../src/domain/sms/sms-parts.ts';
import { decodeSmsPart, octetPartsOf } from '../../support/sms-decoding.ts';

const ARABIC = 'م';
const FAMILY = '👨‍👩‍👧‍👦';
const FLAG = '🇮🇶';
const THUMB = '👍🏽';
const HEART = '❤\ufe0f';
const KEYCAP = '1\ufe0f\u20e3';
const DECOMPOSED = 'e\u0301';

/** The texts of the parts, as a handset reads each by itself. */
function textsOf(text: string): readonly string[] {
  const { encoding, parts } = octetPartsOf(text);
  return parts.map((part) => decodeSmsPart(encoding, part));
}

function octetsOf(text: string): readonly (readonly number[])[] {
  return octetPartsOf(text).parts.map((part) => [...part]);
}

describe('the octets of an sms', () => {
  it('a text of the GSM alphabet is one octet for each septet', () => {
    expect(octetPartsOf('Hi @ 5').encoding).toBe('gsm7');
    expect(octetsOf('Hi @ 5')).toEqual([[0x48, 0x69, 0x20, 0x00, 0x20, 0x35]]);
  });

  it('an extension character is an escape and its code', () => {
    expect(octetsOf('5€[')).toEqual([[0x35, 0x1b, 0x65, 0x1b, 0x3c]]);
  });

  it('a composed é is one septet, and a decomposed one turns the text to UCS-2', () => {
    expect(octetsOf('é')).toEqual([[0x05]]);
    expect(octetPartsOf(DECOMPOSED)).toEqual({
      encoding: 'ucs2',
      parts: [Uint8Array.of(0x00, 0x65, 0x03, 0x01)],
    });
  });

  it('an Arabic text is UTF-16 with the high octet first', () => {
    expect(octetPartsOf('مر 1').encoding).toBe('ucs2');
    expect(octetsOf('مر 1')).toEqual([[0x06, 0x45, 0x06, 0x31, 0x00, 0x20, 0x00, 0x31]]);
  });

  it('the letters of Kurdish are UTF-16 units of their own', () => {
    expect(octetsOf('ڕێۆ')).toEqual([[0x06, 0x95, 0x06, 0xce, 0x06, 0xc6]]);
  });

  it('an emoji is a surrogate pair', () => {
    expect(octetsOf('😀')).toEqual([[0xd8, 0x3d, 0xde, 0x00]]);
  });

  it.each(['\ud83d', '\ude00'])('the lone surrogate %j becomes U+FFFD', (surrogate) => {
    expect(octetsOf(`${surrogate}a`)).toEqual([[0xff, 0xfd, 0x00, 0x61]]);
    expect(octetsOf(`a${surrogate}`)).toEqual([[0x00, 0x61, 0xff, 0xfd]]);
  });

  it('a lone surrogate becomes U+FFFD in a text of several parts too, and a mark stays with it', () => {
    const before = ARABIC.repeat(66);
    expect(textsOf(`${before}\ud83d\u0301${ARABIC.repeat(5)}`)).toEqual([
      before,
      `\ufffd\u0301${ARABIC.repeat(5)}`,
    ]);
  });

  it('an empty text is one empty part', () => {
    expect(octetPartsOf('')).toEqual({ encoding: 'gsm7', parts: [new Uint8Array()] });
  });
});

describe('the lengths of the parts', () => {
  it.each([
    ['a', 160, [160]],
    ['a', 161, [153, 8]],
    ['a', 306, [153, 153]],
    ['a', 307, [153, 153, 1]],
    ['a', 1000, [153, 153, 153, 153, 153, 153, 82]],
    ['€', 80, [160]],
    ['€', 81, [152, 10]],
    ['€', 1000, [...Array(13).fill(152), 24]],
  ])('the text of %j times %d has parts of so many septets: %j', (character, times, lengths) => {
    const { encoding, parts } = octetPartsOf(character.repeat(times));
    expect(encoding).toBe('gsm7');
    expect(parts.map((part) => part.length)).toEqual(lengths);
  });

  it.each([
    [ARABIC, 70, [70]],
    [ARABIC, 71, [67, 4]],
    [ARABIC, 134, [67, 67]],
    [ARABIC, 135, [67, 67, 1]],
    [ARABIC, 1000, [...Array(14).fill(67), 62]],
    ['ڕ', 71, [67, 4]],
    ['😀', 35, [70]],
    ['😀', 36, [66, 6]],
    [FLAG, 17, [68]],
    [FLAG, 18, [64, 8]],
    [FAMILY, 6, [66]],
    [FAMILY, 7, [66, 11]],
    [FAMILY, 13, [66, 66, 11]],
    [THUMB, 18, [64, 8]],
    [HEART, 36, [66, 6]],
    [KEYCAP, 24, [66, 6]],
    [DECOMPOSED, 36, [66, 6]],
    ['بِّ', 24, [66, 6]],
  ])('the text of %j times %d has parts of so many UTF-16 units: %j', (character, times, lengths) => {
    const { encoding, parts } = octetPartsOf(character.repeat(times));
    expect(encoding).toBe('ucs2');
    expect(parts.map((part) => part.length / 2)).toEqual(lengths);
  });
});

describe('what a reader sees as one character', () => {
  it('a euro sign at the end of a part moves to the next one with its escape', () => {
    expect(textsOf(`${'a'.repeat(152)}€${'b'.repeat(10)}`)).toEqual(['a'.repeat(152), `€${'b'.repeat(10)}`]);
    expect(textsOf(`${'a'.repeat(151)}€${'b'.repeat(10)}`)).toEqual([`${'a'.repeat(151)}€`, 'b'.repeat(10)]);
  });

  it('a euro sign may end a text of one part', () => {
    expect(textsOf(`${'a'.repeat(158)}€`)).toEqual([`${'a'.repeat(158)}€`]);
    expect(textsOf(`${'a'.repeat(159)}€`)).toEqual(['a'.repeat(153), 'aaaaaa€']);
  });

  it('a line end of two characters stays in one part', () => {
    expect(textsOf(`${'a'.repeat(152)}\r\n${'b'.repeat(10)}`)).toEqual([
      'a'.repeat(152),
      `\r\n${'b'.repeat(10)}`,
    ]);
    expect(textsOf(`${ARABIC.repeat(66)}\r\n${ARABIC.repeat(5)}`)).toEqual([
      ARABIC.repeat(66),
      `\r\n${ARABIC.repeat(5)}`,
    ]);
  });

  it('two line ends of one character each may be cut apart', () => {
    expect(textsOf(`${'a'.repeat(152)}\n\n${'b'.repeat(10)}`)).toEqual([
      `${'a'.repeat(152)}\n`,
      `\n${'b'.repeat(10)}`,
    ]);
    expect(textsOf(`${'a'.repeat(152)}\n\r${'b'.repeat(10)}`)).toEqual([
      `${'a'.repeat(152)}\n`,
      `\r${'b'.repeat(10)}`,
    ]);
  });

  it.each([
    ['a surrogate pair', '😀'],
    ['a letter with a mark', DECOMPOSED],
    ['an Arabic letter with two vowel signs', 'بِّ'],
    ['a family', FAMILY],
    ['a flag', FLAG],
    ['a thumb of a skin tone', THUMB],
    ['a heart with its variation selector', HEART],
    ['a keycap', KEYCAP],
  ])('a part ends before %s that does not fit as a whole', (_, character) => {
    for (const missing of [1, character.length - 1]) {
      const before = ARABIC.repeat(67 - character.length + missing);
      const after = ARABIC.repeat(10);
      expect(textsOf(before + character + after)).toEqual([before, character + after]);
    }
    const fitting = ARABIC.repeat(67 - character.length);
    expect(textsOf(`${fitting}${character}${ARABIC.repeat(10)}`)).toEqual([
      fitting + character,
      ARABIC.repeat(10),
    ]);
  });

  it('a character of more units than a part has is cut between code points', () => {
    expect(textsOf(`e${'\u0301'.repeat(100)}`)).toEqual([`e${'\u0301'.repeat(66)}`, '\u0301'.repeat(34)]);
    // 22 men and their joiners are 66 units, so a 23rd would be cut in its surrogate pair.
    expect(textsOf(`${'👨‍'.repeat(30)}👨`)).toEqual(['👨‍'.repeat(22), `${'👨‍'.repeat(8)}👨`]);
  });

  it('a character of more units than a part has begins a part, and the text after it follows at once', () => {
    expect(textsOf(`${ARABIC.repeat(10)}e${'\u0301'.repeat(100)}${ARABIC.repeat(40)}`)).toEqual([
      ARABIC.repeat(10),
      `e${'\u0301'.repeat(66)}`,
      `${'\u0301'.repeat(34)}${ARABIC.repeat(33)}`,
      ARABIC.repeat(7),
    ]);
  });
});

it('a text of one part, or of the GSM alphabet, is counted without searching for clusters', () => {
  const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment');
  try {
    countSmsParts(ARABIC.repeat(70));
    countSmsParts('a'.repeat(1000));
    expect(segment).not.toHaveBeenCalled();
    countSmsParts(ARABIC.repeat(71));
    expect(segment).toHaveBeenCalledOnce();
  } finally {
    segment.mockRestore();
  }
});
