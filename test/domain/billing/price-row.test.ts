import { describe, expect, it, test } from 'vitest';
import { readPriceRow } from '../../../src/domain/billing/price-row.ts';
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
