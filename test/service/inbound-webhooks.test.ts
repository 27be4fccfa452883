import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { InboundArrival } from '../../src/application/ports/provider-events.ts';
import { inboundEventsOf } from '../../src/bootstrap/commands/webhooks-command.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING, openssl } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const NUMBER_ID = '664def456abc789012345678';
const SECRET = `svc_live_sk${'0123456789abcdef'.repeat(4)}`;
const WRITER = '9647709999999';
const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

async function start() {
  const receiver = await HttpsReceiver.open();
  const service = await startService({
    now: '2030-05-01T10:00:00.000Z',
    egress: receiver.egress,
    seed: seedWith({
      inboundWebhooks: [{ phoneNumberId: NUMBER_ID, url: receiver.url('/inbound'), secret: SECRET }],
    }),
  });
  const { roots } = service.service;
  const events = () => inboundEventsOf(roots, NUMBER_ID);
  const retry = (eventId = '') => roots.manageWebhooks.resendEvent('cli-database', eventId);
  return { receiver, service, events, retry };
}

withReceiver(named('inbound whatsapp webhooks'), () => {
  it('an inbound message is passed on with headers whose signature openssl confirms', async () => {
    const { receiver, service } = await start();
    await service.writeTo(NUMBER_ID, WRITER, { type: 'text', content: { text: 'سلام 👋' } });
    const [request] = receiver.requests;
    const eventId = request?.headers['x-svc-webhook-event-id'];
    expect(request?.path).toBe('/inbound');
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-svc-webhook-event': 'whatsapp.inbound_message.received',
      'x-svc-webhook-timestamp': String(Date.parse('2030-05-01T10:00:00.000Z')),
      'x-svc-webhook-attempt': '1',
    });
    const signed = openssl(
      ['dgst', '-sha256', '-hmac', SECRET, '-r'],
      `${request?.headers['x-svc-webhook-timestamp']}.${request?.rawBody}`,
    );
    expect(request?.headers['x-svc-webhook-signature']).toBe(`sha256=${signed.toString().slice(0, 64)}`);
    expect(receiver.bodies()).toEqual([
      {
        event: 'whatsapp.inbound_message.received',
        eventId,
        timestamp: '2030-05-01T10:00:00.000Z',
        project: expect.stringMatching(/^[0-9a-f]{24}$/),
        phoneNumber: {
          id: NUMBER_ID,
          phoneNumberId: '104512345678903',
          displayPhoneNumber: '+964 770 000 0000',
        },
        contact: { phoneNumber: WRITER, name: '' },
        message: {
          id: expect.any(String),
          type: 'text',
          timestamp: '2030-05-01T10:00:00.000Z',
          content: { text: 'سلام 👋' },
        },
      },
    ]);
    await service.assertQuiet();
  });

  it('an inbound message to a number that is not configured is not passed on', async () => {
    const { receiver, service } = await start();
    await service.writeTo('664def456abc789012345600', WRITER, { type: 'text', content: { text: 'hello' } });
    expect(receiver.requests).toEqual([]);
    await service.assertQuiet();
  });

  it('an inbound event is attempted at once, after 10 s, after another 15 s, then hourly for two days, and no more', async () => {
    const { receiver, service, events } = await start();
    receiver.respond(respondWith(500));
    await service.writeTo(NUMBER_ID, WRITER, { type: 'text', content: { text: 'hello' } });
    const count = () => receiver.requests.length;
    const [event] = await events();
    const id = event?.id ?? '';
    const state = async () => (await events()).find((each) => each.id === id);
    expect([count(), (await state())?.state]).toEqual([1, 'pending']);
    await service.advance(10 * SECOND - 1);
    expect(count()).toBe(1);
    await service.advance(1);
    expect(count()).toBe(2);
    await service.advance(15 * SECOND - 1);
    expect(count()).toBe(2);
    await service.advance(1);
    expect(count()).toBe(3);
    expect(await state()).toMatchObject({ state: 'queued_retry', attempts: 3, lastError: 'HTTP 500' });
    await service.advance(HOUR - 1);
    expect(count()).toBe(3);
    await service.advance(1);
    expect(count()).toBe(4);
    await service.advance(47 * HOUR - 25 * SECOND);
    expect(count()).toBe(50);
    expect(receiver.requests.map(({ headers }) => Number(headers['x-svc-webhook-attempt']))).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
    expect(new Set(receiver.requests.map(({ rawBody }) => rawBody)).size).toBe(1);
    expect((await state())?.state).toBe('discarded');
    await service.advance(12 * DAY);
    expect(count()).toBe(50);
    expect(await state()).toBeDefined();
    await service.advance(DAY);
    expect(await state()).toBeUndefined();
    await service.assertQuiet();
  });

  it('every inbound event keeps to its schedule, however many fail: inbound events open no circuit', async () => {
    const { receiver, service, events } = await start();
    receiver.respond(respondWith(500));
    for (const text of ['1', '2', '3', '4', '5']) {
      await service.writeTo(NUMBER_ID, WRITER, { type: 'text', content: { text } });
    }
    await service.advance(2 * DAY);
    expect((await events()).map(({ state, attempts }) => [state, attempts])).toEqual(
      Array.from({ length: 5 }, () => ['discarded', 50]),
    );
    expect(receiver.requests).toHaveLength(250);
    await service.assertQuiet();
  });

  it('an inbound event waits while delivery events keep the circuit open, and may be the half-open attempt', async () => {
    const { receiver, service } = await start();
    // After 410 these events are discarded: they leave only the open circuit of their endpoint.
    receiver.respond(respondWith(410));
    for (let count = 10; count < 20; count += 1) {
      await service.request('/sms', {
        body: verification(`9990000${count}0006`, {
          provider: 'sms',
          deliveryReport: { webhookUrl: receiver.url('/inbound'), deliveryReportType: 'final' },
        }),
      });
    }
    await service.settle();
    const before = receiver.requests.length;
    const count = () => receiver.requests.length - before;
    receiver.respond(respondWith(500));
    await service.writeTo(NUMBER_ID, WRITER, { type: 'text', content: { text: 'hello' } });
    await service.advance(60 * SECOND - 1);
    expect(count()).toBe(0);
    await service.advance(1);
    expect(count()).toBe(1);
    await service.advance(300 * SECOND - 1);
    expect(count()).toBe(1);
    receiver.respond(respondWith(200));
    await service.advance(1);
    expect(count()).toBe(2);
    await service.assertQuiet();
  });

  it('an inbound message becomes one event, however often the channel provider reports it', async () => {
    const { receiver, service } = await start();
    const arrival: InboundArrival = {
      whatsappPhoneId: NUMBER_ID,
      contact: { phoneNumber: WRITER, name: '' },
      messageId: 'wamid.1',
      content: { type: 'text', content: { text: 'hello' } },
      writtenAt: service.now().getTime(),
    };
    const accept = service.service.roots.acceptInbound;
    await accept.execute([arrival]);
    const other = { ...arrival, messageId: 'wamid.2' };
    await accept.execute([arrival, other, other]);
    await service.settle();
    expect(
      receiver
        .bodies()
        .map(({ message }) => (message as { id: string }).id)
        .sort(),
    ).toEqual(['wamid.1', 'wamid.2']);
    await service.assertQuiet();
  });

  it('an event that is retried manually while it is in flight is not attempted twice', async () => {
    const { receiver, service, events, retry } = await start();
    const held: ServerResponse[] = [];
    receiver.respond((_, response) => held.push(response));
    const written = service.writeTo(NUMBER_ID, WRITER, { type: 'text', content: { text: 'hello' } });
    await receiver.arrived(1);
    const [event] = await events();
    await expect(retry(event?.id)).rejects.toThrow('webhook-event-not-resendable');
    receiver.respond(respondWith(200));
    held[0]?.writeHead(200).end();
    await written;
    await service.settle();
    expect(receiver.requests).toHaveLength(1);
    expect((await events())[0]).toMatchObject({ state: 'delivered', attempts: 1 });
    await service.assertQuiet();
  });

  it('an operator retries a discarded event manually, and not one that was delivered', async () => {
    const { receiver, service, events, retry } = await start();
    receiver.respond(respondWith(500));
    await service.writeTo(NUMBER_ID, WRITER, { type: 'text', content: { text: 'hello' } });
    await service.advance(3 * DAY);
    const attempts = receiver.requests.length;
    receiver.respond(respondWith(204));
    const [event] = await events();
    expect(await retry(event?.id)).toMatchObject({ state: 'queued_retry' });
    await service.settle();
    expect(receiver.requests).toHaveLength(attempts + 1);
    expect((await events())[0]?.state).toBe('delivered');
    await expect(retry(event?.id)).rejects.toThrow('webhook-event-not-resendable');
    await expect(retry('0123456789abcdef01234567')).rejects.toThrow('webhook-event-not-found');
    await service.assertQuiet();
  });

  it('a test number replies to the number it was written from', async () => {
    const { receiver, service } = await start();
    const template = {
      smsType: 'whatsapp-template',
      templateName: 'login_code',
      whatsappAccountId: '664def456abc789012345602',
      whatsappPhoneId: NUMBER_ID,
      templateParameters: { body: { '1': '1234' } },
    };
    for (const digits of ['0301', '0302', '0303']) {
      await service.request('/sms', { body: { ...template, phoneNumber: `999000000${digits}` } });
    }
    await service.advance(1_999);
    expect(receiver.requests).toEqual([]);
    await service.advance(1);
    expect(receiver.bodies().map((body) => (body.message as { content: unknown }).content)).toEqual(
      expect.arrayContaining([{ text: 'ok' }, { text: 'STOP' }, { latitude: 33.3152, longitude: 44.3661 }]),
    );
    expect(receiver.requests).toHaveLength(3);
    await service.assertQuiet();
  });
});
