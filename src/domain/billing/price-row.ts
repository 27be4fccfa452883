import { IQD_MAX, iqd, isIqdAmount } from '../shared/money.ts';
import { isStorableLine } from '../shared/storable-text.ts';
import { COUNTRY_CODE_DIGITS_MAX, type InternationalPrice } from './pricing.ts';

/** The fields of an international row, as the columns of a csv file name them. */
export const PRICE_ROW_FIELDS = [
  'continent',
  'countryIso',
  'countryCode',
  'country',
  'networkId',
  'network',
  'mccMnc',
  'price',
] as const;
export type PriceRowField = (typeof PRICE_ROW_FIELDS)[number];

/** A name in a row, in UTF-16 code units. */
const PRICE_ROW_TEXT_CHARACTERS_MAX = 200;

/** What is wrong with a field of a row. */
export interface FieldMistake {
  /** Null for the row as a whole. */
  readonly field: string | null;
  readonly problem: string;
}

/** What is wrong in a file of prices. */
export interface PriceMistake extends FieldMistake {
  /** Of the file, from 1; null for the file as a whole. */
  readonly line: number | null;
}

export type ReadRow =
  | { readonly kind: 'row'; readonly row: InternationalPrice }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly FieldMistake[] };

const COUNTRY_CODE_PATTERN = new RegExp(`^[1-9][0-9]{0,${COUNTRY_CODE_DIGITS_MAX - 1}}$`);
const PRICE_PATTERN = /^[0-9]{1,10}(?:\.[0-9]{1,3})?$/;

const TEXT_PROBLEM = `must be a text of 1 to ${PRICE_ROW_TEXT_CHARACTERS_MAX} characters without control characters`;
export const PRICE_PROBLEM = `must be an IQD amount from 0 to ${IQD_MAX} with at most three decimals`;

const isName = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.length > 0 &&
  value.length <= PRICE_ROW_TEXT_CHARACTERS_MAX &&
  isStorableLine(value);
const fits = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);

const RULES: Readonly<
  Record<PriceRowField, { readonly isValid: (value: unknown) => boolean; readonly problem: string }>
> = {
  continent: { isValid: isName, problem: TEXT_PROBLEM },
  countryIso: { isValid: fits(/^[A-Z]{2}$/), problem: 'must be two upper-case letters' },
  countryCode: {
    isValid: fits(COUNTRY_CODE_PATTERN),
    problem: `must be 1 to ${COUNTRY_CODE_DIGITS_MAX} digits without a leading 0`,
  },
  country: { isValid: isName, problem: TEXT_PROBLEM },
  networkId: { isValid: isName, problem: TEXT_PROBLEM },
  network: { isValid: isName, problem: TEXT_PROBLEM },
  mccMnc: { isValid: fits(/^[0-9]{0,7}$/), problem: 'must be at most 7 digits' },
  price: { isValid: (value) => priceOf(value) !== null, problem: PRICE_PROBLEM },
};

/** A row as an import has it, every field checked. A price may be a number, or a text as csv has it. */
export function readPriceRow(given: unknown): ReadRow {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { kind: 'mistakes', mistakes: [{ field: null, problem: 'must be an object' }] };
  }
  const fields = given as Readonly<Record<string, unknown>>;
  const mistakes: FieldMistake[] = PRICE_ROW_FIELDS.filter((name) => !RULES[name].isValid(fields[name])).map(
    (name) => ({ field: name, problem: fields[name] === undefined ? 'is required' : RULES[name].problem }),
  );
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(RULES, name))
      mistakes.push({ field: name.slice(0, 64), problem: 'is not a field of a row' });
  }
  if (mistakes.length > 0) return { kind: 'mistakes', mistakes };
  const { continent, countryIso, countryCode, country, networkId, network, mccMnc } = fields as Record<
    PriceRowField,
    string
  >;
  const price = iqd(priceOf(fields.price) ?? 0);
  return {
    kind: 'row',
    row: { continent, countryIso, countryCode, country, networkId, network, mccMnc, price },
  };
}

/** The amount in IQD; null for what is none. */
function priceOf(value: unknown): number | null {
  const amount = typeof value === 'string' && PRICE_PATTERN.test(value) ? Number(value) : value;
  return isPriceAmount(amount) ? amount : null;
}

/** Whether a value is a price in IQD. */
export function isPriceAmount(value: unknown): value is number {
  return typeof value === 'number' && isIqdAmount(value) && value >= 0 && value <= IQD_MAX;
}
