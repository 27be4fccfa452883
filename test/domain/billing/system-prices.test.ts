import { describe, expect, it, test } from 'vitest';
import {
  completedPrices,
  mapSystemPrices,
  readSystemPrices,
  systemPriceChanges,
} from '../../../src/domain/billing/system-prices.ts';
import { iqd, toIqd } from '../../../src/domain/shared/money.ts';
import { someSeedPrices } from '../../support/builders.ts';

it('system prices that differ are named with before and after, all of them without a list before', () => {
  const before = someSeedPrices();
  const after = someSeedPrices({ telegram: iqd(41), sms: { ...before.sms, others: iqd(99.5) } });
  expect(systemPriceChanges(before, before)).toEqual([]);
  expect(systemPriceChanges(before, after)).toEqual([
    { name: 'sms.others', before: iqd(100), after: iqd(99.5) },
    { name: 'telegram', before: iqd(40), after: iqd(41) },
  ]);
  expect(systemPriceChanges(null, before).map(({ name, before: none }) => [name, none])).toEqual([
    ['sms.korekTelecom', null],
    ['sms.asiaCell', null],
    ['sms.zainIraq', null],
    ['sms.others', null],
    ['whatsapp.AUTHENTICATION', null],
    ['whatsapp.UTILITY', null],
    ['whatsapp.MARKETING', null],
    ['telegram', null],
  ]);
});

it('every price is mapped, and nothing else', () => {
  expect(mapSystemPrices(someSeedPrices(), toIqd)).toEqual({
    sms: { korekTelecom: 80, asiaCell: 80, zainIraq: 80, others: 100 },
    whatsapp: { AUTHENTICATION: 60, UTILITY: 60, MARKETING: 90 },
    telegram: 40,
  });
});

it('given prices count before earlier ones, channel by channel, and no channel stays without', () => {
  const earlier = mapSystemPrices(someSeedPrices(), (price) => price);
  const sms = { ...earlier.sms, others: iqd(99.5) };
  expect(completedPrices({ sms }, earlier)).toEqual({ ...earlier, sms });
  expect(completedPrices({}, earlier)).toEqual(earlier);
  expect(completedPrices(earlier, null)).toEqual(earlier);
  expect(completedPrices({ sms, telegram: iqd(0) }, null)).toBeNull();
});

describe('the system prices of an import', () => {
  const whole = {
    sms: { korekTelecom: 1, asiaCell: 2, zainIraq: 3, others: 4.5 },
    whatsapp: { AUTHENTICATION: 5, UTILITY: 6, MARKETING: 7 },
    telegram: 0,
  };

  it('an import may name the prices of any channel, each as a whole', () => {
    expect(readSystemPrices({ ...whole, international: [] })).toEqual({
      prices: {
        sms: { korekTelecom: iqd(1), asiaCell: iqd(2), zainIraq: iqd(3), others: iqd(4.5) },
        whatsapp: { AUTHENTICATION: iqd(5), UTILITY: iqd(6), MARKETING: iqd(7) },
        telegram: iqd(0),
      },
      mistakes: [],
    });
    expect(readSystemPrices({ telegram: 1 })).toEqual({ prices: { telegram: iqd(1) }, mistakes: [] });
    expect(readSystemPrices({ international: [] })).toEqual({ prices: {}, mistakes: [] });
  });

  const amount = 'must be an IQD amount from 0 to 1000000000 with at most three decimals';
  const unknown = 'is not a field of a price list';
  test.each<[given: unknown, field: string | null, problem: string]>([
    [{ ...whole, telegram: '1' }, 'telegram', amount],
    [{ ...whole, sms: { ...whole.sms, others: undefined } }, 'sms.others', amount],
    [{ ...whole, sms: { ...whole.sms, zain: 1 } }, 'sms.zain', unknown],
    [{ ...whole, sms: { ...whole.sms, ['y'.repeat(65)]: 1 } }, `sms.${'y'.repeat(64)}`, unknown],
    [{ ...whole, whatsapp: { ...whole.whatsapp, UTILITY: 0.0001 } }, 'whatsapp.UTILITY', amount],
    [{ ...whole, international: {} }, 'international', 'must be a list of rows'],
    [{ ...whole, price: 1 }, 'price', unknown],
    [{ ...whole, ['y'.repeat(65)]: 1 }, 'y'.repeat(64), unknown],
    [{}, null, 'the file has none of sms, whatsapp, telegram, international'],
    [[], null, 'the file is no JSON object'],
    [null, null, 'the file is no JSON object'],
    [undefined, null, 'the file is no JSON object'],
  ])('%j has a mistake in %s, and names no price: %s', (given, field, problem) => {
    expect(readSystemPrices(given)).toEqual({ prices: {}, mistakes: [{ field, problem }] });
  });
});
