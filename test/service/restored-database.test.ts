import { expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { created, PLAN, post, read, started, startWithCampaigns } from '../support/campaigns.ts';
import { startService } from '../support/running-service.ts';
import { verification } from '../support/seeds.ts';

const HOUR_MS = 3_600_000;
const PHONE_NUMBER = '9647701234567';
const REASON = 'The database was restored from a backup: the message may have been sent before';

/** What `barid restore` and the start after it do. */
async function restore({ service: { roots } }: Harness) {
  const marked = await roots.markRestored.execute();
  await roots.restorePoint.load();
  return marked;
}

const send = async (service: Harness, more: Record<string, unknown>) =>
  ((await service.request('/sms', { body: verification(PHONE_NUMBER, more) })).body as { smsId: string })
    .smsId;

it('a code that waits for its next attempt is not sent after a restore: it fails and costs nothing', async () => {
  const service = await startService();
  service.script(() => ({ result: 'rejected', reason: 'Slow down', cause: 'busy' }));
  const smsId = await send(service, { provider: 'sms' });
  await service.settle();
  service.script(() => null);
  await restore(service);
  await service.advance(HOUR_MS);
  expect(service.inbox.all()).toEqual([]);
  expect(await service.message(smsId)).toMatchObject({
    status: 'failed',
    isFinal: true,
    errorReason: REASON,
  });
  expect((await service.request('/info')).body).toMatchObject({ credit: 15_000 });
  await service.assertQuiet();
});

it('a chain that waits for a receipt does not go on with its next channel after a restore', async () => {
  const service = await startService();
  service.script(({ channel }) =>
    channel === 'whatsapp' ? { result: 'unknown', reason: 'No response' } : null,
  );
  const smsId = await send(service, {});
  await service.settle();
  const before = service.inbox.all().length;
  await restore(service);
  await service.advance(HOUR_MS);
  expect(service.inbox.all()).toHaveLength(before);
  expect(await service.message(smsId)).toMatchObject({ status: 'failed', errorReason: REASON });
  await service.assertQuiet();
});

it('a message on its last channel is still delivered by a receipt that comes after a restore', async () => {
  const service = await startService();
  const smsId = await send(service, { provider: 'sms' });
  await service.settle();
  await restore(service);
  await service.advance(HOUR_MS);
  expect(await service.message(smsId)).toMatchObject({ status: 'delivered' });
  expect(service.inbox.all()).toHaveLength(1);
  await service.assertQuiet();
});

it('a message that is accepted after a restore is sent', async () => {
  const service = await startService();
  await send(service, { provider: 'sms' });
  await service.settle();
  await restore(service);
  await service.advance(HOUR_MS);
  const smsId = await send(service, { provider: 'sms' });
  await service.advance(HOUR_MS);
  expect(await service.message(smsId)).toMatchObject({ status: 'delivered' });
  expect(service.inbox.all()).toHaveLength(2);
  await service.assertQuiet();
});

it('recipients of a campaign that wait for their slots are not sent to after a restore', async () => {
  const service = await startWithCampaigns();
  const numbers = Array.from({ length: 20 }, (_, n) => `96477000000${n + 10}`);
  const id = await started(service, numbers);
  await service.settle();
  const before = service.inbox.all().length;
  expect(before).toBe(8);
  await restore(service);
  await service.advance(HOUR_MS);
  expect(service.inbox.all()).toHaveLength(8);
  expect(await read(service, id)).toMatchObject({
    status: 'completed',
    deliveredCount: 8,
    failedCount: 12,
    reconciledAmount: 480,
  });
  await service.assertQuiet();
});

it('a scheduled campaign is a draft after a restore, and starts when it is scheduled anew', async () => {
  const service = await startWithCampaigns();
  const campaignId = await created(service, [PHONE_NUMBER], PLAN);
  expect((await restore(service)).unscheduledCampaigns).toEqual([campaignId]);
  await service.advance(2 * HOUR_MS);
  expect(service.inbox.all()).toEqual([]);
  expect(await read(service, campaignId)).toMatchObject({ status: 'draft', scheduleType: 'now' });
  await post(service, `/${campaignId}/start`);
  await service.advance(HOUR_MS);
  expect(service.inbox.all()).toHaveLength(1);
  await service.assertQuiet();
});
