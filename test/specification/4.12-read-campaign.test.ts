import { expect, it, test } from 'vitest';
import { aTestNumber } from '../support/builders.ts';
import {
  ask,
  attach,
  created,
  DRAFT,
  dataOf,
  errorOf,
  HEX_ID,
  NUMBERS,
  PLAN,
  post,
  type RecipientBody,
  recipient,
  started,
  startWithCampaigns,
} from '../support/campaigns.ts';
import { SECOND } from './world.ts';

it('4.12 the detail of a draft has its recipients as they were attached', async () => {
  const service = await startWithCampaigns();
  const id = await created(service);
  await attach(service, id, [recipient('07701234561'), recipient(NUMBERS[1])]);
  const queued = {
    _id: expect.stringMatching(HEX_ID),
    status: 'queued',
    templateParameters: { body: { 1: 'Layla', 2: 'A-17' }, header: {}, buttons: { 0: { 1: 'A-17' } } },
    estimatedCost: 60,
    billingState: 'pending',
  };
  const { status, body } = await ask(service, `/${id}`);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      success: true,
      data: {
        ...DRAFT,
        _id: id,
        campaignId: id,
        totalRecipients: 2,
        estimatedTotalCost: 120,
        recipients: [
          { ...queued, phoneNumber: '07701234561' },
          { ...queued, phoneNumber: NUMBERS[1] },
        ],
        linkedSampleCampaigns: [],
        pagination: { total: 2, pages: 1, page: 1, limit: 50 },
      },
    },
  });
});

it('4.12 the detail has pages, a status filter and a search, each under two names', async () => {
  const service = await startWithCampaigns();
  const numbers = [...NUMBERS, aTestNumber('0006'), aTestNumber('0006', 7)];
  const id = await started(service, numbers);
  await service.advance(SECOND);
  const of = async (query: string) => {
    const data = dataOf<{ recipients: RecipientBody[]; pagination: unknown }>(
      await ask(service, `/${id}?${query}`),
    );
    return [data.recipients.map(({ phoneNumber }) => phoneNumber), data.pagination];
  };
  const pagination = { total: 5, pages: 3, page: 1, limit: 2 };
  expect(await of('limit=2')).toEqual([numbers.slice(0, 2), pagination]);
  expect(await of('limit=2&page=3')).toEqual([numbers.slice(4), { ...pagination, page: 3 }]);
  for (const name of ['status', 'recipientStatus']) {
    expect(await of(`${name}=failed`)).toEqual([
      numbers.slice(3),
      { total: 2, pages: 1, page: 1, limit: 50 },
    ]);
    expect(await of(`${name}=delivered`)).toMatchObject([NUMBERS, { total: 3 }]);
    expect(await of(`${name}=queued`)).toMatchObject([[], { total: 0, pages: 1 }]);
  }
  expect(await of('status=failed&recipientStatus=sent')).toMatchObject([numbers.slice(3), {}]);
  expect(await of('search=1234562&phoneNumber=999')).toMatchObject([[NUMBERS[1]], {}]);
  for (const name of ['search', 'phoneNumber']) {
    expect(await of(`${name}=1234562`)).toMatchObject([[NUMBERS[1]], { total: 1 }]);
    expect(await of(`${name}=999&status=failed&limit=1`)).toMatchObject([[numbers[3]], { total: 2 }]);
    expect(await of(`${name}=555`)).toMatchObject([[], { total: 0 }]);
  }
});

test.each([
  'status=unknown',
  'recipientStatus=unknown',
  'search=abc',
  'search=1234567890123456',
  'phoneNumber=',
])('4.12 the detail with ?%s is an error', async (query) => {
  const service = await startWithCampaigns();
  const id = await created(service);
  expect(errorOf(await ask(service, `/${id}?${query}`))).toMatchObject({
    status: 400,
    body: { success: false },
  });
});

it('4.12 the detail has the samples of a campaign, the newest first', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, [], PLAN);
  const samples: string[] = [];
  for (const number of NUMBERS) {
    await service.advance(SECOND);
    samples.unshift(dataOf(await post(service, `/${id}/sample`, { recipients: [recipient(number)] }))._id);
  }
  const { linkedSampleCampaigns } = dataOf<{ linkedSampleCampaigns: { _id: string }[] }>(
    await ask(service, `/${id}`),
  );
  expect(linkedSampleCampaigns.map(({ _id }) => _id)).toEqual(samples);
});
