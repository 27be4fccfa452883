import { expect, it, test } from 'vitest';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import { anId } from '../support/builders.ts';
import {
  ask,
  attach,
  BODY,
  created,
  dataOf,
  numbersFrom,
  OTHER_KEY,
  recipient,
  recipientsOf,
  rejection,
  startWithCampaigns,
} from '../support/campaigns.ts';
import { startService } from '../support/running-service.ts';
import { accepted, creditOf, errorOf, NUMBER, post, startWith, text } from './world.ts';

test.each([
  [1, 80],
  [140, 80],
  [141, 160],
  [280, 160],
  [281, 240],
  [1_000, 640],
])('8 a text of %i characters is billed by units of 140: %i IQD', async (length, cost) => {
  const service = await startWith();
  await accepted(service, text(NUMBER, { provider: 'sms', customMessage: 'س'.repeat(length) }));
  expect(await creditOf(service)).toBe(15_000 - cost);
});

it('8 a project without a setting may send five times in ten minutes to one number', async () => {
  const service = await startService();
  for (let sends = 0; sends < 5; sends += 1) await accepted(service);
  expect(errorOf(await post(service, text(NUMBER)))).toMatchObject({
    status: 429,
    body: { maxRequests: 5, timeWindowMinutes: 10 },
  });
});

it('8 a sender ID has at most 11 characters', async () => {
  const error = errorOf(await post(await startWith(), text(NUMBER, { senderId: 'x'.repeat(12) })));
  expect(error).toMatchObject({ status: 400, code: 'validation-failed' });
});

test.each([
  [2, 400],
  [3, 200],
  [80, 200],
  [81, 400],
])('8 a campaign name of %i characters gets %i', async (length, status) => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const name = 'س'.repeat(length);
  expect((await ask(service, '', { body: { ...BODY, name } })).status).toBe(status);
  expect((await ask(service, `/${id}`, { method: 'PATCH', body: { name } })).status).toBe(status);
});

test.each([
  ['recipients', 0, 400],
  ['recipients', 1, 200],
  ['recipients', 1_000, 200],
  ['sample', 0, 400],
  ['sample', 1, 200],
  ['sample', 1_000, 200],
])('8 a request for %s with %i recipients gets %i', async (path, count, status) => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const recipients = numbersFrom(0, count).map((number) => recipient(number));
  const reply = await ask(service, `/${id}/${path}`, { body: { recipients } });
  expect(reply.status).toBe(status);
  if (status === 200) expect(dataOf(reply).totalRecipients).toBe(count);
});

it('8 a project has 10000 campaigns before their start, and not one more', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, numbersFrom(0, 1));
  await service.service.roots.unitOfWork.run(async ({ campaigns }) => {
    const [first] = await campaigns.lock([id]);
    if (first === undefined) throw new Error('The campaign is there');
    const statuses = ['draft', 'scheduled'] as const;
    await campaigns.insert(
      Array.from({ length: 9_998 }, (_, n) => ({
        ...first,
        id: anId(n + 1),
        status: statuses[n % 2] ?? 'draft',
      })),
    );
  });
  const replies = await Promise.all([1, 2, 3].map(() => ask(service, '', { body: BODY })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  const tooMany = rejection(
    400,
    'too-many-campaigns',
    'Campaigns that have not started cannot exceed 10000 per project: start or delete some first',
  );
  const create = (apiKey = DEMO_API_KEY) => ask(service, '', { body: BODY, apiKey });
  expect(errorOf(await create())).toEqual(tooMany);
  expect((await create(OTHER_KEY)).status).toBe(200);
  expect((await ask(service, `/${id}/start`, { method: 'POST' })).status).toBe(200);
  expect((await create()).status).toBe(200);
  expect(errorOf(await create())).toEqual(tooMany);
});

it('8 a campaign takes 1000 recipients, and not one more', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, numbersFrom(0, 999));
  const [last = '', extra = ''] = numbersFrom(999, 2);
  const tooMany = rejection(400, 'too-many-recipients', 'Recipients cannot exceed 1000 per campaign');
  expect(errorOf(await attach(service, id, [recipient(last), recipient(extra)]))).toEqual(tooMany);
  expect(dataOf(await attach(service, id, [recipient(last)]))).toMatchObject({
    totalRecipients: 1_000,
    estimatedTotalCost: 60_000,
  });
  expect(errorOf(await attach(service, id, [recipient(extra)]))).toEqual(tooMany);
  expect(await recipientsOf(service, id)).toHaveLength(1_000);
});

