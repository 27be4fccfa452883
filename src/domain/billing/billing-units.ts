/** How many sms a text is charged as; a project setting. */
export const BILLING_UNIT_RULES = ['flat140', 'gsm0338'] as const;
export type BillingUnitRule = (typeof BILLING_UNIT_RULES)[number];

/** The specification prices "one SMS segment of 140 characters"; a character is one UTF-16 unit. */
const FLAT_UNIT_CHARACTERS = 140;

const GSM_SINGLE_SEPTETS = 160;
const GSM_PART_SEPTETS = 153;
const UCS2_SINGLE_UNITS = 70;
const UCS2_PART_UNITS = 67;

/** The default alphabet of GSM 03.38; each character is one septet. */
const GSM_BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
/** The extension table: an escape and a character, two septets that are never separated. */
const GSM_EXTENSION = new Set('\f^{}\\[~]|€');

/** The number of sms `text` is billed as, at least one. */
export function billingUnits(rule: BillingUnitRule, text: string): number {
  switch (rule) {
    case 'flat140':
      return Math.max(1, Math.ceil(text.length / FLAT_UNIT_CHARACTERS));
    case 'gsm0338':
      return smsParts(text);
    default:
      return rule satisfies never;
  }
}

/** The real number of sms: GSM-7 when every character allows it, else UCS-2. No character is split. */
export function smsParts(text: string): number {
  const characters = [...text];
  const septets = characters.map((character) =>
    GSM_BASIC.has(character) ? 1 : GSM_EXTENSION.has(character) ? 2 : 0,
  );
  return septets.includes(0)
    ? parts(
        characters.map((character) => character.length),
        UCS2_SINGLE_UNITS,
        UCS2_PART_UNITS,
      )
    : parts(septets, GSM_SINGLE_SEPTETS, GSM_PART_SEPTETS);
}

function parts(sizes: readonly number[], single: number, part: number): number {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= single) return 1;
  let count = 1;
  let filled = 0;
  for (const size of sizes) {
    if (filled + size > part) {
      count += 1;
      filled = 0;
    }
    filled += size;
  }
  return count;
}
