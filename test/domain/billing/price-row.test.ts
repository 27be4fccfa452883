import { describe, expect, it, test } from 'vitest';
import { readPriceRow } from '../../../src/domain/billing/price-row.ts';
import { readSystemPrices } from '../../../src/domain/billing/system-price-fields.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { anInternationalPrice } from '../../support/builders.ts';

const fields = { ...anInternationalPrice(), price: '120' };

describe('a row of an import', () => {
  it('a row has its price as a number, or as the text of a csv cell', () => {
    const row = anInternationalPrice();
    expect(readPriceRow(fields)).toEqual({ kind: 'row', row });
    expect(readPriceRow({ ...fields, price: 120 })).toEqual({ kind: 'row', row });
    expect(readPriceRow({ ...fields, price: '0.125', mccMnc: '' })).toEqual({
      kind: 'row',
      row: { ...row, price: iqd(0.125), mccMnc: '' },
    });
  });

  test.each<[field: string, value: unknown]>([
    ['price', '1.0005'],
    ['price', 1.0005],
    ['price', '-1'],
    ['price', -1],
    ['price', '1e3'],
    ['price', ''],
    ['price', ' 1'],
    ['price', '1,5'],
    ['price', 1_000_000_000.001],
    ['price', Number.NaN],
    ['price', null],
    ['countryIso', 'tr'],
    ['countryIso', 'TUR'],
    ['countryCode', '+90'],
    ['countryCode', ''],
    ['countryCode', '12345678'],
    ['mccMnc', '286-01'],
    ['mccMnc', 28601],
    ['network', ''],
    ['network', 'A\u0000'],
    ['network', '\ud800'],
    ['country', 'x'.repeat(201)],
    ['continent', ['Asia']],
    ['networkId', undefined],
    ['extra', 'x'],
    ['constructor', 'x'],
    ['toString', 'x'],
  ])('a row with %s %j has a mistake in this field', (field, value) => {
    expect(readPriceRow({ ...fields, [field]: value })).toEqual({
      kind: 'mistakes',
      mistakes: [{ field, problem: expect.any(String) }],
    });
  });

  test.each([[null], [7], [[]], ['x']])('%j is no row', (given) => {
    expect(readPriceRow(given)).toMatchObject({ kind: 'mistakes', mistakes: [{ field: null }] });
  });
});

describe('the system prices of an import', () => {
  const whole = {
    sms: { korekTelecom: 1, asiaCell: 2, zainIraq: 3, others: 4.5 },
    whatsapp: { AUTHENTICATION: 5, UTILITY: 6, MARKETING: 7 },
    telegram: 0,
  };

  it('an import may name any of the groups, each as a whole', () => {
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

  test.each<[given: unknown, field: string | null]>([
    [{ ...whole, telegram: '1' }, 'telegram'],
    [{ ...whole, sms: { ...whole.sms, others: undefined } }, 'sms.others'],
    [{ ...whole, sms: { ...whole.sms, zain: 1 } }, 'sms.zain'],
    [{ ...whole, whatsapp: { ...whole.whatsapp, UTILITY: 0.0001 } }, 'whatsapp.UTILITY'],
    [{ ...whole, international: {} }, 'international'],
    [{ ...whole, price: 1 }, 'price'],
    [{}, null],
    [[], null],
    [undefined, null],
  ])('%j has a mistake in %s, and names no price', (given, field) => {
    expect(readSystemPrices(given)).toMatchObject({ prices: {}, mistakes: [{ field }] });
  });
});
