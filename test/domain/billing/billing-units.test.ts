import { describe, expect, it, test } from 'vitest';
import { billingUnits } from '../../../src/domain/billing/billing-units.ts';
import { countSmsParts } from '../../../src/domain/sms/sms-parts.ts';

const ARABIC = 'م';
const EMOJI = '😀';

describe('lengths with a boundary', () => {
  test.each([
    // length, GSM-7, UCS-2, flat 140
    [0, 1, 1, 1],
    [1, 1, 1, 1],
    [70, 1, 1, 1],
    [71, 1, 2, 1],
    [134, 1, 2, 1],
    [135, 1, 3, 1],
    [140, 1, 3, 1],
    [141, 1, 3, 2],
    [160, 1, 3, 2],
    [161, 2, 3, 2],
    [280, 2, 5, 2],
    [281, 2, 5, 3],
    [306, 2, 5, 3],
    [307, 3, 5, 3],
    [459, 3, 7, 4],
    [460, 4, 7, 4],
    [1000, 7, 15, 8],
  ])(
    'a text of %d characters is %d parts in GSM-7, %d in UCS-2 and %d flat units',
    (length, gsm, ucs2, flat) => {
      expect(countSmsParts('a'.repeat(length))).toBe(gsm);
      expect(countSmsParts(ARABIC.repeat(length))).toBe(ucs2);
      expect(billingUnits('flat140', 'a'.repeat(length))).toBe(flat);
      expect(billingUnits('flat140', ARABIC.repeat(length))).toBe(flat);
    },
  );
});

it('a project with the rule gsm0338 is billed for real parts', () => {
  expect(billingUnits('gsm0338', ARABIC.repeat(71))).toBe(2);
  expect(billingUnits('gsm0338', 'a'.repeat(71))).toBe(1);
});

it('the flat rule counts UTF-16 units', () => {
  expect(billingUnits('flat140', EMOJI.repeat(70))).toBe(1);
  expect(billingUnits('flat140', `${EMOJI.repeat(70)}a`)).toBe(2);
});

describe('the alphabet', () => {
  test.each([...'@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./09:;<=>?¡AZÄÖÑÜ§¿azäöñüà'])(
    '%j is one septet',
    (character) => {
      expect(countSmsParts(character.repeat(160))).toBe(1);
      expect(countSmsParts(character.repeat(161))).toBe(2);
    },
  );

  test.each([...'\f^{}\\[~]|€'])('the character %j is two septets', (character) => {
    expect(countSmsParts(character.repeat(80))).toBe(1);
    expect(countSmsParts(`${character.repeat(80)}a`)).toBe(2);
  });

  test.each([...'`،’“–ç\tм中', '\u00a0', '\u200b', '\ud800'])(
    '%j turns the whole text to UCS-2',
    (character) => {
      expect(countSmsParts(`${'a'.repeat(69)}${character}`)).toBe(1);
      expect(countSmsParts(`${'a'.repeat(70)}${character}`)).toBe(2);
    },
  );
});

describe('nothing is cut in two', () => {
  it('an extension character moves to the next part as a whole', () => {
    // 152 + 2 does not fit into 153, so the bracket begins the second part: 152 | 2 + 151 | 1.
    const first = 'a'.repeat(152);
    expect(countSmsParts(`${first}[${'a'.repeat(151)}`)).toBe(2);
    expect(countSmsParts(`${first}[${'a'.repeat(152)}`)).toBe(3);
    // The same 306 septets with the bracket where it fits: 151 + 2 | 153.
    expect(countSmsParts(`${'a'.repeat(151)}[${'a'.repeat(153)}`)).toBe(2);
  });

  it('a text of extension characters leaves a septet free in each part', () => {
    // 76 of them make 152 septets; a 77th does not fit into 153.
    expect(countSmsParts('€'.repeat(81))).toBe(2);
    expect(countSmsParts('€'.repeat(152))).toBe(2);
    expect(countSmsParts('€'.repeat(153))).toBe(3);
  });

  it('an emoji moves to the next part as a whole', () => {
    // 66 + 2 does not fit into 67: 66 | 2 + 65 | 1.
    const first = ARABIC.repeat(66);
    expect(countSmsParts(`${first}${EMOJI}${ARABIC.repeat(65)}`)).toBe(2);
    expect(countSmsParts(`${first}${EMOJI}${ARABIC.repeat(66)}`)).toBe(3);
    expect(countSmsParts(`${ARABIC.repeat(65)}${EMOJI}${ARABIC.repeat(67)}`)).toBe(2);
  });

  it('a part of several holds 33 emoji', () => {
    expect(countSmsParts(EMOJI.repeat(35))).toBe(1);
    expect(countSmsParts(EMOJI.repeat(36))).toBe(2);
    expect(countSmsParts(EMOJI.repeat(66))).toBe(2);
    expect(countSmsParts(EMOJI.repeat(67))).toBe(3);
  });
});
