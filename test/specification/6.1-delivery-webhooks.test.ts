import { describe, expect, it, test } from 'vitest';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { verification } from '../support/seeds.ts';
import { accepted, DAY, errorOf, HOUR, post, SECOND, startWith } from './world.ts';

const NAME = `6.1 delivery webhooks${hasOpenssl ? '' : ` (skipped: ${OPENSSL_MISSING})`}`;
const UNREACHABLE_URL = 'https://example.com/hook';

async function start(response = respondWith(200)) {
  const receiver = await HttpsReceiver.open(response);
  const service = await startWith({}, { egress: receiver.egress });
  const send = (number: string, report: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
    accepted(
      service,
      verification(number, {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url(), ...report },
        ...more,
      }),
    );
  return { receiver, service, send };
}

describe.skipIf(!hasOpenssl)(NAME, () => {
  it('6.1 a subscription gets sent and delivered, in order, with the fields of the payload', async () => {
    const { receiver, service, send } = await start();
    const smsId = await send('9990000000001');
    await service.advance(SECOND);
    const common = { smsId, deliveryReportType: 'all', channel: 'sms' };
    expect(receiver.bodies()).toEqual([
      { ...common, status: 'sent', isFinal: false },
      { ...common, status: 'delivered', isFinal: true },
    ]);
  });

  it('6.1 the type final gets only the last one', async () => {
    const { receiver, service, send } = await start();
    await send('9990000000001', { deliveryReportType: 'final' });
    await service.advance(SECOND);
    expect(receiver.bodies()).toMatchObject([
      { deliveryReportType: 'final', status: 'delivered', isFinal: true },
    ]);
  });

  it('6.1 a failed message has a reason, and a message under a sender ID names it', async () => {
    const { receiver, service, send } = await start();
    await send('9990000000006', {}, { senderId: 'Barid' });
    await service.advance(SECOND);
    expect(receiver.bodies()).toEqual([
      expect.objectContaining({
        status: 'failed',
        isFinal: true,
        reason: expect.any(String),
        senderId: 'Barid',
      }),
    ]);
  });

  it('6.1 the secret comes back in a header, and no header without one', async () => {
    const { receiver, service, send } = await start();
    await send('9990000000001', { webhookSecret: 'my-secret' });
    await service.advance(SECOND);
    await send('9990000100001');
    await service.advance(SECOND);
    const secrets = receiver.requests.map(({ headers }) => headers['x-svc-webhook-secret']);
    expect(secrets).toEqual(['my-secret', 'my-secret', undefined, undefined]);
  });

  it('6.1 a failing receiver gets the first attempt and ten retries, and then no more', async () => {
    const { receiver, service, send } = await start(respondWith(500));
    await send('9990000000001', { deliveryReportType: 'final' });
    await service.advance(7 * DAY);
    expect(receiver.requests).toHaveLength(11);
    await service.assertQuiet();
  });

  it('6.1 every retry waits longer than the one before', async () => {
    const { receiver, service, send } = await start(respondWith(503));
    const startedAt = service.now().getTime();
    await send('9990000000001', { deliveryReportType: 'final' });
    await service.advance(DAY);
    const instants = receiver.requests.map(
      ({ headers }) => Number(headers['webhook-timestamp']) - startedAt / SECOND,
    );
    const waits = instants.slice(1).map((instant, index) => instant - (instants[index] ?? 0));
    expect(instants[0]).toBe(1);
    for (const [index, wait] of waits.slice(1, 7).entries()) expect(wait).toBeGreaterThan(waits[index] ?? 0);
  });

  it('6.1 a receiver that takes it at last gets no further attempt', async () => {
    const { receiver, service, send } = await start(respondWith(500));
    await send('9990000000001', { deliveryReportType: 'final' });
    await service.advance(2 * SECOND);
    receiver.respond(respondWith(204));
    await service.advance(HOUR);
    expect(receiver.requests).toHaveLength(2);
    await service.assertQuiet();
  });

  it('6.1 a redirect is not followed and counts as a failure', async () => {
    const { receiver, service, send } = await start(respondWith(302, { location: '/elsewhere' }));
    await send('9990000000001', { deliveryReportType: 'final' });
    await service.advance(10 * SECOND);
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/hook', '/hook']);
  });
});

describe('6.1 the subscription in a request', () => {
  test.each<[rule: string, report: unknown]>([
    ['webhookUrl is required', {}],
    ['webhookUrl is HTTPS', { webhookUrl: 'http://example.com/hook' }],
    ['webhookUrl is an address', { webhookUrl: 'example' }],
    ['webhookUrl is not an address of this machine', { webhookUrl: 'https://127.0.0.1/hook' }],
    ['deliveryReportType is all or final', { webhookUrl: UNREACHABLE_URL, deliveryReportType: 'some' }],
    ['webhookSecret has at least 1 character', { webhookUrl: UNREACHABLE_URL, webhookSecret: '' }],
    [
      'webhookSecret has at most 200 characters',
      { webhookUrl: UNREACHABLE_URL, webhookSecret: 'x'.repeat(201) },
    ],
    ['webhookSecret has no spaces', { webhookUrl: UNREACHABLE_URL, webhookSecret: 'a b' }],
  ])('6.1 a subscription against this rule is an error: %s', async (_, deliveryReport) => {
    const error = errorOf(await post(await startWith(), verification('9990000000001', { deliveryReport })));
    expect(error).toMatchObject({ status: 400, body: { error: expect.stringContaining('deliveryReport') } });
  });

  it('6.1 webhookSecret may have 200 characters of a header token', async () => {
    const webhookSecret = "!#$%&'*+-.^_`|~".padEnd(200, 'x');
    await accepted(
      await startWith(),
      verification('9990000000001', { deliveryReport: { webhookUrl: UNREACHABLE_URL, webhookSecret } }),
    );
  });
});
