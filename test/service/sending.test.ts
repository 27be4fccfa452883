import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { startService } from '../support/running-service.ts';
import { LIVE_KEY, seedWith, verification } from '../support/seeds.ts';

const SMS_ID = /^sms-[a-f0-9]{24}$/;
const HOME_NUMBER = '9647701234567';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** `verification(HOME_NUMBER, { provider: 'sms' })` with its members in the order of their names. */
const CANONICAL_BODY =
  '{"phoneNumber":"9647701234567","provider":"sms","smsType":"verification","verificationCode":"123456"}';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

interface Sent {
  readonly smsId: string;
}

describe('POST /sms', () => {
  it('POST /sms replies with what the send costs and leaves, and delivers it', async () => {
    const service = await startService();
    const reply = await service.request('/sms', { body: verification(HOME_NUMBER, { provider: 'sms' }) });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      message: 'SMS task created successfully',
      smsId: expect.stringMatching(SMS_ID),
      remainingCredit: 14_920,
      cost: 80,
      canCover: true,
      paymentType: 'prepaid',
    });
    const { smsId } = reply.body as Sent;
    await service.advance(1_000);
    expect((await service.request(`/sms/track/${smsId}`)).body).toEqual({
      smsId,
      phoneNumber: HOME_NUMBER,
      status: 'delivered',
      cost: 80,
      isFinalStatus: true,
      lastChannel: 'sms',
      channelFlow: [{ channel: 'sms', tried: true, success: true }],
    });
    expect((await service.request('/info')).body).toEqual({ projectName: 'Demo', credit: 14_920 });
    expect(service.inbox.all()).toMatchObject([{ phoneNumber: HOME_NUMBER, channel: 'sms', code: '123456' }]);
    await service.assertQuiet();
  });

  it('a new message is shown with its first channel and nothing tried', async () => {
    const service = await startService();
    let endSubmission: () => void = () => {};
    const submitted = new Promise<void>((resolve) => {
      service.script(async () => {
        resolve();
        await new Promise<void>((release) => {
          endSubmission = release;
        });
        return null;
      });
    });
    const { body } = await service.request('/sms', { body: verification(HOME_NUMBER) });
    await submitted;
    expect((await service.request(`/sms/track/${(body as Sent).smsId}`)).body).toMatchObject({
      status: 'pending',
      isFinalStatus: false,
      lastChannel: 'whatsapp',
      channelFlow: [
        { channel: 'whatsapp', tried: false },
        { channel: 'telegram', tried: false },
        { channel: 'sms', tried: false },
      ],
    });
    endSubmission();
    await service.advance(HOUR);
    await service.assertQuiet();
  });

  it('a message falls back when the handset has no whatsapp, and is charged once', async () => {
    const service = await startService();
    service.without(HOME_NUMBER, 'whatsapp');
    const { body } = await service.request('/sms', {
      body: verification(HOME_NUMBER, { provider: 'whatsapp-sms' }),
    });
    await service.advance(1_000);
    expect((await service.request(`/sms/track/${(body as Sent).smsId}`)).body).toMatchObject({
      status: 'delivered',
      cost: 80,
      lastChannel: 'sms',
      channelFlow: [
        { channel: 'whatsapp', tried: true, success: false },
        { channel: 'sms', tried: true, success: true },
      ],
    });
    expect((await service.request('/info')).body).toMatchObject({ credit: 14_920 });
    await service.assertQuiet();
  });

  it('the service accepts exactly as many parallel sends as the credit covers and rejects the rest with true numbers', async () => {
    const service = await startService({ seed: seedWith({ credit: 14 * 80, rateLimit: null }) });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        service.request('/sms', { body: verification(`96477012345${10 + index}`, { provider: 'sms' }) }),
      ),
    );
    const accepted = replies.filter(({ status }) => status === 200);
    const rejected = replies.filter(({ status }) => status === 400);
    expect(accepted).toHaveLength(14);
    expect(rejected).toHaveLength(36);
    for (const { body } of rejected) {
      expect(body).toEqual({
        error: 'Insufficient credit, please add more credit',
        yourCredit: 0,
        requiredCredit: 80,
        canCover: false,
      });
    }
    const left = accepted.map(({ body }) => (body as { remainingCredit: number }).remainingCredit);
    expect([...left].sort((a, b) => b - a)).toEqual(
      Array.from({ length: 14 }, (_, index) => (13 - index) * 80),
    );
    await service.advance(HOUR);
    await service.assertQuiet();
  });

  it('the cost is released when every channel failed', async () => {
    const service = await startService();
    const { body } = await service.request('/sms', { body: verification('9990000000006') });
    await service.settle();
    expect((await service.request(`/sms/track/${(body as Sent).smsId}`)).body).toMatchObject({
      status: 'failed',
      isFinalStatus: true,
      cost: 100,
      channelFlow: [
        { channel: 'whatsapp', tried: true, success: false },
        { channel: 'telegram', tried: true, success: false },
        { channel: 'sms', tried: true, success: false },
      ],
    });
    expect((await service.request('/info')).body).toMatchObject({ credit: 15_000 });
    await service.assertQuiet();
  });

  it('the price of the delivering channel is captured when the project settles so', async () => {
    const service = await startService({ seed: seedWith({ settlement: 'delivered' }) });
    await service.request('/sms', { body: verification(HOME_NUMBER, { provider: 'whatsapp-sms' }) });
    expect((await service.request('/info')).body).toMatchObject({ credit: 14_920 });
    await service.advance(1_000);
    expect((await service.request('/info')).body).toMatchObject({ credit: 14_940 });
    await service.assertQuiet();
  });

  it('a message keeps its text only as long as it may still be needed', async () => {
    const service = await startService();
    const { body } = await service.request('/sms', { body: verification(HOME_NUMBER) });
    const { smsId } = body as Sent;
    expect((await service.message(smsId))?.content).toMatchObject({ verificationCode: '123456' });
    await service.advance(1_000);
    expect((await service.message(smsId))?.content).toEqual({
      smsType: 'verification',
      verificationCode: '******',
    });
  });

  it('a chain whose last channel never reports ends as sent, paid, when the report window closes', async () => {
    const service = await startService();
    const { body } = await service.request('/sms', {
      body: verification('9990000000003', { provider: 'sms' }),
    });
    await service.advance(24 * HOUR - 1);
    const path = `/sms/track/${(body as Sent).smsId}`;
    expect((await service.request(path)).body).toMatchObject({ status: 'sent', isFinalStatus: false });
    await service.advance(1);
    expect((await service.request(path)).body).toMatchObject({ status: 'sent', isFinalStatus: true });
    expect((await service.request('/info')).body).toMatchObject({ credit: 14_900 });
    await service.assertQuiet();
  });

  it('a custom text without a sender ID is tried on whatsapp, then sms; with one only by sms', async () => {
    const service = await startService();
    const text = { smsType: 'custom', customMessage: 'سڵاو 👋\nline two', phoneNumber: HOME_NUMBER };
    const plain = await service.request('/sms', { body: text });
    const named = await service.request('/sms', { body: { ...text, senderId: 'Barid' } });
    const flowOf = async (reply: { body: unknown }) =>
      (await service.message((reply.body as Sent).smsId))?.channels;
    expect(await flowOf(plain)).toEqual(['whatsapp', 'sms']);
    expect(await flowOf(named)).toEqual(['sms']);
    expect(await service.inbox.next({ channel: 'sms' })).toMatchObject({
      text: 'سڵاو 👋\nline two',
      senderId: 'Barid',
    });
  });

  it('an approved template is sent; an unknown one or a missing value is rejected', async () => {
    const service = await startService();
    const template = {
      phoneNumber: HOME_NUMBER,
      smsType: 'whatsapp-template',
      templateName: 'order_update',
      whatsappAccountId: '664def456abc789012345602',
      whatsappPhoneId: '664def456abc789012345678',
      templateParameters: { body: { '1': 'Sara', '2': 77 }, buttons: { '0': { '1': 'abc' } } },
    };
    expect((await service.request('/sms', { body: template })).body).toMatchObject({ cost: 60 });
    const unknown = await service.request('/sms', { body: { ...template, templateName: 'nothing' } });
    expect([unknown.status, unknown.body]).toEqual([400, { error: 'Template not found' }]);
    const missing = await service.request('/sms', {
      body: { ...template, templateParameters: { body: { '1': 'Sara' } } },
    });
    expect(missing.status).toBe(400);
    expect(missing.body).toEqual({ error: expect.stringContaining('templateParameters.body.2') });
  });
});

