import type { Channel } from '../shared/channel.ts';
import { iqd, larger, type Money, times, toIqd, ZERO } from '../shared/money.ts';
import {
  isDomestic,
  type MobileOperator,
  mobileOperatorOf,
  type PhoneNumber,
} from '../shared/phone-number.ts';
import type { SystemPrices, TemplateCategory } from './system-prices.ts';

export type MobileOperatorPrices = Readonly<Record<MobileOperator, Money>>;

/** The same prices as IQD numbers. */
export function inIqd<Name extends string>(prices: Readonly<Record<Name, Money>>): Record<Name, number> {
  return Object.fromEntries(
    Object.entries<Money>(prices).map(([name, price]) => [name, toIqd(price)]),
  ) as Record<Name, number>;
}

/** Prices of IQD numbers; a name without one has none. */
export function fromIqd<Name extends string>(amounts: Readonly<Record<Name, number>>): Record<Name, Money>;
export function fromIqd<Name extends string>(
  amounts: { readonly [Each in Name]?: number | undefined },
): Partial<Record<Name, Money>>;
export function fromIqd(amounts: Readonly<Record<string, number | undefined>>): Record<string, Money> {
  return Object.fromEntries(
    Object.entries(amounts).flatMap(([name, amount]) => (amount === undefined ? [] : [[name, iqd(amount)]])),
  );
}

/** One row of the international price list (specification 2.6), per sms billing unit. */
export interface InternationalPrice {
  readonly continent: string;
  readonly countryIso: string;
  readonly countryCode: string;
  readonly country: string;
  readonly networkId: string;
  readonly network: string;
  readonly mccMnc: string;
  readonly price: Money;
}

/** The prices of the service; the sender IDs of a project have prices of their own. */
export interface PriceList extends SystemPrices {
  /**
   * One price for each country calling code: the highest of its networks. The network of a number is known only after the
   * send, and no project may pay more than was quoted and held.
   */
  readonly internationalByCountryCode: ReadonlyMap<string, Money>;
}

export type ChannelPrices = Readonly<Partial<Record<Channel, Money>>>;

/** Country calling codes have one to seven digits when the area belongs to the code (for example 1876). */
export const COUNTRY_CODE_DIGITS_MAX = 7;

/** What the price of a message depends on. */
export interface Priceable {
  readonly phoneNumber: PhoneNumber;
  readonly smsUnits: number;
  /** Null for a template of a category that has no price. */
  readonly whatsappCategory: TemplateCategory | null;
  /** The prices of the sender ID the message goes out under; null for the system's own. */
  readonly senderPrices: MobileOperatorPrices | null;
}

/** The price of each channel; a channel without a price for the message is missing. */
export function channelPrices(list: PriceList, message: Priceable): ChannelPrices {
  const perUnit = smsPrice(list, message);
  const { whatsappCategory } = message;
  return {
    telegram: list.telegram,
    ...(whatsappCategory === null ? {} : { whatsapp: list.whatsapp[whatsappCategory] }),
    ...(perUnit === null ? {} : { sms: times(perUnit, message.smsUnits) }),
  };
}

/** The highest price of the channels: the cost of a chain. */
export function highestPrice(prices: ChannelPrices): Money {
  return Object.values(prices).reduce(larger, ZERO);
}

/** Whether the price list has the country of the number. */
export function hasPrice({ internationalByCountryCode }: PriceList, phoneNumber: PhoneNumber): boolean {
  return isDomestic(phoneNumber) || internationalPrice(internationalByCountryCode, phoneNumber) !== null;
}

function smsPrice(list: PriceList, { phoneNumber, senderPrices }: Priceable): Money | null {
  if (isDomestic(phoneNumber)) return (senderPrices ?? list.sms)[mobileOperatorOf(phoneNumber)];
  return internationalPrice(list.internationalByCountryCode, phoneNumber);
}

/** The price of the longest country code that the number begins with. */
function internationalPrice(prices: ReadonlyMap<string, Money>, phoneNumber: PhoneNumber): Money | null {
  for (let digits = COUNTRY_CODE_DIGITS_MAX; digits > 0; digits -= 1) {
    const price = prices.get(phoneNumber.slice(0, digits));
    if (price !== undefined) return price;
  }
  return null;
}
