import { expect, it } from 'vitest';
import {
  ask,
  CREDIT,
  campaign,
  created,
  creditOf,
  DRAFT,
  dataOf,
  errorOf,
  NINE,
  NUMBERS,
  PARAMETERS,
  PLAN,
  post,
  read,
  recipient,
  rejection,
  startWithCampaigns,
} from '../support/campaigns.ts';
import { SECOND } from './world.ts';

it('4.15 a sample is a running child with its own recipients, and the parent stays as it was', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, [NUMBERS[0]]);
  const { body: before } = await ask(service, `/${id}`);
  await service.advance(SECOND);
  const { status, body } = await post(service, `/${id}/sample`, {
    recipients: [...NINE, NINE[0]].map((number = '') => recipient(number)),
  });
  const at = '2030-01-01T00:00:01.000Z';
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      success: true,
      data: {
        ...DRAFT,
        name: 'Spring (sample)',
        status: 'running',
        startedAt: at,
        totalRecipients: 9,
        estimatedTotalCost: 540,
        reservedAmount: 540,
        billingStatus: 'reserved',
        isSampleCampaign: true,
        sampleOfCampaign: id,
        createdAt: at,
        updatedAt: at,
      },
    },
  });
  const child = (body as { data: { _id: string } }).data._id;
  expect(child).not.toBe(id);
  const link = {
    _id: child,
    name: 'Spring (sample)',
    campaignId: child,
    status: 'running',
    totalRecipients: 9,
    createdAt: at,
  };
  const { data } = before as { data: object };
  expect((await ask(service, `/${id}`)).body).toEqual({
    success: true,
    data: { ...data, linkedSampleCampaigns: [link] },
  });
  expect(await creditOf(service)).toBe(CREDIT - 540);
  await service.advance(2 * SECOND);
  expect(dataOf(await ask(service, `/${id}`))).toMatchObject({
    linkedSampleCampaigns: [{ ...link, status: 'completed' }],
  });
  expect(new Set(service.inbox.all().map(({ phoneNumber }) => phoneNumber))).toEqual(new Set(NINE));
  await service.assertQuiet();
});

it('4.15 a sample that the credit does not cover is an error, and there is no child', async () => {
  const service = await startWithCampaigns(100);
  const id = await created(service);
  const recipients = NUMBERS.slice(0, 2).map((number) => recipient(number));
  expect(errorOf(await post(service, `/${id}/sample`, { recipients }))).toEqual(
    rejection(400, 'insufficient-credit', 'Insufficient credit, please add more credit', {
      yourCredit: 100,
      requiredCredit: 120,
      canCover: false,
    }),
  );
  expect(await ask(service, '')).toMatchObject({ body: { pagination: { total: 1 } } });
  expect(await creditOf(service)).toBe(100);
});

it('4.15 a number that comes twice gets the first of its entries', async () => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const other = { ...PARAMETERS, body: { 1: 'Omar', 2: 'A-18' } };
  const recipients = [recipient(NUMBERS[0]), recipient('07701234561', other)];
  const { _id } = dataOf(await post(service, `/${id}/sample`, { recipients }));
  expect((await read(service, _id)).recipients).toMatchObject([
    { phoneNumber: NUMBERS[0], templateParameters: PARAMETERS },
  ]);
});

it('4.15 a scheduled parent stays scheduled', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, [], PLAN);
  dataOf(await post(service, `/${id}/sample`, { recipients: [recipient(NUMBERS[0])] }));
  expect(await campaign(service, id)).toMatchObject({ status: 'scheduled', totalRecipients: 0 });
});
