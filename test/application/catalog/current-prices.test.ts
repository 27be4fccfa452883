import { afterEach, beforeEach, expect, it } from 'vitest';
import { CurrentPrices } from '../../../src/application/catalog/current-prices.ts';
import { iqd, type Money } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { NOW, somePrices } from '../../support/builders.ts';

const SEEDED = somePrices().telegram;

let world: ApplicationWorld;
let prices: CurrentPrices;

beforeEach(async () => {
  world = await openApplication({});
  prices = new CurrentPrices();
});

afterEach(() => world.close());

const telegramAt = (now: number): Promise<Money> =>
  world.unitOfWork.read(async (stores) => (await prices.at(stores, now)).telegram);

const insert = (id: string, effectiveFrom: number, telegram: Money): Promise<void> =>
  world.unitOfWork.run(async ({ priceVersions }) => {
    await priceVersions.nextRevision();
    const version = {
      id,
      effectiveFrom,
      createdAt: NOW,
      actor: 'cli' as const,
      rowCount: 0,
      withdrawnAt: null,
    };
    await priceVersions.insert(version, somePrices({ telegram }));
  });

const [FIRST, SECOND] = ['664abc0000000000000000d1', '664abc0000000000000000d2'] as const;

it('a change of the schedule is seen after two seconds, and at once by a clock that was set back', async () => {
  expect(await telegramAt(NOW)).toBe(SEEDED);
  await insert(FIRST, NOW + 1_000, iqd(50));
  expect(await telegramAt(NOW + 1_999)).toBe(SEEDED);
  expect(await telegramAt(NOW + 2_000)).toBe(iqd(50));
  expect(await telegramAt(NOW + 999)).toBe(SEEDED);
  await insert(SECOND, NOW + 1_001, iqd(60));
  expect(await telegramAt(NOW + 2_998)).toBe(iqd(50));
  expect(await telegramAt(NOW + 2_999)).toBe(iqd(60));
});

it('a list that was scheduled is taken at its instant, however long the schedule stays unchanged', async () => {
  await insert(FIRST, NOW + 1_500, iqd(50));
  await insert(SECOND, NOW + 3_600_000, iqd(60));
  expect(await telegramAt(NOW)).toBe(SEEDED);
  expect(await telegramAt(NOW + 1_499)).toBe(SEEDED);
  expect(await telegramAt(NOW + 1_500)).toBe(iqd(50));
  expect(await telegramAt(NOW + 3_599_999)).toBe(iqd(50));
  expect(await telegramAt(NOW + 3_600_000)).toBe(iqd(60));
});

it('without a price list there are no prices, until the first one comes into force', async () => {
  await world.close();
  world = await openApplication({ projects: [] });
  await expect(telegramAt(NOW)).rejects.toMatchObject({ rejection: { kind: 'no-prices' } });
  await insert(FIRST, NOW + 2_000, iqd(50));
  await expect(telegramAt(NOW + 1_999)).rejects.toMatchObject({ rejection: { kind: 'no-prices' } });
  expect(await telegramAt(NOW + 2_000)).toBe(iqd(50));
});
