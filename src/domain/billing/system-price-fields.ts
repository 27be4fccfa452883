import { iqd } from '../shared/money.ts';
import { MOBILE_OPERATORS } from '../shared/phone-number.ts';
import type { SystemPrices } from './price-changes.ts';
import { type FieldMistake, isPriceAmount, PRICE_PROBLEM } from './price-row.ts';
import { TEMPLATE_CATEGORIES } from './pricing.ts';

/** The part of an import beside its rows. */
export interface ReadSystemPrices {
  readonly prices: Partial<SystemPrices>;
  readonly mistakes: readonly FieldMistake[];
}

const GROUPS = { sms: MOBILE_OPERATORS, whatsapp: TEMPLATE_CATEGORIES } as const;
const FIELDS = ['sms', 'whatsapp', 'telegram', 'international'];

/** The system prices that an import in JSON names, every field checked. A group is given as a whole. */
export function readSystemPrices(given: unknown): ReadSystemPrices {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { prices: {}, mistakes: [{ field: null, problem: 'the file is no JSON object' }] };
  }
  const fields = given as Readonly<Record<string, unknown>>;
  const mistakes: FieldMistake[] = Object.keys(fields)
    .filter((name) => !FIELDS.includes(name))
    .map((name) => ({ field: name.slice(0, 64), problem: 'is not a field of a price list' }));
  if (fields.international !== undefined && !Array.isArray(fields.international)) {
    mistakes.push({ field: 'international', problem: 'must be a list of rows' });
  }
  if (!FIELDS.some((name) => name in fields)) {
    mistakes.push({ field: null, problem: `the file has none of ${FIELDS.join(', ')}` });
  }
  const prices = {
    ...group(fields.sms, 'sms', mistakes),
    ...group(fields.whatsapp, 'whatsapp', mistakes),
    ...telegram(fields.telegram, mistakes),
  };
  return { prices: mistakes.length > 0 ? {} : prices, mistakes };
}

function group(given: unknown, name: keyof typeof GROUPS, mistakes: FieldMistake[]): Partial<SystemPrices> {
  if (given === undefined) return {};
  const names: readonly string[] = GROUPS[name];
  const fields = Object(given) as Readonly<Record<string, unknown>>;
  for (const each of names) {
    if (!isPriceAmount(fields[each])) mistakes.push({ field: `${name}.${each}`, problem: PRICE_PROBLEM });
  }
  for (const each of Object.keys(fields)) {
    if (!names.includes(each)) {
      mistakes.push({ field: `${name}.${each.slice(0, 64)}`, problem: 'is not a field of a price list' });
    }
  }
  if (mistakes.length > 0) return {};
  return { [name]: Object.fromEntries(names.map((each) => [each, iqd(fields[each] as number)])) };
}

function telegram(given: unknown, mistakes: FieldMistake[]): Partial<SystemPrices> {
  if (given === undefined) return {};
  if (isPriceAmount(given)) return { telegram: iqd(given) };
  mistakes.push({ field: 'telegram', problem: PRICE_PROBLEM });
  return {};
}
