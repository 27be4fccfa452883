import { describe, expect, it } from 'vitest';
import { problemsOf } from '../../src/application/billing/audit-ledger.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { ADMIN_TOKEN } from '../support/admin.ts';
import { HttpsReceiver } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER = '9647701234567';
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const start = () => startService({ adminToken: ADMIN_TOKEN, seed: seedWith({}) });

async function setRetention(service: Harness, retention: unknown) {
  const reply = await service.request('/admin/projects/demo', {
    method: 'PATCH',
    apiKey: ADMIN_TOKEN,
    body: { retention },
  });
  await service.settle();
  return reply;
}

async function send(service: Harness): Promise<string> {
  const reply = await service.request('/sms', { apiKey: DEMO_API_KEY, body: verification(NUMBER) });
  expect(reply.status).toBe(200);
  await service.settle();
  return (reply.body as { smsId: string }).smsId;
}

const track = (service: Harness, smsId: string) =>
  service.request(`/sms/track/${smsId}`, { apiKey: DEMO_API_KEY });
const problems = async (service: Harness) => problemsOf(await service.service.roots.auditLedger.execute());

describe('retention', () => {
  it('a message is anonymised after the days of its project, and its money stays', async () => {
    const service = await start();
    const smsId = await send(service);
    await service.advance(HOUR_MS);
    expect((await setRetention(service, { days: 8, action: 'anonymise' })).body).toMatchObject({
      retention: { days: 8, action: 'anonymise' },
    });
    const before = (await track(service, smsId)).body as Record<string, unknown>;
    expect(before).toMatchObject({ phoneNumber: NUMBER, status: 'delivered' });

    await service.advance(8 * DAY_MS);
    const after = (await track(service, smsId)).body as Record<string, unknown>;
    expect(after).toMatchObject({
      phoneNumber: '0000000000',
      status: 'delivered',
      cost: before.cost,
      channelFlow: before.channelFlow,
    });
    expect(await problems(service)).toEqual([]);
  });

  it('a removed message is unknown, and the ledger has its entries', async () => {
    const service = await start();
    const smsId = await send(service);
    await setRetention(service, { days: 8, action: 'remove' });
    await service.advance(8 * DAY_MS + HOUR_MS);
    expect((await track(service, smsId)).status).toBe(404);
    const statement = await service.request('/admin/projects/demo/statement', { apiKey: ADMIN_TOKEN });
    expect(statement.body).toMatchObject({
      lines: [{ kind: 'settlement', reference: smsId }, { kind: 'deposit' }],
    });
    expect(await problems(service)).toEqual([]);
  });

  it.skipIf(!hasOpenssl)(
    `webhook events leave the log after 15 days, also when no project has retention (skipped when ${OPENSSL_MISSING})`,
    async () => {
      const receiver = await HttpsReceiver.open();
      const service = await startService({ seed: seedWith({}), egress: receiver.egress });
      const body = { ...verification(NUMBER), deliveryReport: { webhookUrl: receiver.url() } };
      expect((await service.request('/sms', { apiKey: DEMO_API_KEY, body })).status).toBe(200);
      await service.settle();
      await receiver.arrived(1);
      const events = async () => (await service.service.roots.database.knex('webhook_events')).length;
      await service.advance(15 * DAY_MS - HOUR_MS);
      expect(await events()).toBeGreaterThan(0);
      await service.advance(DAY_MS + HOUR_MS);
      expect(await events()).toBe(0);
    },
  );

  it('a setting of a moment ago reaches messages that are old already', async () => {
    const service = await start();
    const smsId = await send(service);
    await service.advance(30 * DAY_MS);
    expect((await track(service, smsId)).status).toBe(200);
    await setRetention(service, { days: 29, action: 'remove' });
    expect((await track(service, smsId)).status).toBe(404);
  });

  it.each([
    { days: 7, action: 'remove' },
    { days: 3_651, action: 'remove' },
    { days: 8.5, action: 'remove' },
    { days: 90, action: 'forget' },
    { days: 90 },
    'on',
  ])('the setting %j is rejected, and changes nothing', async (retention) => {
    const service = await start();
    expect(await setRetention(service, retention)).toMatchObject({
      status: 400,
      body: {
        error: expect.stringContaining(
          'retention must be "off", or days from 8 to 3650 and an action of anonymise, remove',
        ),
      },
    });
    const { body } = await service.request('/admin/projects/demo', { apiKey: ADMIN_TOKEN });
    expect(body).toMatchObject({ retention: 'off' });
  });
});
