import { ContainerModule } from 'inversify';
import { describe, expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { ports } from '../../src/bootstrap/tokens.ts';
import { verifyWebhook } from '../../src/bootstrap/verify-webhook.ts';
import { ADMIN_TOKEN } from '../support/admin.ts';
import { campaignSeed, created, NUMBERS, PLAN, started } from '../support/campaigns.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const SECRET = 'customer-secret-1';
const NUMBER = '9647701234567';
/** IQD for an sms of these tests, and what the first two leave of the credit. */
const PRICE = 80;
const CREDIT = 1_000;
const AMOUNT = 900;
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

/** A project with 1,000 IQD that is told below 900. */
async function start(changes: Parameters<typeof seedWith>[0] = {}, makeSeed = seedWith) {
  const receiver = await HttpsReceiver.open();
  const logger = new RecordingLogger();
  const lowCredit = { amount: AMOUNT, webhookUrl: receiver.url('/credit'), webhookSecret: SECRET };
  const service = await startService({
    adminToken: ADMIN_TOKEN,
    egress: receiver.egress,
    seed: makeSeed({ credit: CREDIT, rateLimit: null, lowCredit, ...changes }),
    overrides: [
      new ContainerModule(({ rebind }) => {
        rebind(ports.logger).toConstantValue(logger);
      }),
    ],
  });
  const lines = () => logger.entries.filter(({ event }) => event === 'credit_low');
  return { receiver, service, logger, lines };
}

async function send(service: Harness, times: number): Promise<void> {
  const sends = Array.from({ length: times }, () =>
    service.request('/sms', { body: verification(NUMBER, { provider: 'sms' }) }),
  );
  expect((await Promise.all(sends)).map(({ status }) => status)).toEqual(sends.map(() => 200));
  await service.advance(SECOND);
}

async function admin(service: Harness, method: string, path: string, body: unknown) {
  const reply = await service.request(`/admin/projects/demo${path}`, { method, apiKey: ADMIN_TOKEN, body });
  await service.settle();
  return reply;
}

const topUp = (service: Harness, amount: number) => admin(service, 'POST', '/top-ups', { amount });
const change = (service: Harness, body: unknown) => admin(service, 'PATCH', '', body);

withReceiver(named('low credit'), () => {
  it('a project is told once when many sends at once lower its credit below the amount', async () => {
    const { receiver, service, lines } = await start();
    await send(service, 8);
    expect(receiver.bodies()).toEqual([
      {
        event: 'credit.low',
        project: 'demo',
        credit: CREDIT - 2 * PRICE,
        amount: AMOUNT,
        at: '2030-01-01T00:00:00.000Z',
      },
    ]);
    const [request] = receiver.requests;
    expect(request?.path).toBe('/credit');
    expect(request?.headers['x-svc-webhook-secret']).toBe(SECRET);
    const now = { now: service.now().getTime() };
    expect(verifyWebhook(request?.rawBody ?? '', request?.headers ?? {}, SECRET, now)).toBe(true);
    expect(lines()).toEqual([
      {
        level: 'info',
        event: 'credit_low',
        fields: { projectId: expect.stringMatching(/^[0-9a-f]{24}$/), credit: 840, amount: AMOUNT },
      },
    ]);
    await send(service, 1);
    await service.advance(24 * HOUR);
    expect(receiver.requests).toHaveLength(1);
    expect(lines()).toHaveLength(1);
  });

  it('credit at the amount is not low', async () => {
    const { receiver, service } = await start({ credit: AMOUNT + PRICE });
    await send(service, 1);
    expect(receiver.requests).toHaveLength(0);
    await send(service, 1);
    expect(receiver.bodies()).toMatchObject([{ credit: AMOUNT - PRICE }]);
  });

  it('a top-up to the amount arms the notice again, and a smaller one does not', async () => {
    const { receiver, service, lines } = await start();
    await send(service, 2);
    await topUp(service, 50);
    await send(service, 1);
    expect(receiver.bodies().map(({ credit }) => credit)).toEqual([840]);
    await topUp(service, 90);
    await send(service, 1);
    expect(receiver.bodies().map(({ credit }) => credit)).toEqual([840, 820]);
    expect(lines()).toHaveLength(2);
  });

  it('a correction calls for a notice, and one that lifts the credit arms it again', async () => {
    const { receiver, service, lines } = await start();
    const correct = (amount: number) =>
      admin(service, 'POST', '/corrections', { amount, reason: 'A mistake of ours' });
    await correct(-100.5);
    await service.advance(SECOND);
    expect(receiver.bodies()).toMatchObject([{ credit: 899.5 }]);
    await correct(-100);
    await correct(300);
    await correct(-500);
    await service.advance(SECOND);
    expect(receiver.bodies().map(({ credit }) => credit)).toEqual([899.5, 599.5]);
    expect(lines()).toHaveLength(2);
  });

  it('released holds do not arm the notice', async () => {
    const { receiver, service } = await start({ credit: AMOUNT });
    for (let failed = 0; failed < 3; failed += 1) {
      const body = verification('9990000000006', { provider: 'sms' });
      expect((await service.request('/sms', { body })).status).toBe(200);
      await service.advance(SECOND);
    }
    expect((await service.request('/admin/projects/demo', { apiKey: ADMIN_TOKEN })).body).toMatchObject({
      credit: AMOUNT,
    });
    expect(receiver.requests).toHaveLength(1);
  });

  it('the start of a campaign calls for one notice of all its holds', async () => {
    const { receiver, service, lines } = await start({ credit: CREDIT }, (changes) =>
      campaignSeed(CREDIT, changes),
    );
    await started(service, NUMBERS);
    await service.advance(SECOND);
    expect(receiver.bodies()).toMatchObject([{ event: 'credit.low', credit: CREDIT - 3 * 60 }]);
    expect(lines()).toHaveLength(1);
  });

  it('a campaign that starts at its time calls for a notice', async () => {
    const { receiver, service, lines } = await start({ credit: CREDIT }, (changes) =>
      campaignSeed(CREDIT, changes),
    );
    await created(service, NUMBERS, PLAN);
    expect(receiver.requests).toHaveLength(0);
    await service.advance(HOUR + SECOND);
    expect(receiver.bodies()).toMatchObject([{ credit: CREDIT - 3 * 60, at: '2030-01-01T01:00:00.000Z' }]);
    expect(lines()).toHaveLength(1);
  });

  it('a notice that was not delivered is tried again with the same body', async () => {
    const { receiver, service } = await start();
    receiver.respond(respondWith(500));
    await send(service, 2);
    receiver.respond(respondWith(204));
    await service.advance(HOUR);
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.requests[1]?.rawBody).toBe(receiver.requests[0]?.rawBody);
  });

  it('operators find the event among the webhook events', async () => {
    const { service } = await start();
    await send(service, 2);
    const { body } = await service.request('/admin/webhooks/events?project=demo', { apiKey: ADMIN_TOKEN });
    expect(body).toMatchObject({ events: [{ kind: 'credit', message: null, state: 'delivered' }] });
  });

  it('operators set, change and end the notice, and neither replies nor the audit log have its secret', async () => {
    const { receiver, service } = await start({ lowCredit: null });
    await send(service, 2);
    const url = receiver.url('/told?token=abc');
    const replies = [];
    for (const lowCredit of [
      { amount: 500, webhookUrl: url, webhookSecret: SECRET },
      { amount: 600, webhookUrl: url },
      { amount: 600, webhookUrl: url },
      { amount: 600, webhookUrl: url, webhookSecret: 'another-secret' },
    ]) {
      replies.push(await change(service, { lowCredit }));
      await service.advance(SECOND);
    }
    expect(replies.map(({ body }) => (body as { lowCredit: unknown }).lowCredit)).toEqual([
      { amount: 500, webhookUrl: url, isSigned: true },
      { amount: 600, webhookUrl: url, isSigned: true },
      { amount: 600, webhookUrl: url, isSigned: true },
      { amount: 600, webhookUrl: url, isSigned: true },
    ]);
    await service.advance(SECOND);
    await send(service, 4);
    expect(receiver.requests[0]?.headers['x-svc-webhook-secret']).toBe('another-secret');
    expect(receiver.bodies()).toMatchObject([{ credit: 520, amount: 600 }]);
    await change(service, { lowCredit: 'off' });
    const { body } = await service.request('/admin/audit?project=demo', { apiKey: ADMIN_TOKEN });
    const { records } = body as { records: { before: unknown; after: unknown }[] };
    const endpoint = url.replace('https://', '').replace(/\?.*/, '');
    const shown = (amount: number) => ({ lowCredit: { amount, endpoint, isSigned: true } });
    expect(records.map(({ before, after }) => [before, after])).toEqual([
      [shown(600), { lowCredit: 'off' }],
      [shown(600), shown(600)],
      [shown(500), shown(600)],
      [{ lowCredit: 'off' }, shown(500)],
    ]);
    expect(JSON.stringify([replies, body])).not.toMatch(/customer-secret|another-secret|v1:/);
    expect(JSON.stringify(body)).not.toContain('token=abc');
  });

  it.each([
    ['lowCredit.amount must be an IQD amount', { amount: 0, webhookUrl: 'https://shop.example/' }],
    ['lowCredit.webhookUrl must begin with https://', { amount: 1, webhookUrl: 'http://shop.example/' }],
    ['lowCredit.webhookUrl is required and must be a string', { amount: 1 }],
    ['lowCredit.webhookUrl is an address', { amount: 1, webhookUrl: 'https://10.0.0.1/' }],
    [
      'lowCredit.webhookSecret must be',
      { amount: 1, webhookUrl: 'https://shop.example/', webhookSecret: 'a b' },
    ],
    ['lowCredit must be "off"', 'on'],
  ])('a notice that cannot be is a 400 and changes nothing: %s', async (text, lowCredit) => {
    const { service } = await start({ lowCredit: null });
    const reply = await change(service, { lowCredit });
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(text) } });
    expect((await service.request('/admin/projects/demo', { apiKey: ADMIN_TOKEN })).body).toMatchObject({
      lowCredit: 'off',
    });
  });
});
