import { z } from 'zod';
import { SENDER_ID_STATUSES } from '../../../../domain/senders/sender-id.ts';
import { byName } from '../../../../domain/shared/by-name.ts';
import { MOBILE_OPERATORS, type MobileOperator } from '../../../../domain/shared/phone-number.ts';
import { wholeNumber } from '../../input/query-fields.ts';
import { PRICING_LIMIT_DEFAULT, PRICING_LIMIT_MAX, PRICING_PAGE_MAX } from '../../limits.ts';
import { numbersOf } from './mobile-operators.ts';

export const CURRENCY = 'IQD';

const COUNTRY_ERROR = 'countryIso must be two letters';
const COUNTRY_PATTERN = /^[A-Za-z]{2}$/;

const text = z.string();
const price = z.number().min(0);

const PRICE_EXAMPLES: Readonly<Record<MobileOperator, number>> = {
  korekTelecom: 80,
  asiaCell: 80,
  zainIraq: 80,
  others: 100,
};

/** Specification 2.8. */
export const projectInfo = z
  .object({
    projectName: text.meta({ description: 'The name of the project', examples: ['Demo'] }),
    credit: price.meta({
      description: 'IQD: the balance less open holds, never below 0',
      examples: [14780],
    }),
  })
  .meta({ id: 'Project', description: 'The project that the key belongs to' });

/** Specification 2.5. */
export const senderIdItem = z
  .object({
    _id: text.meta({ description: '24 hex characters', examples: ['e1e5b3d0d17bda5239d91bb5'] }),
    senderId: text.meta({ description: 'The name, at most 11 characters', examples: ['Barid'] }),
    status: z.enum(SENDER_ID_STATUSES).meta({
      id: 'SenderIdStatus',
      description: 'Only an accepted sender ID can be used',
      examples: ['accepted'],
    }),
    pricePerSms: z
      .object(
        byName(MOBILE_OPERATORS, (name) =>
          price.meta({ description: numbersOf(name), examples: [PRICE_EXAMPLES[name]] }),
        ),
      )
      .meta({ id: 'OperatorPrices', description: 'IQD per billing unit, by mobile operator' }),
  })
  .meta({ id: 'SenderId', description: 'A name that an sms shows as its sender. Letter case matters.' });

export const senderIdList = z
  .object({
    success: z.literal(true).meta({ description: 'Always true' }),
    data: z.array(senderIdItem).meta({ description: 'Every sender ID by name, whatever its status' }),
  })
  .meta({ id: 'SenderIdList', description: 'The sender IDs of the project' });

/** The field of a query that restricts a list to one country. */
export function countryIsoQuery(description: string) {
  return z
    .string()
    .regex(COUNTRY_PATTERN, { error: COUNTRY_ERROR })
    .meta({ description, examples: ['TR'] })
    .optional();
}

/** Specification 4.3. */
export const pricingQuery = z.object({
  page: wholeNumber('page', 1, PRICING_PAGE_MAX)
    .default(1)
    .meta({ description: 'The page, from 1 on', examples: [1] }),
  limit: wholeNumber('limit', 1, PRICING_LIMIT_MAX)
    .default(PRICING_LIMIT_DEFAULT)
    .meta({ description: 'Rows of a page', examples: [PRICING_LIMIT_DEFAULT] }),
  countryIso: countryIsoQuery('Only this country: two letters of any case'),
});

const countryIso = text.meta({ description: 'The country: two letters, upper case', examples: ['TR'] });

/** Specification 2.6. */
export const priceRow = z
  .object({
    continent: text.meta({ description: 'The continent of the country', examples: ['Asia'] }),
    countryIso,
    countryCode: text.meta({ description: 'The calling code, without a plus', examples: ['90'] }),
    country: text.meta({ description: 'The name of the country', examples: ['Turkey'] }),
    networkId: text.meta({ description: 'The id of the network', examples: ['tr_all'] }),
    network: text.meta({ description: 'The name of the network', examples: ['All networks'] }),
    price: price.meta({ description: 'IQD per sms segment of 140 characters', examples: [120] }),
  })
  .meta({ id: 'PricingRow', description: 'What an sms to one network costs' });

export const priceList = z
  .object({
    currency: z.literal(CURRENCY).meta({ description: 'The currency of every price' }),
    page: z
      .int()
      .min(1)
      .max(PRICING_PAGE_MAX)
      .meta({ description: 'As asked', examples: [1] }),
    limit: z
      .int()
      .min(1)
      .max(PRICING_LIMIT_MAX)
      .meta({ description: 'As asked', examples: [100] }),
    total: z
      .int()
      .min(0)
      .meta({ description: 'Rows of all pages', examples: [1] }),
    pages: z
      .int()
      .min(1)
      .meta({ description: 'How many pages there are', examples: [1] }),
    filter: z
      .object({ countryIso: countryIso.optional() })
      .meta({ description: 'What the list was restricted to; empty when every country is listed' }),
    items: z.array(priceRow).meta({
      description: 'One page of rows, sorted by `countryIso`, then MCC and MNC, then `network`',
    }),
  })
  .meta({ id: 'PriceList', description: 'One page of the international prices' });
