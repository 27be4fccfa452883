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
