import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { iqd } from '../../../../../src/domain/shared/money.ts';
import { anInternationalPrice, aSenderId } from '../../../../support/builders.ts';
import { HttpWorld } from '../../http-world.ts';

const TURKEY = {
  continent: 'Asia',
  countryIso: 'TR',
  countryCode: '90',
  country: 'Turkey',
  networkId: 'tr_all',
  network: 'All networks',
  price: 120,
};
const PAGE_ERROR = 'page must be a whole number from 1 to 1000000';
const LIMIT_ERROR = 'limit must be a whole number from 1 to 500';

let world: HttpWorld;
beforeEach(async () => {
  world = await new HttpWorld().open();
});
afterEach(() => world.close());

it('GET /info replies with name and credit', async () => {
  const reply = await world.call('GET', '/info');
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({ projectName: 'Demo', credit: 15_000 });
});

it('GET /sender-ids replies with every sender ID', async () => {
  world.api.senders = [
    aSenderId(),
    aSenderId({ id: '664abc0000000000000000a2', senderId: 'New', status: 'pending' }),
  ];
  const reply = await world.call('GET', '/sender-ids');
  const pricePerSms = { korekTelecom: 70, asiaCell: 70, zainIraq: 70, others: 90 };
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    success: true,
    data: [
      { _id: '664abc0000000000000000a1', senderId: 'Barid', status: 'accepted', pricePerSms },
      { _id: '664abc0000000000000000a2', senderId: 'New', status: 'pending', pricePerSms },
    ],
  });
});

describe('GET /international-sms-pricing', () => {
  it('replies with the first page of the prices of all countries', async () => {
    world.api.prices = [anInternationalPrice(), anInternationalPrice({ countryIso: 'XX', price: iqd(0.5) })];
    const reply = await world.call('GET', '/international-sms-pricing');
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      currency: 'IQD',
      page: 1,
      limit: 100,
      total: 2,
      pages: 1,
      filter: {},
      items: [TURKEY, { ...TURKEY, countryIso: 'XX', price: 0.5 }],
    });
  });

  it('replies with a page of the prices of one country, in any case of letters', async () => {
    world.api.prices = [1, 2, 3].map((n) => anInternationalPrice({ networkId: `tr_${n}` }));
    const reply = await world.call(
      'GET',
      '/international-sms-pricing?page=2&limit=2&countryIso=tR&unknown=1',
    );
    expect(reply.body).toEqual({
      currency: 'IQD',
      page: 2,
      limit: 2,
      total: 3,
      pages: 2,
      filter: { countryIso: 'TR' },
      items: [{ ...TURKEY, networkId: 'tr_3' }],
    });
  });

  it('replies with one page of prices even without rows', async () => {
    const reply = await world.call('GET', '/international-sms-pricing?page=1000000&limit=500');
    expect(reply.body).toMatchObject({ page: 1_000_000, limit: 500, total: 0, pages: 1, items: [] });
  });

  test.each([
    ['page=0', PAGE_ERROR],
    ['page=1000001', PAGE_ERROR],
    ['page=-1', PAGE_ERROR],
    ['page=1e3', PAGE_ERROR],
    ['page=1.0', PAGE_ERROR],
    ['page=', PAGE_ERROR],
    ['page=+1', PAGE_ERROR],
    ['page=0x10', PAGE_ERROR],
    ['page=%ff', PAGE_ERROR],
    ['page=00000001', PAGE_ERROR],
    ['page=1&page=2', 'page must be given once'],
    ['limit=0', LIMIT_ERROR],
    ['limit=501', LIMIT_ERROR],
    ['limit=ten', LIMIT_ERROR],
    ['countryIso=', 'countryIso must be two letters'],
    ['countryIso=TUR', 'countryIso must be two letters'],
    ['countryIso=T1', 'countryIso must be two letters'],
    ['countryIso=TR&countryIso=TR', 'countryIso must be given once'],
  ])('rejects the query %s of the prices', async (query, error) => {
    const reply = await world.call('GET', `/international-sms-pricing?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ error });
    expect(reply.headers['x-error-code']).toBe('validation-failed');
  });
});
