import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReadCatalog } from '../../../src/application/catalog/read-catalog.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import { anInternationalPrice, aProject, aSenderId, aWhatsappBusiness } from '../../support/builders.ts';

const own = aProject();
const other = aProject({ id: '664abc000000000000000002', slug: 'other', name: 'Other' });
const beta = aSenderId({ id: '664abc0000000000000000a1', senderId: 'Beta', status: 'pending' });
const alpha = aSenderId({ id: '664abc0000000000000000a2', senderId: 'Alpha' });
const gamma = aSenderId({ id: '664abc0000000000000000a4', senderId: 'Gamma' });
const foreign = aSenderId({ id: '664abc0000000000000000a3', senderId: 'Gamma', projectId: other.id });

describe('ReadCatalog', () => {
  let world: ApplicationWorld;
  let catalog: ReadCatalog;

  beforeEach(async () => {
    world = await openApplication({
      projects: [
        aSeedProject({ senderIds: [beta, alpha, gamma], whatsappBusinesses: [aWhatsappBusiness()] }),
        aSeedProject({ project: other, credit: iqd(7), senderIds: [foreign] }),
      ],
    });
    catalog = world.container.get(ReadCatalog);
  });

  afterEach(() => world.close());

  it('ReadCatalog gives the name and the credit of the project that asks', async () => {
    expect(await catalog.info(own)).toEqual({ projectName: 'Demo', credit: iqd(1_000) });
    expect(await catalog.info(other)).toEqual({ projectName: 'Other', credit: iqd(7) });
  });

  it('ReadCatalog rejects a project without an account, and names it', async () => {
    const unknown = aProject({ id: '664abc0000000000000000ff' });
    await expect(catalog.info(unknown)).rejects.toThrow('Project 664abc0000000000000000ff has no account');
  });

  it('ReadCatalog lists the sender IDs of the project that asks by name, whatever their status', async () => {
    expect(await catalog.senderIds(own)).toEqual([alpha, beta, gamma]);
    expect(await catalog.senderIds(other)).toEqual([foreign]);
  });

  it('ReadCatalog lists the international prices of a country, or of every country', async () => {
    const page = { page: 1, limit: 10 };
    const turkey = { total: 1, rows: [anInternationalPrice()] };
    expect(await catalog.internationalPrices({ countryIso: null }, page)).toEqual(turkey);
    expect(await catalog.internationalPrices({ countryIso: 'TR' }, page)).toEqual(turkey);
    expect(await catalog.internationalPrices({ countryIso: 'JO' }, page)).toEqual({ total: 0, rows: [] });
  });

  it('ReadCatalog lists the whatsapp businesses of the project that asks, and none of a project without', async () => {
    expect(await catalog.whatsappResources(own)).toEqual([aWhatsappBusiness()]);
    expect(await catalog.whatsappResources(other)).toEqual([]);
  });
});
