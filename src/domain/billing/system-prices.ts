import { byName } from '../shared/by-name.ts';
import { CHANNELS, type Channel } from '../shared/channel.ts';
import { iqd, type Money } from '../shared/money.ts';
import { MOBILE_OPERATORS } from '../shared/phone-number.ts';
import { type FieldMistake, isPriceAmount, PRICE_PROBLEM } from './price-row.ts';

export const TEMPLATE_CATEGORIES = ['AUTHENTICATION', 'UTILITY', 'MARKETING'] as const;
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number];

/** What the price of a channel depends on; null for a channel with one price. */
const NAMES = {
  sms: MOBILE_OPERATORS,
  whatsapp: TEMPLATE_CATEGORIES,
  telegram: null,
} as const satisfies Readonly<Record<Channel, readonly string[] | null>>;

const FIELDS: readonly string[] = [...CHANNELS, 'international'];

type OfNames<Names, Amount> = Names extends readonly (infer Name extends string)[]
  ? Readonly<Record<Name, Amount>>
  : Amount;

/** An amount for each price of the service that is not international (specification 2.6). */
export type SystemAmounts<Amount> = {
  readonly [Each in Channel]: OfNames<(typeof NAMES)[Each], Amount>;
};
export type SystemPrices = SystemAmounts<Money>;

/** The amounts of one channel. */
type Amounts<Amount> = Amount | Readonly<Record<string, Amount>>;

/** A system price that differs, by its path: `sms.asiaCell`. */
export interface SystemPriceChange {
  readonly name: string;
  /** Null when there was no list. */
  readonly before: Money | null;
  readonly after: Money;
}

/** The part of an import beside its rows. */
export interface ReadSystemPrices {
  readonly prices: Partial<SystemPrices>;
  readonly mistakes: readonly FieldMistake[];
}

/** The same prices in another form. */
export function mapSystemPrices<From, To>(
  prices: SystemAmounts<From>,
  to: (amount: From) => To,
): SystemAmounts<To> {
  return byName(CHANNELS, (channel) =>
    mapAmounts<From, To>(channel, prices[channel], to),
  ) as SystemAmounts<To>;
}

/** The given prices, and earlier ones for the channels without; null when a channel has neither. */
export function completedPrices(
  given: Partial<SystemPrices>,
  earlier: SystemPrices | null,
): SystemPrices | null {
  const prices = byName(CHANNELS, (channel) => given[channel] ?? earlier?.[channel]);
  return Object.values(prices).includes(undefined) ? null : (prices as SystemPrices);
}

/** The system prices that differ. */
export function systemPriceChanges(
  before: SystemPrices | null,
  after: SystemPrices,
): readonly SystemPriceChange[] {
  const earlier = new Map(before === null ? [] : namedPrices(before));
  return namedPrices(after)
    .map(([name, price]) => ({ name, before: earlier.get(name) ?? null, after: price }))
    .filter((change) => change.before !== change.after);
}

/** The system prices that an import in JSON names, every field checked. Those of a channel are given as a whole. */
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
  const named = CHANNELS.filter((channel) => fields[channel] !== undefined);
  for (const channel of named) mistakes.push(...mistakesOf(channel, fields[channel]));
  if (mistakes.length > 0) return { prices: {}, mistakes };
  const prices = byName(named, (channel) => mapAmounts(channel, fields[channel] as Amounts<number>, iqd));
  return { prices: prices as Partial<SystemPrices>, mistakes };
}

function mistakesOf(channel: Channel, given: unknown): readonly FieldMistake[] {
  const names: readonly string[] | null = NAMES[channel];
  if (names === null) return isPriceAmount(given) ? [] : [{ field: channel, problem: PRICE_PROBLEM }];
  const amounts = Object(given) as Readonly<Record<string, unknown>>;
  return [
    ...names
      .filter((name) => !isPriceAmount(amounts[name]))
      .map((name) => ({ field: `${channel}.${name}`, problem: PRICE_PROBLEM })),
    ...Object.keys(amounts)
      .filter((name) => !names.includes(name))
      .map((name) => ({
        field: `${channel}.${name.slice(0, 64)}`,
        problem: 'is not a field of a price list',
      })),
  ];
}

function namedPrices(prices: SystemPrices): readonly (readonly [string, Money])[] {
  return CHANNELS.flatMap((channel): readonly (readonly [string, Money])[] => {
    const given: Amounts<Money> = prices[channel];
    if (typeof given === 'number') return [[channel, given]];
    return Object.entries(given).map(([name, price]) => [`${channel}.${name}`, price]);
  });
}

function mapAmounts<From, To>(channel: Channel, given: Amounts<From>, to: (amount: From) => To): Amounts<To> {
  const names: readonly string[] | null = NAMES[channel];
  if (names === null) return to(given as From);
  const amounts = given as Readonly<Record<string, From>>;
  return byName(names, (name) => to(amounts[name] as From));
}
