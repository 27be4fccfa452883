import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { csvDecoder } from '../../../../src/adapters/csv/csv-decoder.ts';
import { ImportPrices } from '../../../../src/application/operators/prices/import-prices.ts';
import { ManagePrices, type PricePage } from '../../../../src/application/operators/prices/manage-prices.ts';
import type { PriceFormat } from '../../../../src/application/operators/prices/read-price-file.ts';
import { ports } from '../../../../src/bootstrap/tokens.ts';
import type { InternationalPrice } from '../../../../src/domain/billing/pricing.ts';
import { iqd, toIqd } from '../../../../src/domain/shared/money.ts';
import { type ApplicationWorld, openApplication } from '../../../support/application-world.ts';
import { anId, NOW, anInternationalPrice as row, someSeedPrices } from '../../../support/builders.ts';

const HEX_ID = /^[0-9a-f]{24}$/;
const { international: _, ...SYSTEM } = someSeedPrices();
const JORDAN = row({
  countryIso: 'JO',
  countryCode: '962',
  country: 'Jordan',
  networkId: 'jo',
  mccMnc: '41601',
});
const ALL = { countryIso: null, page: { page: 1, limit: 50 } };

const json = (rows: readonly InternationalPrice[], system: object = {}) =>
  JSON.stringify({
    ...system,
    international: rows.map((each) => ({ ...each, price: toIqd(each.price) })),
  });
const given = (text: string, effectiveFrom: number | null = null, format: PriceFormat = 'json') => ({
  format,
  bytes: Buffer.from(text),
  effectiveFrom,
});
const rejected = (kind: string) => ({ rejection: { kind } });

