import { expect, it } from 'vitest';
import { CachedCurrentPrices, type CurrentPrices } from '../../../src/application/catalog/current-prices.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { NOW, somePrices } from '../../support/builders.ts';

it('a cached price list is read again after two seconds', async () => {
  const clock = { at: NOW, now: () => clock.at };
  let prices = somePrices({ telegram: iqd(40) });
  const source: CurrentPrices = {
    read: async () => {
      const read = prices;
      return () => read;
    },
  };
  const cached = new CachedCurrentPrices({ source, clock });
  await cached.read();
  prices = somePrices({ telegram: iqd(50) });
  clock.at = NOW + 1_999;
  expect((await cached.read())(clock.at)).toMatchObject({ telegram: iqd(40) });
  clock.at = NOW + 2_000;
  expect((await cached.read())(clock.at)).toMatchObject({ telegram: iqd(50) });
});
