import { expect, it, test } from 'vitest';
import { DEMO_SEED } from '../../src/bootstrap/config/demo-seed.ts';
import { startService } from '../support/running-service.ts';
import { errorOf } from './world.ts';

const ROW = {
  continent: 'Asia',
  countryIso: 'TR',
  countryCode: '90',
  country: 'Turkey',
  networkId: 'tr_all',
  network: 'All networks',
};

async function start() {
  const row = (countryIso: string, countryCode: string, mccMnc: string, network: string, price: number) => ({
    ...ROW,
    countryIso,
    countryCode,
    mccMnc,
    network,
    networkId: `${countryIso}-${mccMnc}-${network}`,
    price,
  });
  return startService({
    seed: {
      ...DEMO_SEED,
      prices: {
        ...DEMO_SEED.prices,
        international: [
          row('TR', '90', '28602', 'Vodafone', 130),
          row('TR', '90', '28601', 'Turkcell', 120),
          row('DE', '49', '26201', 'Telekom', 200.5),
          row('TR', '90', '28601', 'Aria', 110),
        ],
      },
    },
  });
}

const PATH = '/international-sms-pricing';

it('4.3 the list has all rows of 2.6 by country, then mccMnc, then network', async () => {
  const { status, body } = await (await start()).request(PATH);
  expect(status).toBe(200);
  expect(body).toMatchObject({ currency: 'IQD', page: 1, limit: 100, total: 4, pages: 1, filter: {} });
  const { items } = body as { items: { country: string; network: string; price: number }[] };
  expect(items.map(({ network, price }) => [network, price])).toEqual([
    ['Telekom', 200.5],
    ['Aria', 110],
    ['Turkcell', 120],
    ['Vodafone', 130],
  ]);
  expect(items[1]).toEqual({ ...ROW, network: 'Aria', networkId: 'TR-28601-Aria', price: 110 });
});

it('4.3 the list has one country when it is asked for, in letters of any case', async () => {
  const { body } = await (await start()).request(`${PATH}?countryIso=de`);
  expect(body).toMatchObject({ total: 1, filter: { countryIso: 'DE' }, items: [{ network: 'Telekom' }] });
});

it('4.3 the list comes one page at a time, with an empty page behind the last', async () => {
  const service = await start();
  expect((await service.request(`${PATH}?limit=3&page=2`)).body).toMatchObject({
    page: 2,
    limit: 3,
    total: 4,
    pages: 2,
    items: [{ network: 'Vodafone' }],
  });
  expect((await service.request(`${PATH}?page=1000000`)).body).toMatchObject({ total: 4, items: [] });
});

it('4.3 a list without rows still has one page', async () => {
  const { body } = await (await start()).request(`${PATH}?countryIso=FR`);
  expect(body).toMatchObject({ total: 0, pages: 1, items: [] });
});

test.each([
  'page=0',
  'page=1000001',
  'page=x',
  'limit=0',
  'limit=501',
  'limit=1.5',
  'countryIso=TUR',
  'countryIso=1',
])('4.3 the query %s is an error that names the parameter', async (query) => {
  const error = errorOf(await (await start()).request(`${PATH}?${query}`));
  expect(error).toMatchObject({ status: 400, code: 'validation-failed' });
  expect((error.body as { error: string }).error).toContain(query.split('=')[0]);
});