describe('imports of price lists', () => {
  let world: ApplicationWorld;
  let importPrices: ImportPrices;
  let managePrices: ManagePrices;

  /** The list of the seed has one row: Turkey for 120 IQD. */
  async function open(options: Parameters<typeof openApplication>[0] = {}): Promise<void> {
    world = await openApplication(options);
    importPrices = world.container.get(ImportPrices);
    managePrices = world.container.get(ManagePrices);
  }
  beforeEach(() => open());
  afterEach(() => world.close());

  const apply = async (text: string, effectiveFrom: number | null = null) => {
    const { preview } = await importPrices.preview(given(text, effectiveFrom));
    const version = await importPrices.apply('operator', given(text, effectiveFrom), preview);
    world.clock.at += 1;
    return version;
  };
  const statuses = async () => (await managePrices.list(null, 10)).rows.map(({ status }) => status);
  const shown = (page: PricePage | null) =>
    page && { id: page.listed.version.id, rows: page.rows, total: page.total };
  const records = () =>
    world.unitOfWork.read(({ auditLog }) => auditLog.list({ projectId: null, before: null, limit: 10 }));

  it('a preview counts what an import adds, removes, changes and leaves, and shows the rows by country', async () => {
    await apply(json([row({ mccMnc: '1' }), row({ mccMnc: '2' }), row({ mccMnc: '3' }), JORDAN]));
    const cheaper = row({ mccMnc: '2', price: iqd(1.5) });
    const added = row({ mccMnc: '4' });
    const plan = await importPrices.preview(
      given(json([added, cheaper, row({ mccMnc: '1' })], { telegram: 41.5 })),
    );
    expect(plan).toMatchObject({
      rowCount: 3,
      changes: { system: [{ name: 'telegram', before: iqd(40), after: iqd(41.5) }] },
    });
    expect(plan.changes).toMatchObject({ added: 1, removed: 2, changed: 1, unchanged: 1 });
    expect(plan.changes.rows).toEqual([
      { before: JORDAN, after: null },
      { before: row({ mccMnc: '2' }), after: cheaper },
      { before: null, after: added },
      { before: row({ mccMnc: '3' }), after: null },
    ]);
    expect(plan.list).toEqual({
      ...SYSTEM,
      telegram: iqd(41.5),
      internationalByCountryCode: new Map([['90', iqd(120)]]),
    });
    expect(await statuses()).toEqual(['in-force', 'replaced']);
    expect(await records()).toHaveLength(1);
  });

  it('an import is in force at once, and the list of the seed file is its history', async () => {
    const version = await apply(json([JORDAN, row({ price: iqd(130) })], { telegram: 41 }));
    expect(version).toEqual({
      id: expect.stringMatching(HEX_ID),
      effectiveFrom: NOW,
      createdAt: NOW,
      actor: 'operator',
      rowCount: 2,
      withdrawnAt: null,
    });
    expect(await managePrices.inForce(ALL)).toEqual({
      listed: { version, status: 'in-force' },
      system: { ...SYSTEM, telegram: iqd(41) },
      total: 2,
      rows: [JORDAN, row({ price: iqd(130) })],
    });
    const [newest, seeded, ...others] = (await managePrices.list(null, 10)).rows;
    expect(others).toEqual([]);
    expect(newest).toEqual({ version, status: 'in-force' });
    expect(seeded).toEqual({
      version: {
        id: expect.stringMatching(HEX_ID),
        effectiveFrom: 0,
        createdAt: NOW,
        actor: 'seed',
        rowCount: 1,
        withdrawnAt: null,
      },
      status: 'replaced',
    });
    const id = seeded?.version.id ?? '';
    expect(await managePrices.find(id, ALL)).toEqual({
      listed: seeded,
      system: SYSTEM,
      total: 1,
      rows: [row()],
    });
    const lists = await world.unitOfWork.read(({ priceVersions }) =>
      Promise.all([version.id, id].map((each) => priceVersions.listOf(each))),
    );
    expect(lists.map(({ internationalByCountryCode }) => [...internationalByCountryCode].sort())).toEqual([
      [
        ['90', iqd(130)],
        ['962', iqd(120)],
      ],
      [['90', iqd(120)]],
    ]);
    expect(await records()).toEqual([
      {
        id: expect.stringMatching(HEX_ID),
        at: NOW,
        actor: 'operator',
        action: 'prices-imported',
        projectId: null,
        before: { version: id, system: { telegram: 40 } },
        after: {
          version: version.id,
          effectiveFrom: new Date(NOW).toISOString(),
          rows: 2,
          withdrawnAt: null,
          system: { telegram: 41 },
          added: 1,
          removed: 0,
          changed: 1,
        },
      },
    ]);

    await apply(json([JORDAN]));
    expect(await statuses()).toEqual(['in-force', 'replaced', 'replaced']);
    expect((await records())[0]).toMatchObject({ before: { version: version.id, system: {} } });
  });

  it('of the rows of one country code the highest price is what sends are quoted', async () => {
    const rows = [
      row({ price: iqd(5) }),
      row({ mccMnc: '2', price: iqd(9) }),
      row({ countryIso: 'CY', price: iqd(7) }),
    ];
    const { id } = await apply(json(rows));
    const list = await world.unitOfWork.read(({ priceVersions }) => priceVersions.listOf(id));
    expect(list.internationalByCountryCode).toEqual(new Map([['90', iqd(9)]]));
    const { list: planned } = await importPrices.preview(
      given(json([row({ price: iqd(8) }), row({ countryIso: 'CY', price: iqd(7) })])),
    );
    expect(planned.internationalByCountryCode).toEqual(new Map([['90', iqd(8)]]));
  });

  it('an import without rows keeps those in force, and one without system prices keeps those', async () => {
    const plan = await importPrices.preview(given('{"telegram":41}'));
    expect(plan.changes).toMatchObject({ added: 0, removed: 0, changed: 0, unchanged: 1, rows: [] });
    await apply('{"telegram":41}');
    expect(await managePrices.inForce(ALL)).toMatchObject({
      system: { ...SYSTEM, telegram: iqd(41) },
      total: 1,
      rows: [row()],
    });
    await apply('{"international":[]}');
    expect(await managePrices.inForce(ALL)).toMatchObject({
      system: { ...SYSTEM, telegram: iqd(41) },
      total: 0,
      rows: [],
    });
  });

  it('only what a preview said is applied', async () => {
    const text = json([JORDAN]);
    const outdated = rejected('preview-outdated');
    const { preview } = await importPrices.preview(given(text));
    expect((await importPrices.preview(given(text))).preview).toBe(preview);
    for (const other of [
      given(json([{ ...JORDAN, price: iqd(1) }])),
      given(json([JORDAN], { telegram: 41 })),
      given(text, NOW + 60_000),
    ]) {
      await expect(importPrices.apply('operator', other, preview)).rejects.toMatchObject(outdated);
    }
    await apply('{"telegram":41}');
    await expect(importPrices.apply('operator', given(text), preview)).rejects.toMatchObject(outdated);
    expect(await statuses()).toEqual(['in-force', 'replaced']);
  });

  it('of two imports with the same preview one is applied', async () => {
    const text = json([JORDAN]);
    const { preview } = await importPrices.preview(given(text));
    const results = await Promise.allSettled(
      [1, 2].map(() => importPrices.apply('operator', given(text), preview)),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(results[1]).toMatchObject({ reason: rejected('preview-outdated') });
  });

  it('of two imports with the same preview in two processes one is applied', async () => {
    const text = json([JORDAN]);
    const { preview } = await importPrices.preview(given(text));
    const elsewhere = new ImportPrices({
      unitOfWork: world.unitOfWork,
      requestHasher: world.container.get(ports.requestHasher),
      csvDecoder,
      clock: world.clock,
      ids: world.container.get(ports.idSource),
    });
    const results = await Promise.allSettled(
      [importPrices, elsewhere].map((each) => each.apply('operator', given(text), preview)),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: rejected('preview-outdated'),
    });
    expect(await statuses()).toEqual(['in-force', 'replaced']);
  });

  it('an import for later is scheduled, replaces what is in force then, and may be withdrawn', async () => {
    const first = await apply('{"telegram":41}', NOW + 60_000);
    const second = await importPrices.preview(given('{"telegram":42}', NOW + 120_000));
    expect(second.changes.system).toEqual([{ name: 'telegram', before: iqd(41), after: iqd(42) }]);
    expect(second.replaces).toBe(first.id);
    expect(first.effectiveFrom).toBe(NOW + 60_000);
    expect(await statuses()).toEqual(['scheduled', 'in-force']);
    expect((await managePrices.inForce(ALL))?.system.telegram).toBe(iqd(40));
    world.clock.at = NOW + 60_000;
    expect(await statuses()).toEqual(['in-force', 'replaced']);
    expect((await managePrices.find(first.id, ALL)).listed.status).toBe('in-force');
    expect((await managePrices.inForce(ALL))?.system.telegram).toBe(iqd(41));
  });

  it('a scheduled version is withdrawn once, until 10 seconds before it is in force', async () => {
    const version = await apply('{"telegram":41}', NOW + 60_000);
    const late = await apply('{"telegram":42}', NOW + 90_000);
    world.clock.at = NOW + 49_999;
    const withdrawn = { version: { ...version, withdrawnAt: NOW + 49_999 }, status: 'withdrawn' };
    expect(await managePrices.withdraw('cli', version.id)).toEqual(withdrawn);
    expect(await records()).toHaveLength(3);
    expect((await records())[0]).toMatchObject({
      at: NOW + 49_999,
      actor: 'cli',
      action: 'prices-withdrawn',
      projectId: null,
      before: { version: version.id, withdrawnAt: null },
      after: { version: version.id, withdrawnAt: new Date(NOW + 49_999).toISOString() },
    });
    world.clock.at = NOW + 60_000;
    expect(await managePrices.withdraw('cli', version.id)).toEqual(withdrawn);
    expect((await managePrices.find(version.id, ALL)).listed).toEqual(withdrawn);
    expect(await records()).toHaveLength(3);
    expect((await managePrices.inForce(ALL))?.system.telegram).toBe(iqd(40));

    world.clock.at = NOW + 80_000;
    await expect(managePrices.withdraw('cli', late.id)).rejects.toMatchObject(rejected('prices-in-force'));
    expect((await managePrices.find(late.id, ALL)).listed.status).toBe('scheduled');
  });

  it('an import for the past, or behind 20 others, is rejected', async () => {
    await expect(importPrices.preview(given('{"telegram":41}', NOW))).rejects.toMatchObject(
      rejected('effective-from-past'),
    );
    for (let n = 1; n <= 20; n += 1) await apply('{"telegram":41}', NOW + 60_000 * n);
    await expect(importPrices.preview(given('{"telegram":41}', NOW + 30_000))).rejects.toMatchObject(
      rejected('too-many-scheduled-prices'),
    );
    expect(await importPrices.preview(given('{"telegram":41}'))).toMatchObject({ rowCount: 1 });
  });

  it('a file with mistakes is rejected, and the import behind it goes on', async () => {
    const [wrong, right] = await Promise.allSettled([
      importPrices.preview(given('x')),
      importPrices.preview(given('{"telegram":41}')),
    ]);
    expect(wrong).toMatchObject({ status: 'rejected', reason: rejected('invalid-prices') });
    expect(right.status).toBe('fulfilled');
  });

  it('a version that does not exist is neither found nor withdrawn', async () => {
    const unknown = rejected('unknown-price-version');
    await expect(managePrices.find(anId(1), ALL)).rejects.toMatchObject(unknown);
    await expect(managePrices.withdraw('cli', anId(1))).rejects.toMatchObject(unknown);
  });

  it('before any import the list in force is that of the seed file, a page of a country too', async () => {
    const seeded = await managePrices.inForce(ALL);
    expect(seeded).toMatchObject({
      listed: { version: { actor: 'seed', effectiveFrom: 0 }, status: 'in-force' },
      system: SYSTEM,
      total: 1,
      rows: [row()],
    });
    expect(shown(await managePrices.inForce({ ...ALL, countryIso: 'JO' }))).toEqual({
      id: seeded?.listed.version.id,
      rows: [],
      total: 0,
    });
    const { id } = await apply(json([JORDAN, row()]));
    const turkey = { ...ALL, countryIso: 'TR' };
    expect(shown(await managePrices.inForce(turkey))).toEqual({ id, rows: [row()], total: 1 });
    expect(shown(await managePrices.find(id, { ...ALL, page: { page: 2, limit: 1 } }))).toEqual({
      id,
      rows: [row()],
      total: 2,
    });
    const [newest, older] = (await managePrices.list(null, 10)).rows;
    expect(await managePrices.list(null, 1)).toEqual({ rows: [newest], next: newest?.version.id });
    expect(await managePrices.list(id, 10)).toEqual({ rows: [older], next: null });
  });

  it('the first list of an installation has every system price', async () => {
    await world.close();
    await open({ projects: [] });
    expect(await managePrices.inForce(ALL)).toBeNull();
    const whole = {
      sms: { korekTelecom: 80, asiaCell: 80, zainIraq: 80, others: 100 },
      whatsapp: { AUTHENTICATION: 60, UTILITY: 60, MARKETING: 90 },
      telegram: 40,
    };
    for (const missing of Object.keys(whole)) {
      await expect(
        importPrices.preview(given(JSON.stringify({ ...whole, [missing]: undefined }))),
      ).rejects.toMatchObject(rejected('incomplete-prices'));
    }
    const plan = await importPrices.preview(given(json([row()], whole)));
    expect(plan).toMatchObject({ replaces: null, changes: { added: 1, unchanged: 0 } });
    expect(plan.changes.system.every(({ before }) => before === null)).toBe(true);
    const version = await apply(json([row()], whole));
    expect(await managePrices.list(null, 10)).toEqual({
      rows: [{ version, status: 'in-force' }],
      next: null,
    });
    expect((await managePrices.inForce(ALL))?.system).toEqual(SYSTEM);
  });

  it('a preview shows the first 500 changed rows, and all rows of a long list are stored', async () => {
    const rows = Array.from({ length: 4_001 }, (_, n) =>
      row({ countryIso: n < 2_001 ? 'AA' : 'AB', mccMnc: String(n).padStart(4, '0') }),
    );
    const plan = await importPrices.preview(given(json(rows)));
    expect(plan.changes.rows.map(({ after }) => after?.mccMnc)).toEqual(
      rows.slice(0, 500).map(({ mccMnc }) => mccMnc),
    );
    expect(plan.changes).toMatchObject({ added: 4_001, removed: 1 });
    expect(plan.countries.map(({ countryIso, rowsBefore }) => [countryIso, rowsBefore])).toEqual([
      ['AA', 0],
      ['AB', 2_001],
    ]);
    const { id } = await apply(json(rows));
    const last = await managePrices.find(id, { ...ALL, page: { page: 4_001, limit: 1 } });
    expect(last).toMatchObject({ total: 4_001, rows: [{ mccMnc: '4000' }] });
  });
});
