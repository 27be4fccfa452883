import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { iqd } from '../../../../../src/domain/shared/money.ts';
import { aMessage, anAttempt, anSmsId } from '../../../../support/builders.ts';
import { HttpWorld } from '../../http-world.ts';
import { SEND_RESULT } from '../../memory-api.ts';

const VERIFICATION = { phoneNumber: '9647701234567', smsType: 'verification', verificationCode: '123456' };
const CUSTOM = { phoneNumber: '9647701234567', smsType: 'custom', customMessage: 'Your parcel is here' };
const TEMPLATE = {
  phoneNumber: '9647701234567',
  smsType: 'whatsapp-template',
  templateName: 'parcel',
  whatsappAccountId: '664def456abc789012345601',
  whatsappPhoneId: '664def456abc789012345678',
};
const INTERNAL_ERROR = '9990000000108';
const SLOW_REPLY = '9990000000109';
const CUT_CONNECTION = '9990000000110';

let world: HttpWorld;
const waits: number[] = [];

beforeEach(async () => {
  waits.length = 0;
  world = await new HttpWorld({
    wait: async (ms) => {
      waits.push(ms);
    },
  }).open();
});
afterEach(() => world.close());

describe('POST /sms', () => {
  it('replies with the send result', async () => {
    const reply = await world.post('/sms', VERIFICATION);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      message: 'SMS task created successfully',
      smsId: 'sms-000000000000000000000001',
      remainingCredit: 14_800,
      cost: 200,
      canCover: true,
      paymentType: 'prepaid',
    });
    expect(reply.headers).not.toHaveProperty('idempotency-replayed');
    expect(reply.headers).not.toHaveProperty('x-error-code');
  });

  it('passes a verification on with its defaults', async () => {
    await world.post('/api/sms', { ...VERIFICATION, _id: 'mine', cost: 0, status: 'delivered' });
    expect(world.api.sent).toEqual([
      {
        project: world.api.project,
        idempotency: null,
        request: {
          phoneNumber: '9647701234567',
          phoneNumberAsSent: '9647701234567',
          provider: 'auto',
          senderId: null,
          content: { smsType: 'verification', verificationCode: '123456' },
          whatsappSender: { accountId: null, phoneId: null, templateName: null },
          deliveryReport: null,
        },
      },
    ]);
  });

  it('passes a custom message on with every optional field', async () => {
    await world.post('/sms', {
      ...CUSTOM,
      customMessage: 'سڵاو 👋\n\tline two',
      senderId: 'Barid',
      provider: 'whatsapp-telegram-sms',
      whatsappAccountId: 'a',
      whatsappPhoneId: 'b',
      templateName: 'c',
      deliveryReport: {
        webhookUrl: 'https://Example.com/hook?x=1',
        deliveryReportType: 'final',
        webhookSecret: 's3cret!',
      },
    });
    expect(world.api.sent[0]?.request).toEqual({
      phoneNumber: '9647701234567',
      phoneNumberAsSent: '9647701234567',
      provider: 'whatsapp-telegram-sms',
      senderId: 'Barid',
      content: { smsType: 'custom', customMessage: 'سڵاو 👋\n\tline two' },
      whatsappSender: { accountId: 'a', phoneId: 'b', templateName: 'c' },
      deliveryReport: {
        webhookUrl: 'https://Example.com/hook?x=1',
        deliveryReportType: 'final',
        webhookSecret: 's3cret!',
      },
    });
  });

  it('reads every optional field that is null as absent', async () => {
    const deliveryReport = {
      webhookUrl: 'https://example.com',
      deliveryReportType: null,
      webhookSecret: null,
    };
    await world.post('/sms', {
      ...TEMPLATE,
      senderId: null,
      provider: null,
      templateParameters: { body: null, header: { imageUrl: null }, buttons: null },
      deliveryReport,
    });
    await world.post('/sms', { ...VERIFICATION, whatsappAccountId: null, deliveryReport: null });
    expect(world.api.sent.map(({ request }) => request)).toEqual([
      {
        phoneNumber: '9647701234567',
        phoneNumberAsSent: '9647701234567',
        provider: 'auto',
        senderId: null,
        content: { smsType: 'whatsapp-template', templateName: 'parcel', templateParameters: { header: {} } },
        whatsappSender: {
          accountId: '664def456abc789012345601',
          phoneId: '664def456abc789012345678',
          templateName: 'parcel',
        },
        deliveryReport: {
          webhookUrl: 'https://example.com',
          deliveryReportType: 'all',
          webhookSecret: null,
        },
      },
      {
        phoneNumber: '9647701234567',
        phoneNumberAsSent: '9647701234567',
        provider: 'auto',
        senderId: null,
        content: { smsType: 'verification', verificationCode: '123456' },
        whatsappSender: { accountId: null, phoneId: null, templateName: null },
        deliveryReport: null,
      },
    ]);
  });

  it('brings the number of a handset to one spelling and keeps the number as it was sent', async () => {
    await world.post('/sms', { ...VERIFICATION, phoneNumber: '07701234567' });
    expect(world.api.sent[0]?.request).toMatchObject({
      phoneNumber: '9647701234567',
      phoneNumberAsSent: '07701234567',
    });
  });

  it('reads line ends of every kind in a text and in parameters as line feeds', async () => {
    await world.post('/sms', { ...CUSTOM, customMessage: 'a\r\nb\rc\nd\r\r\ne' });
    await world.post('/sms', { ...TEMPLATE, templateParameters: { body: { 1: 'a\r\nb' } } });
    expect(world.api.sent.map(({ request }) => request.content)).toEqual([
      { smsType: 'custom', customMessage: 'a\nb\nc\nd\n\ne' },
      {
        smsType: 'whatsapp-template',
        templateName: 'parcel',
        templateParameters: { body: { 1: 'a\nb' } },
      },
    ]);
  });

  it('passes a template on with its parameters', async () => {
    const templateParameters = {
      body: { 1: 'Sara', 2: 7 },
      header: { imageUrl: 'https://example.com/a.png' },
      buttons: { 0: { 1: 'track' } },
    };
    await world.post('/sms', { ...TEMPLATE, templateParameters });
    expect(world.api.sent[0]?.request.content).toEqual({
      smsType: 'whatsapp-template',
      templateName: 'parcel',
      templateParameters,
    });
  });

  test.each([
    [undefined, 'auto'],
    ['auto', 'auto'],
    ['whatsapp-sms', 'whatsapp-sms'],
  ])('reads the provider %s as %s', async (provider, expected) => {
    await world.post('/sms', { ...TEMPLATE, provider });
    expect(world.api.sent[0]?.request.provider).toBe(expected);
  });

  it('asks for all delivery reports unless told otherwise', async () => {
    await world.post('/sms', { ...CUSTOM, deliveryReport: { webhookUrl: 'https://example.com' } });
    expect(world.api.sent[0]?.request.deliveryReport).toEqual({
      webhookUrl: 'https://example.com',
      deliveryReportType: 'all',
      webhookSecret: null,
    });
  });

  it('waits as long as the test number says before it replies', async () => {
    expect((await world.post('/sms', { ...VERIFICATION, phoneNumber: SLOW_REPLY })).status).toBe(200);
    expect(waits).toEqual([5_000]);
  });

  it('cuts the connection when the test number says so', async () => {
    const send = world.post('/sms', { ...VERIFICATION, phoneNumber: CUT_CONNECTION });
    await expect(send).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(world.api.sent).toHaveLength(1);
    expect(world.logger.entriesBesideRequests).toEqual([]);
  });

  it('replies to a repeated request at once, whatever the test number says', async () => {
    world.api.sendResult = { ...SEND_RESULT, replayed: true };
    for (const phoneNumber of [SLOW_REPLY, CUT_CONNECTION]) {
      expect((await world.post('/sms', { ...VERIFICATION, phoneNumber })).status).toBe(200);
    }
    expect(waits).toEqual([]);
  });

  it('accepts nothing and replies 500 when the test number says so', async () => {
    const reply = await world.post('/sms', { ...VERIFICATION, phoneNumber: INTERNAL_ERROR });
    expect(reply.status).toBe(500);
    expect(reply.body).toEqual({ message: 'Internal server error' });
    expect(reply.headers['x-error-code']).toBe('internal-error');
    expect(world.api.sent).toEqual([]);
    // It costs the caller nothing: the line of a fault, with its stack, would fill the log.
    expect(world.logger.entriesBesideRequests).toEqual([]);
  });

  it('replies to a fault with neutral words and logs the fault', async () => {
    world.api.fault = new Error('secret detail');
    const reply = await world.post('/sms', VERIFICATION, { 'x-request-id': 'mine-1' });
    expect(reply.status).toBe(500);
    expect(reply.body).toEqual({ message: 'Internal server error' });
    expect(reply.headers['x-error-code']).toBe('internal-error');
    expect(world.logger.entriesBesideRequests).toEqual([
      {
        level: 'error',
        event: 'request_failed',
        fields: {
          method: 'POST',
          route: '/sms',
          status: 500,
          requestId: 'mine-1',
          durationMs: expect.any(Number),
        },
      },
    ]);
  });
});

