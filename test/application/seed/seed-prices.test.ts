import { afterEach, beforeEach, expect, it } from 'vitest';
import { ImportPrices, type PriceImport } from '../../../src/application/operators/prices/import-prices.ts';
import { ManagePrices } from '../../../src/application/operators/prices/manage-prices.ts';
import { ApplySeed } from '../../../src/application/seed/apply-seed.ts';
import type { SeedPrices } from '../../../src/application/seed/seed-prices.ts';
import type { InternationalPrice } from '../../../src/domain/billing/pricing.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { NOW, anInternationalPrice as row, someSeedPrices } from '../../support/builders.ts';

const ALL = { countryIso: null, page: { page: 1, limit: 9 } };
const { international: _, ...SYSTEM } = someSeedPrices();
const EMIRATES = row({ countryIso: 'AE', countryCode: '971', mccMnc: '42402', price: iqd(95.5) });
const TURKEY = row({ networkId: 'a', network: 'Turkcell', mccMnc: '28601', price: iqd(110) });
const DEARER = row({ networkId: 'b', network: 'avea', mccMnc: '28601', price: iqd(130) });
const CHEAPER = row({ networkId: 'c', network: 'Vodafone', mccMnc: '28602', price: iqd(120) });

let world: ApplicationWorld;
let importPrices: ImportPrices;
let managePrices: ManagePrices;

beforeEach(async () => {
  world = await openApplication({ projects: [] });
  importPrices = world.container.get(ImportPrices);
  managePrices = world.container.get(ManagePrices);
});
afterEach(() => world.close());

/** A start with a seed file that leaves the projects to operators. */
async function start(prices: SeedPrices): Promise<void> {
  world.clock.at += 1;
  expect(await world.container.get(ApplySeed).execute({ projects: [], prices })).toBe(true);
}
const withRows = (...international: readonly InternationalPrice[]) => someSeedPrices({ international });

async function imported(telegram: number, effectiveFrom: number | null = null): Promise<string> {
  world.clock.at += 1;
  const bytes = Buffer.from(JSON.stringify({ telegram }));
  const given: PriceImport = { format: 'json', bytes, effectiveFrom };
  const { preview } = await importPrices.preview(given);
  return (await importPrices.apply('operator', given, preview)).id;
}
const history = async () =>
  (await managePrices.list(null, 9)).rows.map(({ version, status }) => `${version.actor} ${status}`);
const telegram = async () => (await managePrices.inForce(ALL))?.system.telegram;

it('the prices of a seed are a version by the seed, with its rows by country, MCC-MNC and network', async () => {
  await start(withRows(CHEAPER, DEARER, EMIRATES, TURKEY));
  const found = await managePrices.inForce(ALL);
  expect(found).toEqual({
    listed: {
      version: {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        effectiveFrom: 0,
        createdAt: NOW + 1,
        actor: 'seed',
        rowCount: 4,
        withdrawnAt: null,
      },
      status: 'in-force',
    },
    system: SYSTEM,
    total: 4,
    rows: [EMIRATES, TURKEY, DEARER, CHEAPER],
  });
  const list = await world.unitOfWork.read((stores) =>
    stores.priceVersions.listOf(found?.listed.version.id ?? ''),
  );
  expect(list).toEqual({
    ...SYSTEM,
    internationalByCountryCode: new Map([
      ['971', iqd(95.5)],
      ['90', iqd(130)],
    ]),
  });
});

it('a seed that is applied again with the same prices adds no version, whatever the order of its rows', async () => {
  await start(withRows(TURKEY, CHEAPER, EMIRATES));
  await start(withRows(TURKEY, CHEAPER, EMIRATES));
  await start(withRows(EMIRATES, CHEAPER, TURKEY));
  expect(await history()).toEqual(['seed in-force']);
});

it.each<[string, SeedPrices]>([
  ['a system price', { ...withRows(TURKEY, EMIRATES), telegram: iqd(41) }],
  ['the price of a row', withRows(TURKEY, { ...EMIRATES, price: iqd(96) })],
  ['a row more', withRows(TURKEY, EMIRATES, CHEAPER)],
  ['a row less', withRows(TURKEY)],
  ['a row of another network', withRows(TURKEY, { ...EMIRATES, networkId: 'x' })],
])('a seed that differs by %s adds a version while there is no project', async (_what, changed) => {
  await start(withRows(TURKEY, EMIRATES));
  await start(changed);
  expect(await history()).toEqual(['seed in-force', 'seed replaced']);
  expect(await managePrices.inForce(ALL)).toMatchObject({
    system: { telegram: changed.telegram },
    total: changed.international.length,
    rows: [...changed.international].sort((one, other) => (one.countryIso < other.countryIso ? -1 : 1)),
  });
  await start(changed);
  expect(await history()).toHaveLength(2);
});

it('a seed adds no version once an imported one is in force', async () => {
  await start(someSeedPrices());
  await imported(50);
  await start(someSeedPrices({ telegram: iqd(60) }));
  expect(await history()).toEqual(['operator in-force', 'seed replaced']);
  expect(await telegram()).toBe(iqd(50));
});

it('a seed sets the prices until the instant of an imported list, and goes on when that is withdrawn', async () => {
  await start(someSeedPrices());
  await imported(50, NOW + 60_000);
  const withdrawn = await imported(70, NOW + 120_000);
  await managePrices.withdraw('cli', withdrawn);
  await start(someSeedPrices({ telegram: iqd(60) }));
  expect(await telegram()).toBe(iqd(60));
  expect((await history()).sort()).toEqual([
    'operator scheduled',
    'operator withdrawn',
    'seed in-force',
    'seed replaced',
  ]);
  world.clock.at = NOW + 60_000;
  expect(await telegram()).toBe(iqd(50));
  await start(someSeedPrices({ telegram: iqd(61) }));
  expect(await telegram()).toBe(iqd(50));
});
