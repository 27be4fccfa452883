import { expect, it, test } from 'vitest';
import {
  ask,
  attach,
  CREDIT,
  campaign,
  created,
  creditOf,
  DRAFT,
  dataOf,
  errorOf,
  HEX_ID,
  NINE,
  NUMBERS,
  PARAMETERS,
  PENDING_TEMPLATE_ID,
  PLAN,
  post,
  read,
  recipient,
  recipientsOf,
  rejection,
  started,
  startWithCampaigns,
} from '../support/campaigns.ts';
import { verification } from '../support/seeds.ts';
import { accepted, SECOND } from './world.ts';

const OWN_NUMBER = { trial: { ownPhoneNumber: NUMBERS[0] } };
const PENDING = { templateId: PENDING_TEMPLATE_ID };

it('4.14 a start reserves the cost of all recipients and replies with the running campaign', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, NINE);
  await service.advance(SECOND);
  const { status, body } = await post(service, `/${id}/start`);
  const at = '2030-01-01T00:00:01.000Z';
  const running = {
    ...DRAFT,
    _id: id,
    campaignId: id,
    status: 'running',
    startedAt: at,
    totalRecipients: 9,
    estimatedTotalCost: 540,
    reservedAmount: 540,
    billingStatus: 'reserved',
    updatedAt: at,
  };
  expect({ status, body }).toEqual({ status: 200, body: { success: true, data: running } });
  expect(await creditOf(service)).toBe(CREDIT - 540);
  await service.settle();
  expect((await recipientsOf(service, id)).slice(7)).toEqual([
    {
      _id: expect.stringMatching(HEX_ID),
      phoneNumber: NINE[7],
      status: 'sent',
      smsId: expect.stringMatching(/^sms-[a-f0-9]{24}$/),
      templateParameters: { ...PARAMETERS, header: {} },
      estimatedCost: 60,
      billingState: 'reserved',
      sentAt: at,
    },
    {
      _id: expect.stringMatching(HEX_ID),
      phoneNumber: NINE[8],
      status: 'queued',
      smsId: expect.stringMatching(/^sms-[a-f0-9]{24}$/),
      templateParameters: { ...PARAMETERS, header: {} },
      estimatedCost: 60,
      billingState: 'reserved',
    },
  ]);
  await service.advance(2 * SECOND);
  expect(dataOf(await ask(service, `/${id}?limit=1`))).toEqual({
    ...running,
    status: 'completed',
    completedAt: '2030-01-01T00:00:01.100Z',
    sentCount: 9,
    deliveredCount: 9,
    reconciledAmount: 540,
    billingStatus: 'reconciled',
    updatedAt: '2030-01-01T00:00:02.100Z',
    recipients: [
      {
        _id: expect.stringMatching(HEX_ID),
        phoneNumber: NINE[0],
        status: 'delivered',
        smsId: expect.stringMatching(/^sms-[a-f0-9]{24}$/),
        templateParameters: { ...PARAMETERS, header: {} },
        estimatedCost: 60,
        finalCost: 60,
        billingState: 'charged',
        sentAt: at,
        deliveredAt: '2030-01-01T00:00:02.000Z',
      },
    ],
    linkedSampleCampaigns: [],
    pagination: { total: 9, pages: 9, page: 1, limit: 1 },
  });
  expect(service.inbox.all()[8]).toMatchObject({ phoneNumber: NINE[8], channel: 'whatsapp' });
  await service.assertQuiet();
});