describe('Idempotency-Key', () => {
  const keyOf = async (key: string, body: unknown) => {
    await world.post('/sms', body, { 'idempotency-key': key });
    return world.api.sent.at(-1)?.idempotency;
  };

  it('gives equal bodies the same hash, whatever the order of their keys', async () => {
    const { phoneNumber, ...rest } = VERIFICATION;
    const first = await keyOf('order-1', { phoneNumber, ...rest, extra: { a: 1, b: [2, null] } });
    const second = await keyOf('order-1', { extra: { b: [2, null], a: 1 }, ...rest, phoneNumber });
    expect(first).toEqual({
      route: 'POST /sms',
      key: 'order-1',
      requestHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(second).toEqual(first);
  });

  it('gives another body another hash', async () => {
    const first = await keyOf('order-1', VERIFICATION);
    const second = await keyOf('order-1', { ...VERIFICATION, verificationCode: '654321' });
    expect(second?.requestHash).not.toBe(first?.requestHash);
  });

  it('marks a replayed reply', async () => {
    world.api.sendResult = { ...SEND_RESULT, replayed: true };
    const reply = await world.post('/sms', VERIFICATION, { 'idempotency-key': 'order-1' });
    expect(reply.headers['idempotency-replayed']).toBe('true');
  });

  test.each(['', 'two words', 'k'.repeat(256)])(
    'rejects an Idempotency-Key that is not visible ASCII: %j',
    async (key) => {
      const reply = await world.post('/sms', VERIFICATION, { 'idempotency-key': key });
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual({ error: 'Idempotency-Key must be 1 to 255 visible ASCII characters' });
      expect(reply.headers['x-error-code']).toBe('invalid-idempotency-key');
      expect(world.api.sent).toEqual([]);
    },
  );

  it('takes an Idempotency-Key of 255 characters', async () => {
    expect((await world.post('/sms', VERIFICATION, { 'idempotency-key': 'k'.repeat(255) })).status).toBe(200);
  });
});

describe('GET /sms/track/{smsId}', () => {
  it('replies with the tracked message', async () => {
    world.api.messages.set(
      anSmsId(7),
      aMessage({
        smsId: anSmsId(7),
        channels: ['whatsapp', 'telegram', 'sms'],
        attempts: [
          anAttempt({ channel: 'whatsapp', state: 'failed' }),
          anAttempt({ channel: 'telegram', state: 'accepted' }),
        ],
        status: 'sent',
        isFinal: false,
        cost: iqd(80),
      }),
    );
    const reply = await world.call('GET', `/sms/track/${anSmsId(7)}`);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      smsId: anSmsId(7),
      phoneNumber: '9647712345678',
      status: 'sent',
      cost: 80,
      isFinalStatus: false,
      lastChannel: 'telegram',
      channelFlow: [
        { channel: 'whatsapp', tried: true, success: false },
        { channel: 'telegram', tried: true, success: true },
        { channel: 'sms', tried: false },
      ],
    });
  });

  test.each([
    anSmsId(8),
    'sms-1',
    'SMS-000000000000000000000001',
    '%00',
    '%ff',
    '%',
    '%ff?a=%ff',
    '__proto__',
  ])('replies 404 to the unknown smsId %s', async (id) => {
    const reply = await world.call('GET', `/sms/track/${id}`);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({ message: 'SMS not found' });
    expect(reply.headers['x-error-code']).toBe('message-not-found');
  });
});
