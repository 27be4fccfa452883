import { describe, expect, it, test } from 'vitest';
import {
  channelPrices,
  fromIqd,
  highestPrice,
  inIqd,
  type Priceable,
  type PriceList,
} from '../../../src/domain/billing/pricing.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { aPhoneNumber, someMobileOperatorPrices } from '../../support/builders.ts';

const PRICES: PriceList = {
  sms: { korekTelecom: iqd(81), asiaCell: iqd(82), zainIraq: iqd(83), others: iqd(100) },
  whatsapp: { AUTHENTICATION: iqd(60), UTILITY: iqd(65), MARKETING: iqd(90) },
  telegram: iqd(40.5),
  internationalByCountryCode: new Map([
    ['90', iqd(120)],
    ['1', iqd(30)],
    ['1876', iqd(200)],
    ['1876123', iqd(7)],
    ['964', iqd(999)],
  ]),
};

function message(given: Partial<Priceable>): Priceable {
  return {
    phoneNumber: aPhoneNumber(),
    smsUnits: 1,
    whatsappCategory: 'AUTHENTICATION',
    senderPrices: null,
    ...given,
  };
}

const SENDER_PRICES = someMobileOperatorPrices({
  korekTelecom: iqd(71),
  asiaCell: iqd(72),
  zainIraq: iqd(73),
  others: iqd(74),
});

describe('an sms', () => {
  test.each<[string, given: Partial<Priceable> & { digits: string }, price: number]>([
    ['korek', { digits: '9647512345678' }, 81],
    ['asiacell', { digits: '9647712345678' }, 82],
    ['zain', { digits: '9647812345678' }, 83],
    ['zain, second prefix', { digits: '9647912345678' }, 83],
    ['another mobile operator at home', { digits: '9647012345678' }, 100],
    ['three units', { digits: '9647712345678', smsUnits: 3 }, 246],
    ['a sender ID at home', { digits: '9647512345678', senderPrices: SENDER_PRICES }, 71],
    ['a sender ID, another mobile operator', { digits: '9647012345678', senderPrices: SENDER_PRICES }, 74],
    ['a sender ID, two units', { digits: '9647812345678', senderPrices: SENDER_PRICES, smsUnits: 2 }, 146],
    ['abroad: the price of the country code', { digits: '905321234567' }, 120],
    [
      'abroad with a sender ID: the international price',
      { digits: '905321234567', senderPrices: SENDER_PRICES },
      120,
    ],
    ['abroad, two units', { digits: '905321234567', smsUnits: 2 }, 240],
    ['a short code', { digits: '12125550100' }, 30],
    ['a longer code beats a shorter one', { digits: '18765550100' }, 200],
    ['seven digits beat four', { digits: '18761235010' }, 7],
    ['a number at home never takes the international price', { digits: '9640000000' }, 100],
  ])(
    'an sms has the price of its destination, sender ID and length: %s',
    (_, { digits, ...given }, price) => {
      expect(channelPrices(PRICES, message({ ...given, phoneNumber: aPhoneNumber(digits) })).sms).toBe(
        iqd(price),
      );
    },
  );

  test.each(['4915112345678', '2125550100', '9112345678'])('an sms to %s has no price', (digits) => {
    expect(channelPrices(PRICES, message({ phoneNumber: aPhoneNumber(digits) }))).toEqual({
      whatsapp: iqd(60),
      telegram: iqd(40.5),
    });
  });
});

describe('the prices of a message', () => {
  it('the prices of a message name every channel', () => {
    expect(channelPrices(PRICES, message({}))).toEqual({
      whatsapp: iqd(60),
      telegram: iqd(40.5),
      sms: iqd(82),
    });
  });

  it('only the price of an sms is multiplied by its units', () => {
    expect(channelPrices(PRICES, message({ smsUnits: 8 }))).toEqual({
      whatsapp: iqd(60),
      telegram: iqd(40.5),
      sms: iqd(656),
    });
  });

  test.each<[Priceable['whatsappCategory'], number]>([
    ['AUTHENTICATION', 60],
    ['UTILITY', 65],
    ['MARKETING', 90],
  ])('a whatsapp message costs the price of its category %s', (whatsappCategory, price) => {
    expect(channelPrices(PRICES, message({ whatsappCategory })).whatsapp).toBe(iqd(price));
  });

  it('a whatsapp message of a category without a price has no price', () => {
    expect(channelPrices(PRICES, message({ whatsappCategory: null }))).not.toHaveProperty('whatsapp');
  });
});

it('prices in IQD and amounts keep their names, with decimals where they have some, and a name without an amount has no price', () => {
  expect(fromIqd({ asiaCell: 82, others: 40.5, zainIraq: undefined, none: 0 })).toStrictEqual({
    asiaCell: iqd(82),
    others: iqd(40.5),
    none: iqd(0),
  });
  expect(inIqd({ asiaCell: iqd(82), others: iqd(40.5), none: iqd(0) })).toEqual({
    asiaCell: 82,
    others: 40.5,
    none: 0,
  });
});

describe('the cost of a chain', () => {
  it('the cost of a chain is the highest price of its channels, wherever it stands', () => {
    expect(highestPrice({ whatsapp: iqd(60), telegram: iqd(40) })).toBe(iqd(60));
    expect(highestPrice({ telegram: iqd(40), whatsapp: iqd(60), sms: iqd(50) })).toBe(iqd(60));
    expect(highestPrice({ sms: iqd(80) })).toBe(iqd(80));
  });
});
