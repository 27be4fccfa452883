import { expect, it, test } from 'vitest';
import { aTestNumber } from '../support/builders.ts';
import {
  attach,
  CREDIT,
  campaign,
  created,
  DRAFT,
  errorOf,
  NUMBERS,
  PARAMETERS,
  PLAN,
  post,
  recipient,
  recipientsOf,
  rejection,
  startWithCampaigns,
} from '../support/campaigns.ts';
import { LIVE_KEY } from '../support/seeds.ts';
import { SECOND } from './world.ts';

it('4.16 numbers of the request are merged, and numbers of the campaign are skipped', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, [NUMBERS[0]]);
  const first = { ...PARAMETERS, body: { 1: 'First', 2: 'A-17' } };
  await service.advance(SECOND);
  const { status, body } = await attach(service, id, [
    recipient('07701234561'),
    recipient(NUMBERS[1], first),
    recipient('009647701234562'),
    recipient(NUMBERS[2]),
    recipient(NUMBERS[1]),
  ]);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      success: true,
      data: {
        ...DRAFT,
        _id: id,
        campaignId: id,
        totalRecipients: 3,
        estimatedTotalCost: 180,
        updatedAt: '2030-01-01T00:00:01.000Z',
        addedCount: 2,
        skippedCount: 1,
        duplicateCount: 2,
      },
    },
  });
  expect(await recipientsOf(service, id)).toMatchObject([
    { phoneNumber: NUMBERS[0] },
    { phoneNumber: NUMBERS[1], templateParameters: { body: { 1: 'First' } } },
    { phoneNumber: NUMBERS[2] },
  ]);
});

it('4.16 a request with numbers of the campaign only is an error', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, NUMBERS);
  expect(errorOf(await attach(service, id, [recipient('07701234561'), recipient(NUMBERS[2])]))).toEqual(
    rejection(400, 'recipients-already-attached', 'All these recipients are on the campaign already'),
  );
});

test.each([
  [{ body: { 1: 'Layla' } }, 'templateParameters.body.2 is required by the template'],
  [{ ...PARAMETERS, buttons: {} }, 'templateParameters.buttons.0.1 is required by the template'],
  [
    { ...PARAMETERS, header: { imageUrl: 'https://example.com/a.jpg' } },
    'templateParameters.header.imageUrl is not a parameter of the template',
  ],
])('4.16 parameters %j do not fit the template, which is an error', async (parameters, error) => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const recipients = [recipient(NUMBERS[0]), recipient('07701234562', parameters)];
  for (const path of ['recipients', 'sample']) {
    expect(errorOf(await post(service, `/${id}/${path}`, { recipients }))).toEqual(
      rejection(400, 'recipient-parameters', `Recipient 07701234562: ${error}`),
    );
  }
  expect(await campaign(service, id)).toMatchObject({ totalRecipients: 0 });
});

test.each([
  [{}],
  [{ recipients: 'all' }],
  [{ recipients: ['9647701234561'] }],
  [{ recipients: [{ phoneNumber: '+9647701234561', templateParameters: PARAMETERS }] }],
  [{ recipients: [{ phoneNumber: '123', templateParameters: PARAMETERS }] }],
  [{ recipients: [{ templateParameters: PARAMETERS }] }],
  [{ recipients: [{ phoneNumber: NUMBERS[0], templateParameters: 'Layla' }] }],
])('4.16 the body %j is an error', async (body) => {
  const service = await startWithCampaigns();
  const id = await created(service);
  for (const path of ['recipients', 'sample']) {
    expect(errorOf(await post(service, `/${id}/${path}`, body))).toMatchObject({
      status: 400,
      code: 'validation-failed',
      body: { success: false },
    });
  }
});

test.each([[null], [[]], ['text'], [7]])(
  '4.16 the body %j is no object, which the error says',
  async (body) => {
    const service = await startWithCampaigns();
    const id = await created(service);
    for (const path of ['recipients', 'sample']) {
      expect(errorOf(await post(service, `/${id}/${path}`, body))).toEqual(
        rejection(400, 'validation-failed', 'The request body must be a JSON object'),
      );
    }
  },
);

it('4.16 a live project has no test numbers among its recipients', async () => {
  const service = await startWithCampaigns(CREDIT, { environment: 'live', apiKeys: [LIVE_KEY] });
  const id = await created(service);
  const reply = await attach(service, id, [recipient(NUMBERS[0]), recipient(aTestNumber('0001'))]);
  expect(errorOf(reply)).toMatchObject({
    code: 'unsupported-numbers',
    body: { unsupportedPhoneNumbers: [aTestNumber('0001')] },
  });
  expect(await campaign(service, id)).toMatchObject({ totalRecipients: 0 });
});

it('4.16 a scheduled campaign takes recipients', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, NUMBERS, PLAN);
  expect(await campaign(service, id)).toMatchObject({ status: 'scheduled', totalRecipients: 3 });
});
