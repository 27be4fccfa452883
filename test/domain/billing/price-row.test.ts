import { describe, expect, it, test } from 'vitest';
import { readPriceRow } from '../../../src/domain/billing/price-row.ts';
import { readSystemPrices } from '../../../src/domain/billing/system-price-fields.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { anInternationalPrice } from '../../support/builders.ts';

const fields = { ...anInternationalPrice(), price: '120' };

describe('a row of an import', () => {
  it('a row may have the longest names and the highest price', () => {
    const row = anInternationalPrice({ network: 'x'.repeat(200), price: iqd(1_000_000_000) });
    expect(readPriceRow({ ...row, price: 1_000_000_000 })).toEqual({ kind: 'row', row });
    expect(readPriceRow({ ...row, price: '1000000000' })).toEqual({ kind: 'row', row });
  });

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
    ['price', ['5']],
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
    expect(readPriceRow(given)).toEqual({
      kind: 'mistakes',
      mistakes: [{ field: null, problem: 'must be an object' }],
    });
  });

  const text = 'must be a text of 1 to 200 characters without control characters';
  it.each<[field: string, value: unknown, problem: string]>([
    ['continent', '', text],
    ['countryIso', 'tr', 'must be two upper-case letters'],
    ['countryCode', '+90', 'must be 1 to 7 digits without a leading 0'],
    ['countryCode', '090', 'must be 1 to 7 digits without a leading 0'],
    ['country', 7, text],
    ['networkId', '', text],
    ['networkId', undefined, 'is required'],
    ['network', null, text],
    ['mccMnc', '286-01', 'must be at most 7 digits'],
    ['price', '-1', 'must be an IQD amount from 0 to 1000000000 with at most three decimals'],
    ['price', undefined, 'is required'],
    ['extra', 'x', 'is not a field of a row'],
  ])('a row with %s %j says what is wrong: %s', (field, value, problem) => {
    expect(readPriceRow({ ...fields, [field]: value })).toEqual({
      kind: 'mistakes',
      mistakes: [{ field, problem }],
    });
  });

  it('all mistakes of a row are named, and an unknown field by its first 64 characters', () => {
    expect(readPriceRow({ ...fields, price: 'x', country: '', ['y'.repeat(65)]: 1 })).toEqual({
      kind: 'mistakes',
      mistakes: [
        { field: 'country', problem: text },
        { field: 'price', problem: 'must be an IQD amount from 0 to 1000000000 with at most three decimals' },
        { field: 'y'.repeat(64), problem: 'is not a field of a row' },
      ],
    });
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
