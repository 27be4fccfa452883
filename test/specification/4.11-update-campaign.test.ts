import { expect, it, test } from 'vitest';
import {
  ask,
  CODE_TEMPLATE_ID,
  campaign,
  created,
  DRAFT,
  dataOf,
  errorOf,
  FOREIGN_NUMBER_ID,
  IN_AN_HOUR,
  NUMBERS,
  OFFER_TEMPLATE_ID,
  patch,
  post,
  recipientsOf,
  rejection,
  SALE_TEMPLATE_ID,
  startWithCampaigns,
  TEMPLATE_ID,
  UNKNOWN_ID,
} from '../support/campaigns.ts';
import { SECOND } from './world.ts';

it('4.11 an update changes what it names and nothing else', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, [NUMBERS[0]]);
  await service.advance(SECOND);
  const { status, body } = await patch(service, id, { name: 'Autumn', category: 'MARKETING' });
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      success: true,
      data: {
        ...DRAFT,
        _id: id,
        campaignId: id,
        name: 'Autumn',
        totalRecipients: 1,
        estimatedTotalCost: 60,
        updatedAt: '2030-01-01T00:00:01.000Z',
      },
    },
  });
  expect(await campaign(service, id)).toMatchObject({ name: 'Autumn', status: 'draft' });
});

it('4.11 another template brings its category and its price to the campaign and its recipients', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, NUMBERS);
  expect(dataOf(await patch(service, id, { templateId: OFFER_TEMPLATE_ID }))).toMatchObject({
    template: OFFER_TEMPLATE_ID,
    category: 'MARKETING',
    estimatedTotalCost: 270,
  });
  expect(await recipientsOf(service, id)).toMatchObject(
    NUMBERS.map((phoneNumber) => ({ phoneNumber, estimatedCost: 90, billingState: 'pending' })),
  );
  expect(dataOf(await post(service, `/${id}/start`))).toMatchObject({
    reservedAmount: 270,
    estimatedTotalCost: 270,
  });
});

it('4.11 another template that the recipients have no parameters for is an error, and the campaign stays', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, [NUMBERS[0]]);
  expect(errorOf(await patch(service, id, { templateId: SALE_TEMPLATE_ID }))).toEqual(
    rejection(
      400,
      'recipient-parameters',
      `Recipient ${NUMBERS[0]}: templateParameters.header.imageUrl is required by the template`,
    ),
  );
  expect(await campaign(service, id)).toMatchObject({ template: TEMPLATE_ID, estimatedTotalCost: 60 });
});

test.each([
  [{ scheduleType: 'schedule' }, 400, 'scheduled-for-missing'],
  [{ scheduledFor: IN_AN_HOUR }, 400, 'scheduled-for-unexpected'],
  [{ scheduleType: 'schedule', scheduledFor: '2029-12-31T23:59:59Z' }, 400, 'scheduled-for-past'],
  [{ category: 'AUTHENTICATION' }, 400, 'validation-failed'],
  [{ phoneNumberId: FOREIGN_NUMBER_ID }, 400, 'campaign-accounts-differ'],
  [{ templateId: CODE_TEMPLATE_ID }, 400, 'campaign-category'],
  [{ templateId: UNKNOWN_ID }, 404, 'campaign-template-not-found'],
  [{ phoneNumberId: UNKNOWN_ID }, 404, 'campaign-phone-not-found'],
])('4.11 an update with %j is an error, and the campaign stays as it was', async (body, status, code) => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const { body: before } = await ask(service, `/${id}`);
  expect(errorOf(await patch(service, id, body))).toMatchObject({ status, code, body: { success: false } });
  expect((await ask(service, `/${id}`)).body).toEqual(before);
});
