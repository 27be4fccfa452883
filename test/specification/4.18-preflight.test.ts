import { expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import {
  attach,
  CREDIT,
  created,
  creditOf,
  dataOf,
  errorOf,
  NINE,
  NOT_EDITABLE,
  NUMBERS,
  numbersFrom,
  PENDING_TEMPLATE_ID,
  PLAN,
  post,
  read,
  recipient,
  started,
  startWithCampaigns,
} from '../support/campaigns.ts';

const preflight = (service: Harness, id: string) => post(service, `/${id}/preflight`);

it('4.18 a preflight tells cost, credit and time of a start, and changes nothing', async () => {
  const service = await startWithCampaigns();
  const id = await created(service, numbersFrom(0, 200));
  const before = await read(service, id);
  expect((await preflight(service, id)).body).toEqual({
    success: true,
    data: {
      canStart: true,
      problems: [],
      totalRecipients: 200,
      estimatedTotalCost: 12_000,
      credit: 100_000,
      creditAfterStart: 88_000,
      messagesPerSecond: 80,
      dailyLimit: 1_000,
      // Groups of 8, the last one of 25 after 24 tenths of a second.
      durationSeconds: 2.4,
    },
  });
  expect(await read(service, id)).toEqual(before);
  expect(await creditOf(service)).toBe(CREDIT);
  await service.assertQuiet();
});

it('4.18 a preflight names all problems where a start names the first', async () => {
  const service = await startWithCampaigns(CREDIT, {
    trial: { ownPhoneNumber: NUMBERS[0] },
    spendingThreshold: 59,
  });
  const id = await created(service, [], { templateId: PENDING_TEMPLATE_ID });
  dataOf(await attach(service, id, [recipient(NUMBERS[1], {})]));
  const problems = [
    { code: 'template-not-approved', error: 'Template not yet approved' },
    {
      code: 'trial-mode',
      error: 'The account is in trial mode: until funds are added, only its own number may receive messages',
    },
    { code: 'spending-threshold', error: 'Project spending threshold of 59 IQD would be exceeded' },
  ];
  const data = dataOf<object>(await preflight(service, id));
  expect(data).toMatchObject({ canStart: false, problems });
  for (const absent of ['messagesPerSecond', 'dailyLimit']) expect(data).not.toHaveProperty(absent);
  const { code, body } = errorOf(await post(service, `/${id}/start`));
  expect([code, body]).toEqual([problems[0]?.code, { success: false, error: problems[0]?.error }]);
});

it('4.18 the credit after a start that it does not cover is zero', async () => {
  const service = await startWithCampaigns(119);
  const id = await created(service, NUMBERS.slice(0, 2));
  expect(dataOf(await preflight(service, id))).toMatchObject({
    canStart: false,
    problems: [{ code: 'insufficient-credit', error: 'Insufficient credit, please add more credit' }],
    estimatedTotalCost: 120,
    credit: 119,
    creditAfterStart: 0,
  });
});

it('4.18 a scheduled campaign has a preflight, and one without recipients cannot start', async () => {
  const service = await startWithCampaigns();
  expect(dataOf(await preflight(service, await created(service, [], PLAN)))).toMatchObject({
    canStart: false,
    problems: [{ code: 'campaign-without-recipients', error: 'The campaign has no recipients' }],
    estimatedTotalCost: 0,
  });
});

it('4.18 a campaign that has started has no preflight', async () => {
  const service = await startWithCampaigns();
  expect(errorOf(await preflight(service, await started(service, NINE)))).toEqual(NOT_EDITABLE);
});
