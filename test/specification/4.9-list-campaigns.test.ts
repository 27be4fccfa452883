import { expect, it, test } from 'vitest';
import {
  ask,
  created,
  DRAFT,
  dataOf,
  errorOf,
  NUMBERS,
  PLAN,
  patch,
  post,
  recipient,
  startWithCampaigns,
} from '../support/campaigns.ts';
import { SECOND } from './world.ts';

it('4.9 the list has the newest campaign first, in pages, and by status', async () => {
  const service = await startWithCampaigns();
  const ids: string[] = [];
  for (const name of ['One', 'Two', 'Three']) {
    await service.advance(SECOND);
    ids.unshift(await created(service, [], { name }));
  }
  const [newest = '', middle = '', oldest = ''] = ids;
  await patch(service, middle, PLAN);
  const of = async (query: string) => {
    const { status, body } = await ask(service, query);
    const { data, pagination } = body as { data: { _id: string }[]; pagination: unknown };
    return { status, ids: data.map(({ _id }) => _id), pagination };
  };
  expect(await of('')).toEqual({
    status: 200,
    ids,
    pagination: { total: 3, pages: 1, page: 1, limit: 20 },
  });
  expect(await of('?limit=2')).toEqual({
    status: 200,
    ids: [newest, middle],
    pagination: { total: 3, pages: 2, page: 1, limit: 2 },
  });
  expect(await of('?limit=2&page=2')).toMatchObject({ ids: [oldest], pagination: { page: 2 } });
  expect(await of('?page=9')).toMatchObject({ ids: [], pagination: { total: 3, pages: 1, page: 9 } });
  expect(await of('?status=scheduled')).toMatchObject({ ids: [middle], pagination: { total: 1 } });
  expect(await of('?status=running')).toMatchObject({ ids: [], pagination: { total: 0, pages: 1 } });
  const first = { ...DRAFT, name: 'One', createdAt: '2030-01-01T00:00:01.000Z' };
  expect((await ask(service, '?page=3&limit=1')).body).toEqual({
    success: true,
    data: [{ ...first, updatedAt: '2030-01-01T00:00:01.000Z' }],
    pagination: { total: 3, pages: 3, page: 3, limit: 1 },
  });
});

test.each(['status=paused', 'page=0', 'limit=x'])('4.9 the list with ?%s is an error', async (query) => {
  const service = await startWithCampaigns();
  expect(errorOf(await ask(service, `?${query}`))).toMatchObject({
    status: 400,
    body: { success: false, error: expect.stringContaining(query.split('=')[0] ?? '') },
  });
});

it('4.9 the list has sample campaigns among the others', async () => {
  const service = await startWithCampaigns();
  const id = await created(service);
  await service.advance(SECOND);
  const sample = dataOf(await post(service, `/${id}/sample`, { recipients: [recipient(NUMBERS[0])] }));
  expect((await ask(service, '')).body).toMatchObject({
    data: [
      { _id: sample._id, isSampleCampaign: true, sampleOfCampaign: id },
      { _id: id, isSampleCampaign: false },
    ],
    pagination: { total: 2 },
  });
});