describe('limits of a project', () => {
  it('five sends in ten minutes reach a number, and the sixth after the wait it was told', async () => {
    const service = await startService();
    const send = () => service.request('/sms', { body: verification(HOME_NUMBER, { provider: 'sms' }) });
    for (let count = 0; count < 5; count += 1) {
      expect((await send()).status).toBe(200);
      await service.advance(MINUTE);
    }
    const rejected = await send();
    expect(rejected.status).toBe(429);
    expect(rejected.body).toEqual({
      message: expect.stringMatching(/^Rate limit exceeded/),
      waitMinutes: 5,
      maxRequests: 5,
      timeWindowMinutes: 10,
    });
    expect(rejected.headers.get('retry-after')).toBe('300');
    await service.advance(5 * MINUTE - 1);
    expect((await send()).status).toBe(429);
    await service.advance(1);
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(429);
  });

  it('a project never holds and captures more than its spending threshold, also when it is postpaid', async () => {
    const service = await startService({
      seed: seedWith({ paymentType: 'postpaid', credit: 0, spendingThreshold: 200, rateLimit: null }),
    });
    const send = () => service.request('/sms', { body: verification(HOME_NUMBER, { provider: 'sms' }) });
    expect((await send()).body).toMatchObject({
      paymentType: 'postpaid',
      remainingCredit: 0,
      canCover: true,
    });
    await service.advance(1_000);
    expect((await send()).status).toBe(200);
    const rejected = await send();
    expect([rejected.status, rejected.body]).toEqual([
      400,
      {
        error: 'Project spending threshold of 200 IQD would be exceeded',
        currentSpending: 160,
        spendingThreshold: 200,
        cost: 80,
      },
    ]);
  });

  it('a project in trial mode sends only to its own number', async () => {
    const service = await startService({ seed: seedWith({ trial: { ownPhoneNumber: HOME_NUMBER } }) });
    expect((await service.request('/sms', { body: verification(HOME_NUMBER) })).status).toBe(200);
    const other = await service.request('/sms', { body: verification('9647801234567') });
    expect([other.status, other.body]).toEqual([400, { error: expect.stringContaining('trial mode') }]);
  });

  it('a sender ID that is unknown or not accepted is rejected', async () => {
    const prices = { korekTelecom: 50, asiaCell: 50, zainIraq: 50, others: 50 };
    const service = await startService({
      seed: seedWith({ senderIds: [{ senderId: 'Waiting', status: 'pending', pricePerSms: prices }] }),
    });
    const send = (senderId: string) =>
      service.request('/sms', { body: verification(HOME_NUMBER, { senderId }) });
    expect((await send('Nobody')).body).toEqual({ error: 'SenderID not found' });
    expect((await send('Waiting')).body).toEqual({ error: 'SenderID not yet accepted' });
  });

  it('a message abroad is sent at the international price and nowhere without one', async () => {
    const service = await startService();
    const send = (phoneNumber: string) =>
      service.request('/sms', { body: verification(phoneNumber, { provider: 'sms' }) });
    expect((await send('905321234567')).body).toMatchObject({ cost: 120 });
    expect((await send('4915112345678')).status).toBe(400);
  });

  it('a live project may not send to test numbers', async () => {
    const service = await startService({ seed: seedWith({ environment: 'live', apiKeys: [LIVE_KEY] }) });
    const reply = await service.request('/sms', { body: verification('9990000000001') });
    expect(reply.status).toBe(400);
    expect((await service.request('/info')).body).toMatchObject({ credit: 15_000 });
  });
});

