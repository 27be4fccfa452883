import { expect, it, test } from 'vitest';
import { aTestNumber } from '../support/builders.ts';
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
  IN_AN_HOUR,
  NINE,
  NOT_EDITABLE,
  NUMBERS,
  PENDING_TEMPLATE_ID,
  PLAN,
  patch,
  post,
  read,
  recipient,
  rejection,
  SCHEDULED,
  START,
  started,
  startWithCampaigns,
  UTILITY_PRICE,
} from '../support/campaigns.ts';
import { HOUR, SECOND } from './world.ts';

const RECEIPT_WINDOW = 72 * HOUR;

it('3.1 PATCH makes a draft scheduled, moves its time, and makes it a draft again', async () => {
  const service = await startWithCampaigns();
  const id = await created(service);
  const ids = { _id: id, campaignId: id };
  const scheduled = await patch(service, id, PLAN);
  expect(scheduled.body).toEqual({ success: true, data: { ...SCHEDULED, ...ids } });
  const moved = await patch(service, id, { scheduledFor: '2030-01-01T02:00:00Z' });
  expect(dataOf(moved)).toEqual({ ...SCHEDULED, ...ids, scheduledFor: '2030-01-01T02:00:00.000Z' });
  expect(dataOf(await patch(service, id, { name: 'Autumn' }))).toMatchObject({
    status: 'scheduled',
    scheduledFor: '2030-01-01T02:00:00.000Z',
  });
  const draft = await patch(service, id, { name: 'Spring', scheduleType: 'now' });
  expect(draft.body).toEqual({ success: true, data: { ...DRAFT, ...ids } });
  await service.advance(3 * HOUR);
  expect(await campaign(service, id)).toMatchObject({ status: 'draft' });
  await service.assertQuiet();
});

it('3.1 a scheduled campaign starts at its time and not before', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, NUMBERS, PLAN);
  await service.advance(HOUR - 1);
  expect(await campaign(service, id)).toMatchObject({ status: 'scheduled', reservedAmount: 0 });
  expect(await creditOf(service)).toBe(CREDIT);
  expect(service.inbox.all()).toEqual([]);
  await service.advance(1);
  expect(await read(service, id)).toMatchObject({
    status: 'completed',
    scheduleType: 'schedule',
    scheduledFor: IN_AN_HOUR,
    startedAt: IN_AN_HOUR,
    sentCount: 3,
    reservedAmount: 180,
  });
  await service.advance(SECOND);
  expect(await campaign(service, id)).toMatchObject({ deliveredCount: 3, reconciledAmount: 180 });
  expect(service.inbox.all()).toHaveLength(3);
  await service.assertQuiet();
});

test.each([
  ['has no recipients', [], {}, CREDIT, 'The campaign has no recipients'],
  ['the credit does not cover', [...NUMBERS], {}, 179, 'The credit of the project does not suffice'],
  [
    'has a template that is not approved',
    [],
    { templateId: PENDING_TEMPLATE_ID },
    CREDIT,
    'The template is not approved',
  ],
])(
  '3.1 a scheduled campaign that %s fails at its time and keeps the reason',
  async (_, numbers, more, credit, reason) => {
    const service = await startWithCampaigns(credit);
    const id = await created(service, numbers, { ...PLAN, ...more });
    if ('templateId' in more) dataOf(await attach(service, id, [recipient(NUMBERS[0], {})]));
    await service.advance(HOUR);
    const { data } = (await ask(service, `?status=failed`)).body as { data: object[] };
    expect(data).toMatchObject([
      {
        _id: id,
        status: 'failed',
        errorMessage: reason,
        completedAt: IN_AN_HOUR,
        reservedAmount: 0,
        reconciledAmount: 0,
        billingStatus: 'released',
        sentCount: 0,
        failedCount: 0,
      },
    ]);
    expect(data[0]).not.toHaveProperty('startedAt');
    expect(await creditOf(service)).toBe(credit);
    expect(errorOf(await patch(service, id, { scheduleType: 'now' }))).toEqual(NOT_EDITABLE);
    expect(service.inbox.all()).toEqual([]);
    await service.assertQuiet();
  },
);

it('3.1 a campaign whose every recipient fails is failed, and everything is released', async () => {
  const service = await startWithCampaigns();
  const numbers = ['0006', '0007', '0202'].map((digits) => aTestNumber(digits));
  const id = await started(service, numbers);
  await service.settle();
  const failed = { status: 'failed', finalCost: 0, billingState: 'released', failedAt: START };
  expect(await read(service, id)).toMatchObject({
    status: 'failed',
    errorMessage: 'Every recipient failed',
    startedAt: START,
    completedAt: START,
    sentCount: 0,
    deliveredCount: 0,
    failedCount: 3,
    reservedAmount: 180,
    reconciledAmount: 0,
    billingStatus: 'released',
    recipients: [
      { ...failed, phoneNumber: numbers[0], errorMessage: 'The operator rejected the message' },
      { ...failed, phoneNumber: numbers[1], errorMessage: 'The number is not on whatsapp' },
      { ...failed, phoneNumber: numbers[2], errorMessage: 'The parameters do not fit the template' },
    ],
  });
  expect(await creditOf(service)).toBe(CREDIT);
  await service.assertQuiet();
});