it('8 the recipients of a campaign have parameters of 1 MB together, and no more', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, []);
  const long = { body: { 1: 'x'.repeat(4_096), 2: 'x'.repeat(4_096) }, buttons: { 0: { 1: 'A-17' } } };
  const longOnes = (first: number, count: number) =>
    numbersFrom(first, count).map((number) => recipient(number, long));
  expect((await attach(service, id, longOnes(0, 100))).status).toBe(200);
  // 8,245 bytes each: 127 of them fit.
  expect(errorOf(await attach(service, id, longOnes(100, 28)))).toEqual(
    rejection(400, 'recipients-too-large', 'templateParameters cannot exceed 1 MB per campaign'),
  );
  expect(dataOf(await attach(service, id, longOnes(100, 27)))).toMatchObject({ totalRecipients: 127 });
});

it('8 the campaigns of a project before their start take 200000 recipients, and not one more', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, numbersFrom(0, 1));
  const full = anId(1);
  await service.service.roots.unitOfWork.run(async ({ campaigns }) => {
    const [first] = await campaigns.lock([id]);
    if (first === undefined) throw new Error('The campaign is there');
    await campaigns.insert([{ ...first, id: full, status: 'scheduled', totalRecipients: 199_998 }]);
  });
  const [last = '', extra = ''] = numbersFrom(1, 2);
  const tooMany = rejection(
    400,
    'too-many-unstarted-recipients',
    'Recipients of campaigns that have not started cannot exceed 200000 per project: start or delete some campaigns first',
  );
  expect(errorOf(await attach(service, id, [recipient(last), recipient(extra)]))).toEqual(tooMany);
  expect(await recipientsOf(service, id)).toHaveLength(1);
  expect(dataOf(await attach(service, id, [recipient(last)]))).toMatchObject({ totalRecipients: 2 });
  expect(errorOf(await attach(service, id, [recipient(extra)]))).toEqual(tooMany);
  expect((await ask(service, `/${full}`, { method: 'DELETE' })).status).toBe(200);
  expect(dataOf(await attach(service, id, [recipient(extra)]))).toMatchObject({ totalRecipients: 3 });
});

it('8 a campaign that failed to start counts as one that has not started, for an hour', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, numbersFrom(0, 1));
  const now = service.now().getTime();
  await service.service.roots.unitOfWork.run(async ({ campaigns }) => {
    const [first] = await campaigns.lock([id]);
    if (first === undefined) throw new Error('The campaign is there');
    const failed = { ...first, status: 'failed' as const, completedAt: now, totalRecipients: 0 };
    await campaigns.insert([
      { ...failed, id: anId(0), totalRecipients: 199_999 },
      ...Array.from({ length: 9_998 }, (_, n) => ({ ...failed, id: anId(n + 1) })),
    ]);
  });
  const numbers = numbersFrom(1, 1).map((number) => recipient(number));
  const codes = async () => [
    errorOf(await attach(service, id, numbers)).code,
    errorOf(await ask(service, '', { body: BODY })).code,
  ];
  expect(await codes()).toEqual(['too-many-unstarted-recipients', 'too-many-campaigns']);
  await service.advance(60 * 60 * 1_000);
  expect(dataOf(await attach(service, id, numbers))).toMatchObject({ totalRecipients: 2 });
  expect((await ask(service, '', { body: BODY })).status).toBe(200);
});

test.each([
  ['campaigns', 100],
  ['recipients', 500],
])('8 a page of %s has 1 to %i, and pages are 1 to 1,000,000', async (what, limit) => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const statusOf = async (query: string) =>
    (await ask(service, `${what === 'campaigns' ? '' : `/${id}`}?${query}`)).status;
  for (const query of ['limit=1', `limit=${limit}`, 'page=1', 'page=1000000'])
    expect([query, await statusOf(query)]).toEqual([query, 200]);
  for (const query of ['limit=0', `limit=${limit + 1}`, 'page=0', 'page=1000001'])
    expect([query, await statusOf(query)]).toEqual([query, 400]);
});

it('8 a body with a list of recipients may have 4 MB', async () => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const statusOf = async (bytes: number) => {
    const body = JSON.stringify({ recipients: [recipient(NUMBER)] });
    const response = await fetch(`${await service.url}/whatsapp/campaigns/${id}/recipients`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: body.padEnd(bytes),
    });
    return [response.status, response.headers.get('x-error-code')];
  };
  expect(await statusOf(4_000_000)).toEqual([200, null]);
  expect(await statusOf(4 * 1_024 * 1_024 + 1)).toEqual([413, 'body-too-large']);
});