describe('Idempotency-Key', () => {
  const body = verification(HOME_NUMBER, { provider: 'sms' });
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key }, body });

  it('a hundred parallel requests with one key have one effect and one reply', async () => {
    const service = await startService();
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => service.request('/sms', keyed('order-1'))),
    );
    expect(new Set(replies.map(({ body: reply }) => JSON.stringify(reply))).size).toBe(1);
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    expect(replies.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(99);
    expect((await service.request('/info')).body).toMatchObject({ credit: 14_920 });
  });

  it('another body under the same key is rejected, and the key is forgotten after a day', async () => {
    const service = await startService();
    await service.request('/sms', keyed('order-2'));
    const other = { ...keyed('order-2'), body: { ...body, verificationCode: '999999' } };
    expect((await service.request('/sms', other)).status).toBe(409);
    await service.advance(24 * HOUR);
    expect((await service.request('/sms', other)).status).toBe(200);
  });

  it('a code cannot be found by trying from the idempotency record of its request', async () => {
    const service = await startService();
    await service.request('/sms', keyed('order-4'));
    const stored: string[] = await service.service.roots.database
      .knex('idempotency_records')
      .pluck('request_hash');
    expect(stored).toEqual([expect.stringMatching(/^v1:[0-9a-f]{64}$/)]);
    expect(stored[0]).not.toContain(sha256(CANONICAL_BODY));
  });

  it('the record of an earlier version, with a bare hash, replays an equal request and rejects another', async () => {
    const service = await startService();
    const first = await service.request('/sms', keyed('order-5'));
    await service.service.roots.database
      .knex('idempotency_records')
      .update({ request_hash: sha256(CANONICAL_BODY) });
    const again = await service.request('/sms', keyed('order-5'));
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(again.body).toEqual(first.body);
    const other = { ...keyed('order-5'), body: { ...body, verificationCode: '999999' } };
    expect((await service.request('/sms', other)).status).toBe(409);
  });

  it('a rejection leaves no idempotency record', async () => {
    const service = await startService({ seed: seedWith({ credit: 0 }) });
    expect((await service.request('/sms', keyed('order-3'))).status).toBe(400);
    const swept = await service.service.roots.unitOfWork.run((stores) =>
      stores.idempotency.sweep(Number.MAX_SAFE_INTEGER, 10),
    );
    expect(swept).toBe(0);
  });
});