it('3.1 a campaign with one recipient that did not fail is completed', async () => {
  const service = await startWithCampaigns();
  const id = await started(service, [aTestNumber('0006'), aTestNumber('0001')]);
  await service.advance(SECOND);
  expect(await campaign(service, id)).toMatchObject({
    status: 'completed',
    sentCount: 1,
    deliveredCount: 1,
    failedCount: 1,
    reconciledAmount: 60,
    billingStatus: 'reconciled',
  });
});

it('3.1 a campaign that has started cannot be updated, deleted, sampled, started or given recipients', async () => {
  const service = await startWithCampaigns();
  const id = await started(service, NINE);
  for (const status of ['running', 'completed']) {
    expect(await campaign(service, id)).toMatchObject({ status });
    expect(errorOf(await patch(service, id, { name: 'Autumn' }))).toEqual(NOT_EDITABLE);
    expect(errorOf(await ask(service, `/${id}`, { method: 'DELETE' }))).toEqual(NOT_EDITABLE);
    expect(errorOf(await attach(service, id, [recipient(NUMBERS[1])]))).toEqual(NOT_EDITABLE);
    const sample = await post(service, `/${id}/sample`, { recipients: [recipient(NUMBERS[1])] });
    expect(errorOf(sample)).toEqual(NOT_EDITABLE);
    expect(errorOf(await post(service, `/${id}/start`))).toEqual(
      rejection(400, 'campaign-not-draft', 'Only draft campaigns can be started'),
    );
    await service.advance(SECOND);
  }
  expect(await creditOf(service)).toBe(CREDIT - 9 * UTILITY_PRICE);
});

it('3.1 a running campaign fails when the provider rejects the number it is sent from', async () => {
  const service = await startWithCampaigns();
  const errorMessage = 'The phone number is blocked';
  service.script(() => ({ result: 'rejected', reason: errorMessage, cause: 'sender' }));
  const id = await started(service, NINE);
  await service.settle();
  const failed = { status: 'failed', errorMessage, failedCount: 9, billingStatus: 'released' };
  expect(await campaign(service, id)).toMatchObject(failed);
});

it('3.1 a receipt after the end changes recipient, counts and amounts, and not the status', async () => {
  const service = await startWithCampaigns();
  const id = await started(service, [aTestNumber('0001')]);
  await service.settle();
  const completed = { status: 'completed', completedAt: START };
  expect(await read(service, id)).toMatchObject({
    ...completed,
    deliveredCount: 0,
    reconciledAmount: 0,
    recipients: [{ status: 'sent' }],
  });
  await service.advance(SECOND);
  expect(await read(service, id)).toMatchObject({
    ...completed,
    deliveredCount: 1,
    reconciledAmount: 60,
    recipients: [{ status: 'delivered' }],
  });
});

it('3.1 a recipient that is read without a delivered receipt is delivered at the same instant', async () => {
  const service = await startWithCampaigns();
  const id = await started(service, [aTestNumber('0005')]);
  await service.advance(SECOND);
  const at = '2030-01-01T00:00:01.000Z';
  expect(await read(service, id)).toMatchObject({
    deliveredCount: 1,
    recipients: [{ status: 'read', sentAt: START, deliveredAt: at, readAt: at }],
  });
});

test.each([
  ['delivered', '0001', 'charged', 60, 'reconciled'],
  ['read', '0004', 'charged', 60, 'reconciled'],
  ['failed', '0006', 'released', 0, 'released'],
  ['without a receipt for 72 hours', '0003', 'released', 0, 'released'],
])(
  '3.1 the cost of a recipient is pending, then reserved, and when it is %s (%s) it is %s',
  async (_, digits, billingState, finalCost, billingStatus) => {
    const service = await startWithCampaigns();
    const id = await created(service, [aTestNumber(digits)]);
    const money = async () => {
      const { billingStatus: ofCampaign, recipients } = await read(service, id);
      return [ofCampaign, recipients.map((each) => [each.billingState, each.finalCost])];
    };
    expect(await money()).toEqual(['pending', [['pending', undefined]]]);
    expect(dataOf(await post(service, `/${id}/start`)).billingStatus).toBe('reserved');
    if (digits === '0003') {
      await service.advance(RECEIPT_WINDOW - SECOND);
      expect(await money()).toEqual(['reserved', [['reserved', undefined]]]);
    }
    await service.advance(2 * SECOND);
    expect(await money()).toEqual([billingStatus, [[billingState, finalCost]]]);
    expect(await creditOf(service)).toBe(CREDIT - finalCost);
  },
);
