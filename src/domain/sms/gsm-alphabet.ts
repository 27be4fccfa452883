/** The septet before a character of the extension table. */
export const GSM_ESCAPE = 0x1b;

/** `gsmCodeOf` adds this to the code of a character of the extension table. */
export const GSM_EXTENDED = 0x80;

/** What `gsmCodeOf` returns for a character that GSM 03.38 does not have. */
export const NOT_GSM = 0xff;

/** The default alphabet of GSM 03.38 in the order of its codes, from 0x00 to 0x7f. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

/** The extension table of GSM 03.38: the code that follows the escape. */
const EXTENSION: Readonly<Record<string, number>> = {
  '\f': 0x0a,
  '^': 0x14,
  '{': 0x28,
  '}': 0x29,
  '\\': 0x2f,
  '[': 0x3c,
  '~': 0x3d,
  ']': 0x3e,
  '|': 0x40,
  '€': 0x65,
};

const CODES = codesByUnit();

/**
 * The code of one UTF-16 unit in GSM 03.38: 0x00 to 0x7f for the default alphabet, the code plus `GSM_EXTENDED` for the
 * extension table, else `NOT_GSM`. Every character of the alphabet is one unit.
 */
export function gsmCodeOf(unit: number): number {
  return CODES[unit] ?? NOT_GSM;
}

/** By UTF-16 unit, up to the euro sign, which is the last one of the alphabet. */
function codesByUnit(): Uint8Array {
  const codes = new Uint8Array('€'.charCodeAt(0) + 1).fill(NOT_GSM);
  for (const [code, character] of [...BASIC].entries()) codes[character.charCodeAt(0)] = code;
  for (const [character, code] of Object.entries(EXTENSION)) {
    codes[character.charCodeAt(0)] = GSM_EXTENDED + code;
  }
  // The escape has a place among the codes and is no character of a text.
  codes[GSM_ESCAPE] = NOT_GSM;
  return codes;
}
