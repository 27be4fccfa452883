import type { Channel } from '../shared/channel.ts';
import { larger, type Money, times, ZERO } from '../shared/money.ts';
import { isDomestic, type Operator, operatorOf, type PhoneNumber } from '../shared/phone-number.ts';

export const TEMPLATE_CATEGORIES = ['AUTHENTICATION', 'UTILITY', 'MARKETING'] as const;
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number];

export type OperatorPrices = Readonly<Record<Operator, Money>>;

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

/** Everything the service charges by, apart from the prices of a project's own sender IDs. */
export interface PriceList {
  readonly sms: OperatorPrices;
  readonly whatsapp: Readonly<Record<TemplateCategory, Money>>;
  readonly telegram: Money;
  /** The dearest price of each country calling code: a number does not tell its network. */
  readonly internationalByCountryCode: ReadonlyMap<string, Money>;
}

export type ChannelPrices = Readonly<Partial<Record<Channel, Money>>>;

export interface Quote {
  readonly kind: 'quoted';
  /** The dearest channel of the chain: held at acceptance. */
  readonly cost: Money;
  readonly prices: ChannelPrices;
}

export interface UnsupportedDestination {
  readonly kind: 'unsupported-destination';
}

/** Country calling codes have one to seven digits when the area belongs to the code (for example 1876). */
const COUNTRY_CODE_DIGITS_MAX = 7;

/**
 * One price for each country calling code: the dearest of its networks. Which network a number belongs to is
 * known only after it was sent to, and nobody may pay more than was quoted and held.
 */
export function highestByCountryCode(rows: readonly InternationalPrice[]): ReadonlyMap<string, Money> {
  const prices = new Map<string, Money>();
  for (const { countryCode, price } of rows) {
    prices.set(countryCode, larger(prices.get(countryCode) ?? ZERO, price));
  }
  return prices;
}

export interface QuoteRequest {
  readonly channels: readonly Channel[];
  readonly phoneNumber: PhoneNumber;
  readonly smsUnits: number;
  readonly whatsappCategory: TemplateCategory;
  /** The prices of the sender ID the message goes out under; null for the system's own. */
  readonly senderPrices: OperatorPrices | null;
}

/** What each channel of a chain would cost, and what the chain costs. */
export function quote(list: PriceList, request: QuoteRequest): Quote | UnsupportedDestination {
  const prices: Partial<Record<Channel, Money>> = {};
  let cost = ZERO;
  for (const channel of request.channels) {
    const price = priceOf(list, request, channel);
    if (price === null) return { kind: 'unsupported-destination' };
    prices[channel] = price;
    cost = larger(cost, price);
  }
  return { kind: 'quoted', cost, prices };
}

function priceOf(list: PriceList, request: QuoteRequest, channel: Channel): Money | null {
  switch (channel) {
    case 'sms': {
      const perUnit = smsPrice(list, request);
      return perUnit === null ? null : times(perUnit, request.smsUnits);
    }
    case 'whatsapp':
      return list.whatsapp[request.whatsappCategory];
    case 'telegram':
      return list.telegram;
    default:
      return channel satisfies never;
  }
}

function smsPrice(list: PriceList, { phoneNumber, senderPrices }: QuoteRequest): Money | null {
  if (isDomestic(phoneNumber)) return (senderPrices ?? list.sms)[operatorOf(phoneNumber)];
  for (let digits = COUNTRY_CODE_DIGITS_MAX; digits > 0; digits -= 1) {
    const price = list.internationalByCountryCode.get(phoneNumber.slice(0, digits));
    if (price !== undefined) return price;
  }
  return null;
}
