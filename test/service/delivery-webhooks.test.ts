import { describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../src/bootstrap/verify-webhook.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { verification } from '../support/seeds.ts';

const HOME_NUMBER = '9647701234567';
const SECRET = 'customer-secret-1';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

async function start(report: Record<string, unknown> = {}) {
  const receiver = await HttpsReceiver.open();
  const service = await startService({ egress: receiver.egress });
  const send = async (phoneNumber: string, more: Record<string, unknown> = {}) => {
    const { body, status } = await service.request('/sms', {
      body: verification(phoneNumber, {
        deliveryReport: { webhookUrl: receiver.url(), ...report },
        ...more,
      }),
    });
    expect(status).toBe(200);
    return (body as { smsId: string }).smsId;
  };
  return { receiver, service, send };
}

withReceiver(named('delivery webhooks'), () => {
  it('a customer is told sent and delivered of a send that fell back, once and in order', async () => {
    const { receiver, service, send } = await start({ webhookSecret: SECRET });
    const smsId = await send('9990000000007', { provider: 'whatsapp-sms', senderId: 'Barid' });
    await service.advance(1_000);
    expect(receiver.bodies()).toEqual([
      { smsId, deliveryReportType: 'all', isFinal: false, channel: 'sms', status: 'sent', senderId: 'Barid' },
      {
        smsId,
        deliveryReportType: 'all',
        isFinal: true,
        channel: 'sms',
        status: 'delivered',
        senderId: 'Barid',
      },
    ]);
    for (const { headers, rawBody } of receiver.requests) {
      expect(headers['content-type']).toBe('application/json');
      expect(headers['x-svc-webhook-secret']).toBe(SECRET);
      expect(verifyWebhook(rawBody, headers, SECRET, { now: service.now().getTime() })).toBe(true);
      expect(verifyWebhook(`${rawBody} `, headers, SECRET, { now: service.now().getTime() })).toBe(false);
    }
    await service.advance(30 * 24 * HOUR);
    expect(receiver.requests).toHaveLength(2);
    await service.assertQuiet();
  });

  it('a customer who asks for `final` is told only the final status, with the reason of a failure', async () => {
    const { receiver, service, send } = await start({ deliveryReportType: 'final' });
    const delivered = await send(HOME_NUMBER, { provider: 'sms' });
    const failed = await send('9990000000006', { provider: 'sms' });
    await service.advance(1_000);
    const byId = new Map(receiver.bodies().map((body) => [body.smsId, body]));
    expect(receiver.requests).toHaveLength(2);
    expect(byId.get(delivered)).toEqual({
      smsId: delivered,
      deliveryReportType: 'final',
      isFinal: true,
      channel: 'sms',
      status: 'delivered',
    });
    expect(byId.get(failed)).toEqual({
      smsId: failed,
      deliveryReportType: 'final',
      isFinal: true,
      channel: 'sms',
      status: 'failed',
      reason: 'The operator rejected the message',
    });
    expect(receiver.requests[0]?.headers).not.toHaveProperty('x-svc-webhook-secret');
  });

  it('a customer is told the reason of the channel that was tried, not of one that was left out', async () => {
    const { receiver, service, send } = await start({ deliveryReportType: 'final' });
    const smsId = await send('9990000000007', {
      provider: 'whatsapp-sms',
      smsType: 'whatsapp-template',
      whatsappAccountId: '664def456abc789012345602',
      whatsappPhoneId: '664def456abc789012345678',
      templateName: 'login_code',
      templateParameters: { body: { 1: '4711' } },
    });
    await service.advance(1_000);
    expect(receiver.bodies()).toEqual([
      {
        smsId,
        deliveryReportType: 'final',
        isFinal: true,
        channel: 'whatsapp',
        status: 'failed',
        reason: 'The number is not on whatsapp',
      },
    ]);
    expect((await service.request(`/sms/track/${smsId}`)).body).toMatchObject({
      status: 'failed',
      lastChannel: 'whatsapp',
      channelFlow: [
        { channel: 'whatsapp', tried: true, success: false },
        { channel: 'sms', tried: false },
      ],
    });
    await service.assertQuiet();
  });

  it('a stored message has the webhook secret only sealed', async () => {
    const { service, send } = await start({ webhookSecret: SECRET });
    const message = await service.message(await send(HOME_NUMBER));
    expect(message?.deliveryReport?.webhookSecret).toMatch(/^v1:/);
    expect(JSON.stringify(message)).not.toContain(SECRET);
  });

  it('a receiver that responded 500 twice gets the third attempt at the right instant, under the same event id', async () => {
    const { receiver, service, send } = await start({ deliveryReportType: 'final' });
    receiver.respond((_, response, count) => response.writeHead(count <= 2 ? 500 : 200).end());
    const instants: number[] = [];
    const started = service.now().getTime();
    await send('9990000000006', { provider: 'sms' });
    await service.settle();
    for (let advances = 0; advances < 60 && receiver.requests.length < 3; advances += 1) {
      const before = receiver.requests.length;
      await service.advance(500);
      if (receiver.requests.length > before) instants.push(service.now().getTime() - started);
    }
    expect(receiver.requests).toHaveLength(3);
    expect(instants[0]).toBeGreaterThanOrEqual(4_000);
    expect(instants[0]).toBeLessThanOrEqual(6_500);
    expect((instants[1] ?? 0) - (instants[0] ?? 0)).toBeGreaterThanOrEqual(11_500);
    expect((instants[1] ?? 0) - (instants[0] ?? 0)).toBeLessThanOrEqual(18_500);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await service.assertQuiet();
  });

  it('the service gives up an event after one attempt and ten retries', async () => {
    const { receiver, service, send } = await start({ deliveryReportType: 'final' });
    receiver.respond(respondWith(503));
    await send('9990000000006', { provider: 'sms' });
    await service.advance(48 * HOUR);
    expect(receiver.requests).toHaveLength(11);
    await service.assertQuiet();
  });

  it('the service stops at 410, and waits as long as Retry-After asks within reason', async () => {
    const { receiver, service, send } = await start({ deliveryReportType: 'final' });
    receiver.respond((_, response, count) =>
      count === 1 ? response.writeHead(429, { 'retry-after': '9' }).end() : response.writeHead(410).end(),
    );
    await send('9990000000006', { provider: 'sms' });
    await service.advance(8_999);
    expect(receiver.requests).toHaveLength(1);
    await service.advance(1);
    expect(receiver.requests).toHaveLength(2);
    await service.advance(48 * HOUR);
    expect(receiver.requests).toHaveLength(2);
    await service.assertQuiet();
  });

  it('the final event supersedes a failed `sent` event, and nothing is attempted after it', async () => {
    const { receiver, service, send } = await start();
    receiver.respond((request, response) =>
      response.writeHead(request.rawBody.includes('"sent"') ? 500 : 200).end(),
    );
    await send('9990000000002', { provider: 'sms' });
    await service.advance(48 * HOUR);
    const statuses = receiver.bodies().map(({ status }) => status);
    expect(statuses.at(-1)).toBe('delivered');
    expect(statuses.filter((status) => status === 'delivered')).toHaveLength(1);
    expect(statuses.filter((status) => status === 'sent').length).toBeGreaterThanOrEqual(2);
    await service.assertQuiet();
  });

  it('a circuit opens after ten failures in a row, and the events are delivered once the receiver is back', async () => {
    const { receiver, service, send } = await start({ deliveryReportType: 'final' });
    receiver.respond(respondWith(500));
    const ids: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      ids.push(await send(`9990000${10 + count}0006`, { provider: 'sms' }));
    }
    await service.settle();
    expect(receiver.requests.length).toBeGreaterThanOrEqual(10);
    const before = receiver.requests.length;
    await service.advance(59_000);
    expect(receiver.requests).toHaveLength(before);
    receiver.respond(respondWith(200));
    await service.advance(2 * MINUTE);
    const delivered = new Set(
      receiver
        .bodies()
        .slice(before)
        .map(({ smsId }) => smsId),
    );
    expect(delivered).toEqual(new Set(ids));
    await service.assertQuiet();
  });
});

describe('addresses that webhooks are not sent to', () => {
  it.each([
    'https://127.0.0.1/hook',
    'https://localhost/hook',
    'https://[::1]/',
    'https://169.254.169.254/latest',
    'https://example.com:8443/',
    'https://10.0.0.1/',
  ])('a request with the webhook address %s is rejected', async (webhookUrl) => {
    const service = await startService();
    const reply = await service.request('/sms', {
      body: verification(HOME_NUMBER, { deliveryReport: { webhookUrl } }),
    });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      error:
        'deliveryReport.webhookUrl is an address that webhooks are not posted to: they go to public addresses, at port 443 or another one that the operator allows',
    });
    expect((await service.request('/info')).body).toMatchObject({ credit: 15_000 });
  });
});
