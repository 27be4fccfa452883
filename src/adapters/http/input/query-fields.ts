import { z } from 'zod';
import { PRICING_PAGE_MAX } from '../limits.ts';

/** The digits of the largest number that any parameter takes, far fewer than a safe integer has. */
const DIGITS_MAX = String(PRICING_PAGE_MAX).length;
/** No sign, point or exponent. */
const WHOLE_NUMBER_PATTERN = new RegExp(`^[0-9]{1,${DIGITS_MAX}}$`);
const TRUE_WORDS = ['true', '1'];
const FALSE_WORDS = ['false', '0'];

/** A whole number from `min` to `max`, written in digits. */
export function wholeNumber(name: string, min: number, max: number) {
  return z
    .string()
    .refine((text) => WHOLE_NUMBER_PATTERN.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `${name} must be a whole number from ${min} to ${max}`,
    })
    .meta({ type: 'integer', minimum: min, maximum: max })
    .transform(Number);
}

/** true, false, 1 or 0, in any case of letters. */
export function truthValue(name: string) {
  return z
    .string()
    .refine((text) => [...TRUE_WORDS, ...FALSE_WORDS].includes(text.toLowerCase()), {
      error: `${name} must be true, false, 1 or 0`,
    })
    .meta({ pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|1|0)$' })
    .transform((text) => TRUE_WORDS.includes(text.toLowerCase()));
}
