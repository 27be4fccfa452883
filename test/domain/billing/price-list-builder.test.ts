import { expect, it } from 'vitest';
import { PriceListBuilder } from '../../../src/domain/billing/price-list-builder.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { someSeedPrices } from '../../support/builders.ts';

it('a price list is built with the highest price of each calling code, and counts the rows before a country', () => {
  const { international, ...system } = someSeedPrices();
  const [row] = international;
  if (row === undefined) throw new Error('the stored prices have no row');
  const priced = (countryIso: string, countryCode: string, price: number) => ({
    ...row,
    countryIso,
    countryCode,
    price: iqd(price),
  });
  const canada = [priced('CA', '1', 100), priced('CA', '1', 300), priced('CA', '1', 200)];
  const states = [priced('US', '1', 250), priced('US', '1340', 50)];
  const builder = new PriceListBuilder();
  builder.add('CA', canada);
  builder.add('FR', []);
  builder.add('US', states);
  expect(builder.build(system)).toEqual({
    list: {
      ...system,
      internationalByCountryCode: new Map([
        ['1', iqd(300)],
        ['1340', iqd(50)],
      ]),
    },
    countries: [
      { countryIso: 'CA', rows: canada, rowsBefore: 0 },
      { countryIso: 'US', rows: states, rowsBefore: 3 },
    ],
    rowCount: 5,
  });
});
