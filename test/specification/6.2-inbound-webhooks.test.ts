import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { DAY, HOUR, PHONE_ID, SECOND, startWith } from './world.ts';

const NAME = `6.2 inbound webhooks${hasOpenssl ? '' : ` (skipped: ${OPENSSL_MISSING})`}`;
const SECRET = `svc_live_sk${'0123456789abcdef'.repeat(4)}`;
const WRITER = '9647709999999';
const HELLO = { type: 'text', content: { text: 'سلام' } } as const;

async function start(response = respondWith(200)) {
  const receiver = await HttpsReceiver.open(response);
  const inboundWebhooks = [{ phoneNumberId: PHONE_ID, url: receiver.url(), secret: SECRET }];
  const service = await startWith({ inboundWebhooks }, { egress: receiver.egress });
  return { receiver, service };
}

describe.skipIf(!hasOpenssl)(NAME, () => {
  it('6.2 an event has the five headers, and a signature over timestamp, dot and raw body', async () => {
    const { receiver, service } = await start();
    await service.writeTo(PHONE_ID, WRITER, HELLO);
    const [request] = receiver.requests;
    const timestamp = String(service.now().getTime());
    const signed = createHmac('sha256', SECRET).update(`${timestamp}.${request?.rawBody}`).digest('hex');
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-svc-webhook-event': 'whatsapp.inbound_message.received',
      'x-svc-webhook-event-id': expect.stringMatching(/^[a-f0-9]{24}$/),
      'x-svc-webhook-timestamp': timestamp,
      'x-svc-webhook-attempt': '1',
      'x-svc-webhook-signature': `sha256=${signed}`,
    });
  });

  it('6.2 a number that is not configured sends nothing', async () => {
    const { receiver, service } = await start();
    await service.writeTo('664def456abc789012345600', WRITER, HELLO);
    await service.advance(DAY);
    expect(receiver.requests).toEqual([]);
  });

  it('6.2 three attempts come at once, 10 and 15 seconds apart, then one an hour for two days', async () => {
    const { receiver, service } = await start(respondWith(500));
    const startedAt = service.now().getTime();
    await service.writeTo(PHONE_ID, WRITER, HELLO);
    await service.advance(4 * DAY);
    const headersOf = (name: string) => receiver.requests.map(({ headers }) => Number(headers[name]));
    const seconds = headersOf('x-svc-webhook-timestamp').map((instant) => (instant - startedAt) / SECOND);
    const hourly = Array.from({ length: 47 }, (_, index) => 25 + ((index + 1) * HOUR) / SECOND);
    expect(seconds).toEqual([0, 10, 25, ...hourly]);
    expect(headersOf('x-svc-webhook-attempt')).toEqual(seconds.map((_, index) => index + 1));
    const eventIds = new Set(receiver.requests.map(({ headers }) => headers['x-svc-webhook-event-id']));
    expect(eventIds.size).toBe(1);
    await service.assertQuiet();
  });

  it('6.2 a 2xx response ends the attempts', async () => {
    const { receiver, service } = await start(respondWith(500));
    await service.writeTo(PHONE_ID, WRITER, HELLO);
    receiver.respond(respondWith(202));
    await service.advance(DAY);
    expect(receiver.requests).toHaveLength(2);
  });
});
