import { expect, it } from 'vitest';
import { ADMIN_TOKEN, admin } from '../support/admin.ts';
import {
  campaignSeed,
  created,
  NUMBERS,
  PLAN,
  read,
  started,
  startWithCampaigns,
} from '../support/campaigns.ts';
import { startService } from '../support/running-service.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

it('a campaign whose template is paused stops: it fails, and what was not sent is released', async () => {
  const harness = await startWithCampaigns();
  const stopping = '9990000000204';
  // The first 8 start at once, the others 100 ms later: they are withdrawn before.
  const numbers = [stopping, ...Array.from({ length: 19 }, (_, n) => `96477000000${n + 10}`)];
  const id = await started(harness, numbers);
  await harness.settle();
  expect(await read(harness, id)).toMatchObject({
    status: 'failed',
    errorMessage: 'The template is paused',
    sentCount: 7,
    failedCount: 13,
    reservedAmount: 1_200,
  });
  await harness.advance(MINUTE_MS);
  const stopped = await read(harness, id);
  expect(stopped).toMatchObject({
    status: 'failed',
    billingStatus: 'reconciled',
    deliveredCount: 7,
    failedCount: 13,
    reconciledAmount: 420,
  });
  expect(stopped.recipients[0]).toMatchObject({
    phoneNumber: stopping,
    status: 'failed',
    errorMessage: 'The template is paused',
    billingState: 'released',
  });
  expect(stopped.recipients[19]).toMatchObject({
    status: 'failed',
    errorMessage: 'The campaign was stopped',
    billingState: 'released',
    finalCost: 0,
  });
  expect(harness.inbox.all()).toHaveLength(7);
  expect((await harness.request('/info')).body).toMatchObject({ credit: 99_580 });
  await harness.assertQuiet();
});

it('a recipient for whom the provider is busy is tried again half a minute later and at longer intervals, and then delivered', async () => {
  const harness = await startWithCampaigns();
  let isBusy = true;
  let tries = 0;
  harness.script(({ phoneNumber }) => {
    if (!isBusy || phoneNumber !== '9647700000001') return null;
    tries += 1;
    return { result: 'rejected', reason: 'Slow down', cause: 'busy' };
  });
  const id = await started(harness, ['9647700000001', '9647700000002']);
  // After 0, 30 and 60 seconds, the fourth after 90 to 120, and the fifth not before 135.
  await harness.advance(121_000);
  expect(tries).toBe(4);
  expect(await read(harness, id)).toMatchObject({ status: 'running', deliveredCount: 1, failedCount: 0 });
  isBusy = false;
  await harness.advance(2 * MINUTE_MS);
  expect(await read(harness, id)).toMatchObject({
    status: 'completed',
    deliveredCount: 2,
    failedCount: 0,
    reconciledAmount: 120,
  });
  await harness.assertQuiet();
});

it('a scheduled campaign of an archived project fails at its time, and holds nothing', async () => {
  const harness = await startService({ adminToken: ADMIN_TOKEN, seed: campaignSeed() });
  const id = await created(harness, NUMBERS, PLAN);
  const archived = await admin(harness, '/projects/demo/archive', { method: 'POST' });
  expect(archived.status).toBe(200);
  await harness.advance(HOUR_MS);
  const [campaign] = await harness.service.roots.unitOfWork.run(({ campaigns }) => campaigns.lock([id]));
  expect(campaign).toMatchObject({
    status: 'failed',
    failureReason: 'The project is archived',
    startedAt: null,
    reserved: 0,
  });
  expect((await admin(harness, '/projects/demo')).body).toMatchObject({ held: 0, spent: 0 });
  await harness.assertQuiet();
});
