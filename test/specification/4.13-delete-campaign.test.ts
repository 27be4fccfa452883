import { expect, it, test } from 'vitest';
import {
  ask,
  CREDIT,
  campaign,
  created,
  creditOf,
  dataOf,
  errorOf,
  NOT_FOUND,
  NUMBERS,
  PLAN,
  post,
  recipient,
  startWithCampaigns,
} from '../support/campaigns.ts';
import { HOUR, SECOND } from './world.ts';

test.each([
  ['draft', {}],
  ['scheduled', PLAN],
])('4.13 a %s campaign is gone with its recipients, and never starts', async (_, plan) => {
  const service = await startWithCampaigns();
  const id = await created(service, NUMBERS, plan);
  const { status, body } = await ask(service, `/${id}`, { method: 'DELETE' });
  expect({ status, body }).toEqual({ status: 200, body: { success: true, data: {} } });
  for (const method of ['GET', 'DELETE']) {
    expect(errorOf(await ask(service, `/${id}`, { method }))).toEqual(NOT_FOUND);
  }
  await service.advance(2 * HOUR);
  expect(service.inbox.all()).toEqual([]);
  expect(await creditOf(service)).toBe(CREDIT);
  await service.assertQuiet();
});

it('4.13 the samples of a deleted campaign stay', async () => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const { _id } = dataOf(await post(service, `/${id}/sample`, { recipients: [recipient(NUMBERS[0])] }));
  await ask(service, `/${id}`, { method: 'DELETE' });
  await service.advance(SECOND);
  expect(await campaign(service, _id)).toMatchObject({ status: 'completed', sampleOfCampaign: id });
});
