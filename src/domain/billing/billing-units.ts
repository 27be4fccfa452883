import { countSmsParts } from '../sms/sms-parts.ts';

/** How many sms a text is charged as; a project setting. */
export const BILLING_UNIT_RULES = ['flat140', 'gsm0338'] as const;
export type BillingUnitRule = (typeof BILLING_UNIT_RULES)[number];

/** The specification prices "one SMS segment of 140 characters"; a character is one UTF-16 unit. */
const FLAT_UNIT_CHARACTERS = 140;

/**
 * The number of sms `text` is billed as, at least one. `flat140` counts characters. `gsm0338` counts the parts that an SMSC
 * is given, which are those of `smsPartsOf`.
 */
export function billingUnits(rule: BillingUnitRule, text: string): number {
  switch (rule) {
    case 'flat140':
      return Math.max(1, Math.ceil(text.length / FLAT_UNIT_CHARACTERS));
    case 'gsm0338':
      return countSmsParts(text);
    default:
      return rule satisfies never;
  }
}

/** Whether every character of the text is in the alphabet of GSM-7 or its extension; else a text is sent as UCS-2. */
export function isGsmText(text: string): boolean {
  return [...text].every((character) => GSM_BASIC.has(character) || GSM_EXTENSION.has(character));
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
