import { expect, it, test } from 'vitest';
import {
  ask,
  BODY,
  CODE_TEMPLATE_ID,
  created,
  DRAFT,
  errorOf,
  FOREIGN_NUMBER_ID,
  IN_AN_HOUR,
  NUMBER_ID,
  PENDING_TEMPLATE_ID,
  patch,
  post,
  rejection,
  SALE_TEMPLATE_ID,
  SCHEDULED,
  START,
  startWithCampaigns,
  UNKNOWN_ID,
} from '../support/campaigns.ts';

it('4.10 a campaign without a schedule type is a draft, whose campaignId is its id', async () => {
  const service = await startWithCampaigns();
  const { status, body } = await post(service, '', BODY);
  expect({ status, body }).toEqual({ status: 200, body: { success: true, data: DRAFT } });
  const { _id, campaignId } = (body as { data: { _id: string; campaignId: string } }).data;
  expect(campaignId).toBe(_id);
  const now = await post(service, '', { ...BODY, scheduleType: 'now', scheduledFor: null });
  expect(now.body).toEqual({ success: true, data: DRAFT });
});

it('4.10 a campaign with a time in the future is scheduled', async () => {
  const service = await startWithCampaigns();
  const body = { ...BODY, scheduleType: 'schedule', scheduledFor: '2030-01-01T04:00:00+03:00' };
  expect((await post(service, '', body)).body).toEqual({ success: true, data: SCHEDULED });
});

it('4.10 a campaign has the category of its template, and takes ids in capitals', async () => {
  const service = await startWithCampaigns();
  const body = {
    ...BODY,
    templateId: SALE_TEMPLATE_ID.toUpperCase(),
    phoneNumberId: NUMBER_ID.toUpperCase(),
  };
  expect((await post(service, '', body)).body).toEqual({
    success: true,
    data: { ...DRAFT, category: 'MARKETING', template: SALE_TEMPLATE_ID },
  });
});

test.each([
  [{ scheduleType: 'schedule' }, 'scheduled-for-missing', /scheduledFor/],
  [{ scheduledFor: IN_AN_HOUR }, 'scheduled-for-unexpected', /scheduledFor/],
  [{ scheduleType: 'now', scheduledFor: IN_AN_HOUR }, 'scheduled-for-unexpected', /scheduledFor/],
  [{ scheduleType: 'schedule', scheduledFor: START }, 'scheduled-for-past', /future/],
  [{ scheduleType: 'schedule', scheduledFor: 'tomorrow' }, 'validation-failed', /scheduledFor/],
  [{ scheduleType: 'schedule', scheduledFor: '2030-01-01T01:00:00' }, 'validation-failed', /scheduledFor/],
  [{ scheduleType: 'later' }, 'validation-failed', /scheduleType/],
  [{ templateId: 'abc' }, 'validation-failed', /templateId/],
  [{ phoneNumberId: `${NUMBER_ID}0` }, 'validation-failed', /phoneNumberId/],
  [{ phoneNumberId: FOREIGN_NUMBER_ID }, 'campaign-accounts-differ', /account/],
  [{ templateId: CODE_TEMPLATE_ID }, 'campaign-category', /MARKETING and UTILITY/],
])('4.10 a campaign with %j is an error', async (changes, code, error) => {
  const service = await startWithCampaigns();
  expect(errorOf(await post(service, '', { ...BODY, ...changes }))).toEqual({
    status: 400,
    code,
    body: { success: false, error: expect.stringMatching(error) },
  });
  expect((await ask(service, '')).body).toMatchObject({ data: [], pagination: { total: 0 } });
});

test.each([[null], [[]], ['text'], [7]])(
  '4.10 and 4.11 the body %j is no object, which the error says',
  async (body) => {
    const service = await startWithCampaigns();
    const id = await created(service);
    for (const reply of [await post(service, '', body), await patch(service, id, body)])
      expect(errorOf(reply)).toEqual(
        rejection(400, 'validation-failed', 'The request body must be a JSON object'),
      );
  },
);

it('4.10 a campaign of an unknown template or number is a 404', async () => {
  const service = await startWithCampaigns();
  expect(errorOf(await post(service, '', { ...BODY, templateId: UNKNOWN_ID }))).toEqual(
    rejection(404, 'campaign-template-not-found', 'Template not found'),
  );
  expect(errorOf(await post(service, '', { ...BODY, phoneNumberId: UNKNOWN_ID }))).toEqual(
    rejection(404, 'campaign-phone-not-found', 'Phone number not found'),
  );
});

it('4.10 the template of a new campaign may still wait for its approval', async () => {
  const service = await startWithCampaigns();
  const reply = await post(service, '', { ...BODY, templateId: PENDING_TEMPLATE_ID });
  expect(reply.body).toEqual({ success: true, data: { ...DRAFT, template: PENDING_TEMPLATE_ID } });
});

test.each(['name', 'templateId', 'phoneNumberId'])(
  '4.10 a campaign without %s is an error',
  async (field) => {
    const service = await startWithCampaigns();
    expect(errorOf(await post(service, '', { ...BODY, [field]: undefined }))).toMatchObject({
      status: 400,
      code: 'validation-failed',
      body: { success: false, error: expect.stringContaining(field) },
    });
  },
);
