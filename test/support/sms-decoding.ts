import { smsPartsOf, writePart } from '../../src/domain/sms/sms-parts.ts';

/** Reads the parts of an sms as a handset does, from a table of GSM 03.38 of its own. */

/** The default alphabet as the standard prints it: sixteen codes a row; the escape stands as U+001B. */
const ROWS = [
  ['@', '£', '$', '¥', 'è', 'é', 'ù', 'ì', 'ò', 'Ç', '\n', 'Ø', 'ø', '\r', 'Å', 'å'],
  ['Δ', '_', 'Φ', 'Γ', 'Λ', 'Ω', 'Π', 'Ψ', 'Σ', 'Θ', 'Ξ', '\u001b', 'Æ', 'æ', 'ß', 'É'],
  [' ', '!', '"', '#', '¤', '%', '&', "'", '(', ')', '*', '+', ',', '-', '.', '/'],
  ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', ':', ';', '<', '=', '>', '?'],
  ['¡', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O'],
  ['P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', 'Ä', 'Ö', 'Ñ', 'Ü', '§'],
  ['¿', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o'],
  ['p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', 'ä', 'ö', 'ñ', 'ü', 'à'],
] as const;

/** What follows an escape. */
const EXTENSION = new Map([
  [0x0a, '\f'],
  [0x14, '^'],
  [0x28, '{'],
  [0x29, '}'],
  [0x2f, '\\'],
  [0x3c, '['],
  [0x3d, '~'],
  [0x3e, ']'],
  [0x40, '|'],
  [0x65, '€'],
]);

const ESCAPE = 0x1b;

/** Every character of GSM 03.38 with the septets that stand for it. */
export const GSM_CHARACTERS: readonly (readonly [character: string, septets: readonly number[]])[] = [
  ...ROWS.flat()
    .map((character, code): readonly [string, readonly number[]] => [character, [code]])
    .filter(([, [code]]) => code !== ESCAPE),
  ...[...EXTENSION].map(([code, character]): readonly [string, readonly number[]] => [
    character,
    [ESCAPE, code],
  ]),
];

/** The parts of a text as the network carries them. */
export function octetPartsOf(text: string): {
  readonly encoding: 'gsm7' | 'ucs2';
  readonly parts: readonly Uint8Array[];
} {
  const { encoding, parts } = smsPartsOf(text);
  return {
    encoding,
    parts: parts.map((part) => {
      const octets = new Uint8Array(2 * part.length);
      return octets.subarray(0, writePart(encoding, part, octets, 0));
    }),
  };
}

/** The text of one part. Throws when it is none: an unknown septet, or half of a pair of octets. */
export function decodeSmsPart(encoding: 'gsm7' | 'ucs2', octets: Uint8Array): string {
  return encoding === 'gsm7' ? decodeSeptets(octets) : decodeUnits(octets);
}

function decodeSeptets(octets: Uint8Array): string {
  let text = '';
  let isEscaped = false;
  for (const code of octets) {
    if (!isEscaped && code === ESCAPE) {
      isEscaped = true;
      continue;
    }
    const character = isEscaped ? EXTENSION.get(code) : ROWS[code >> 4]?.[code & 0x0f];
    if (character === undefined) throw new Error(`No character has the septet ${code}`);
    text += character;
    isEscaped = false;
  }
  if (isEscaped) throw new Error('The part ends with an escape');
  return text;
}

function decodeUnits(octets: Uint8Array): string {
  return new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true }).decode(octets);
}