it('4.14 a start without recipients, of a scheduled campaign or of a pending template is an error', async () => {
  const service = await startWithCampaigns();
  const empty = await created(service);
  expect(errorOf(await post(service, `/${empty}/start`))).toEqual(
    rejection(400, 'campaign-without-recipients', 'The campaign has no recipients'),
  );
  const scheduled = await created(service, NUMBERS, PLAN);
  expect(errorOf(await post(service, `/${scheduled}/start`))).toEqual(
    rejection(
      400,
      'campaign-not-draft',
      'This campaign is scheduled: set scheduleType to now to start it by hand',
    ),
  );
  const pending = await created(service, [], PENDING);
  dataOf(await attach(service, pending, [recipient(NUMBERS[0], {})]));
  expect(errorOf(await post(service, `/${pending}/start`))).toEqual(
    rejection(400, 'template-not-approved', 'Template not yet approved'),
  );
  expect(await creditOf(service)).toBe(CREDIT);
});

it('4.14 a start that the credit does not cover is an error with the amounts, and exactly enough is enough', async () => {
  const service = await startWithCampaigns(120);
  const id = await created(service, NUMBERS);
  expect(errorOf(await post(service, `/${id}/start`))).toEqual(
    rejection(400, 'insufficient-credit', 'Insufficient credit, please add more credit', {
      yourCredit: 120,
      requiredCredit: 180,
      canCover: false,
    }),
  );
  expect(await campaign(service, id)).toMatchObject({ status: 'draft', reservedAmount: 0 });
  await started(service, NUMBERS.slice(0, 2));
  await service.advance(SECOND);
  expect(await creditOf(service)).toBe(0);
});

it('4.14 a start beyond the spending threshold or in trial mode is an error', async () => {
  const limited = await startWithCampaigns(CREDIT, { spendingThreshold: 179 });
  const id = await created(limited, NUMBERS);
  expect(errorOf(await post(limited, `/${id}/start`))).toEqual(
    rejection(400, 'spending-threshold', 'Project spending threshold of 179 IQD would be exceeded', {
      currentSpending: 0,
      spendingThreshold: 179,
      cost: 180,
    }),
  );
  const trial = await startWithCampaigns(CREDIT, OWN_NUMBER);
  const both = await created(trial, NUMBERS.slice(0, 2));
  expect(errorOf(await post(trial, `/${both}/start`))).toMatchObject({ status: 400, code: 'trial-mode' });
  await started(trial, [NUMBERS[0]]);
});

test.each<[order: string, more: object, recipients: object[], credit: number, changes: object, code: string]>(
  [
    ['recipients before approval', PENDING, [], CREDIT, {}, 'campaign-without-recipients'],
    [
      'approval before trial',
      PENDING,
      [recipient(NUMBERS[1], {})],
      CREDIT,
      OWN_NUMBER,
      'template-not-approved',
    ],
    [
      'trial before threshold',
      {},
      [recipient(NUMBERS[1])],
      CREDIT,
      { ...OWN_NUMBER, spendingThreshold: 59 },
      'trial-mode',
    ],
    [
      'threshold before credit',
      {},
      [recipient(NUMBERS[1])],
      59,
      { spendingThreshold: 59 },
      'spending-threshold',
    ],
  ],
)('4.14 a start checks %s, and when it is rejected it changes nothing', async (...row) => {
  const [, more, recipients, credit, changes, code] = row;
  const service = await startWithCampaigns(credit, changes);
  const id = await created(service, [], { ...more });
  if (recipients.length > 0) dataOf(await attach(service, id, recipients));
  const before = await read(service, id);
  expect(errorOf(await post(service, `/${id}/start`))).toMatchObject({ status: 400, code });
  expect(await read(service, id)).toEqual(before);
  expect(await creditOf(service)).toBe(credit);
});

it('4.14 the rate limit of a phone number does not count messages of campaigns', async () => {
  const rateLimit = { maxRequests: 1, timeWindowMinutes: 10 };
  const service = await startWithCampaigns(CREDIT, { rateLimit });
  for (let campaigns = 0; campaigns < 2; campaigns += 1) {
    const id = await started(service, [NUMBERS[0]]);
    await service.advance(SECOND);
    expect(await campaign(service, id)).toMatchObject({ deliveredCount: 1 });
  }
  await accepted(service, verification(NUMBERS[0]));
});
