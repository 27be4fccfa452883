import { describe, expect, it, test } from 'vitest';
import { LIVE_KEY, verification } from '../support/seeds.ts';
import {
  ACCOUNT_ID,
  accepted,
  creditOf,
  errorOf,
  MINUTE,
  NUMBER,
  OTHER_NUMBER,
  PHONE_ID,
  post,
  SECOND,
  SMS_ID,
  startWith,
  template,
  text,
  track,
} from './world.ts';

describe('4.1 the reply', () => {
  it('4.1 a send gets a reply with its id, its cost, and the credit that is left', async () => {
    const service = await startWith();
    expect(await post(service, verification(NUMBER, { provider: 'sms' }))).toMatchObject({
      status: 200,
      body: {
        message: 'SMS task created successfully',
        smsId: expect.stringMatching(SMS_ID),
        remainingCredit: 14_920,
        cost: 80,
        canCover: true,
        paymentType: 'prepaid',
      },
    });
  });

  it('4.1 a postpaid project is not limited by its credit, and its remaining credit is never below zero', async () => {
    const service = await startWith({ paymentType: 'postpaid', credit: 0 });
    expect((await post(service, verification(NUMBER, { provider: 'sms' }))).body).toMatchObject({
      remainingCredit: 0,
      cost: 80,
      canCover: true,
      paymentType: 'postpaid',
    });
  });
});

describe('4.1 the request', () => {
  test.each<[rule: string, body: unknown, words: RegExp]>([
    ['a phone number is required', { smsType: 'custom', customMessage: 'x' }, /valid.*phone|phone.*valid/i],
    ['a phone number has at least 10 digits', text('123456789'), /valid.*phone|phone.*valid/i],
    ['a phone number has at most 15 digits', text('1234567890123456'), /valid.*phone|phone.*valid/i],
    ['a phone number has no plus', text('+9647701234567'), /valid.*phone|phone.*valid/i],
    ['a phone number has no spaces', text('964 7701234567'), /valid.*phone|phone.*valid/i],
    ['a phone number is a string', text(9_647_701_234_567 as never), /valid.*phone|phone.*valid/i],
    ['smsType is required', { phoneNumber: NUMBER }, /sms type/i],
    ['smsType is one of three', { phoneNumber: NUMBER, smsType: 'flash' }, /sms type/i],
    ['provider is one of seven', text(NUMBER, { provider: 'email' }), /provider/i],
    [
      'a code is required for verification',
      { phoneNumber: NUMBER, smsType: 'verification' },
      /verification\s?code/i,
    ],
    [
      'a code has at least 1 character',
      verification(NUMBER, { verificationCode: '' }),
      /verification\s?code/i,
    ],
    [
      'a code has at most 20 characters',
      verification(NUMBER, { verificationCode: '1'.repeat(21) }),
      /verification\s?code/i,
    ],
    ['a text is required for custom', { phoneNumber: NUMBER, smsType: 'custom' }, /customMessage/],
    ['a text has at least 1 character', text(NUMBER, { customMessage: '' }), /customMessage/],
    [
      'a text has at most 1000 characters',
      text(NUMBER, { customMessage: 'x'.repeat(1_001) }),
      /customMessage/,
    ],
    ['a template needs its name', template(NUMBER, { templateName: undefined }), /templateName/],
    ['a template needs its account', template(NUMBER, { whatsappAccountId: undefined }), /whatsappAccountId/],
    ['a template needs its phone', template(NUMBER, { whatsappPhoneId: undefined }), /whatsappPhoneId/],
  ])('4.1 a request against this rule is an error: %s', async (_, body, words) => {
    const service = await startWith();
    const error = errorOf(await post(service, body));
    expect(error).toMatchObject({ status: 400, code: 'validation-failed' });
    expect((error.body as { error: string }).error).toMatch(words);
    expect(await creditOf(service)).toBe(15_000);
  });

  test.each<[rule: string, body: Record<string, unknown>]>([
    ['a phone number may have 10 digits', text('9012345678')],
    ['a phone number may have 15 digits', text('901234567890123')],
    ['a code may have 1 character', verification(NUMBER, { verificationCode: '1' })],
    ['a code may have 20 characters', verification(NUMBER, { verificationCode: 'x'.repeat(20) })],
    ['a text may have 1000 characters', text(NUMBER, { customMessage: 'x'.repeat(1_000) })],
    [
      'an optional field that is null counts as absent',
      verification(NUMBER, {
        senderId: null,
        provider: null,
        deliveryReport: null,
        whatsappAccountId: null,
        whatsappPhoneId: null,
        templateName: null,
      }),
    ],
  ])('4.1 a request within this rule is accepted: %s', async (_, body) => {
    await accepted(await startWith(), body);
  });

  it('4.1 line breaks of any kind in a text become line feeds, and tabs stay', async () => {
    const service = await startWith();
    await accepted(service, text(NUMBER, { provider: 'sms', customMessage: 'a\r\nb\rc\nd\te' }));
    expect((await service.inbox.next()).text).toBe('a\nb\nc\nd\te');
  });

  it('4.1 other control characters in a text are an error', async () => {
    const error = errorOf(await post(await startWith(), text(NUMBER, { customMessage: 'a\u0000b' })));
    expect(error).toMatchObject({ status: 400, code: 'validation-failed' });
  });
});

describe('4.1 the channels', () => {
  test.each<[provider: string, channels: readonly string[]]>([
    ['whatsapp-sms', ['whatsapp', 'sms']],
    ['telegram-sms', ['telegram', 'sms']],
    ['whatsapp-telegram-sms', ['whatsapp', 'telegram', 'sms']],
    ['sms', ['sms']],
    ['whatsapp', ['whatsapp']],
    ['telegram', ['telegram']],
    ['auto', ['whatsapp', 'telegram', 'sms']],
  ])('4.1 provider %s sends a code by %j', async (provider, channels) => {
    const service = await startWith();
    const smsId = await accepted(service, verification(NUMBER, { provider }));
    expect((await track(service, smsId)).channelFlow).toMatchObject(channels.map((channel) => ({ channel })));
  });

  it('4.1 a code without a provider goes by whatsapp, telegram and sms', async () => {
    const service = await startWith();
    const smsId = await accepted(service);
    expect((await track(service, smsId)).channelFlow).toMatchObject([
      { channel: 'whatsapp' },
      { channel: 'telegram' },
      { channel: 'sms' },
    ]);
  });

  it('4.1 a text under a sender ID without a provider goes by sms', async () => {
    const service = await startWith();
    const smsId = await accepted(service, text(NUMBER, { senderId: 'Barid' }));
    expect((await track(service, smsId)).channelFlow).toMatchObject([{ channel: 'sms' }]);
  });

  it('4.1 a template without a provider goes by whatsapp', async () => {
    const service = await startWith();
    const smsId = await accepted(service, template(NUMBER));
    expect((await track(service, smsId)).channelFlow).toMatchObject([{ channel: 'whatsapp' }]);
  });

  it('4.1 auto leaves out a channel without a price for the destination', async () => {
    const service = await startWith();
    const smsId = await accepted(service, verification('4915112345678'));
    expect((await track(service, smsId)).channelFlow).toMatchObject([
      { channel: 'whatsapp' },
      { channel: 'telegram' },
    ]);
  });

  it('4.1 a named channel without a price for the destination is an error', async () => {
    const error = errorOf(
      await post(await startWith(), verification('4915112345678', { provider: 'whatsapp-sms' })),
    );
    expect(error).toMatchObject({ status: 400, code: 'unsupported-destination' });
  });

  it('4.1 telegram alone rejects a text, and the error names the rule', async () => {
    const error = errorOf(await post(await startWith(), text(NUMBER, { provider: 'telegram' })));
    expect(error).toMatchObject({ status: 400, code: 'unsupported-content' });
    expect((error.body as { error: string }).error).toMatch(/telegram.*4 to 8 digits/i);
  });
});

describe('4.1 whatsapp templates', () => {
  test.each<[rule: string, body: unknown, code: string, words: RegExp]>([
    ['an unknown template', template(NUMBER, { templateName: 'nowhere' }), 'template-not-found', /Template/],
    [
      'an unknown account',
      template(NUMBER, { whatsappAccountId: '0'.repeat(24) }),
      'whatsapp-account-not-found',
      /whatsappAccountId/,
    ],
    [
      'an unknown phone',
      template(NUMBER, { whatsappPhoneId: '0'.repeat(24) }),
      'whatsapp-phone-not-found',
      /whatsappPhoneId/,
    ],
    [
      'a missing placeholder',
      template(NUMBER, { templateParameters: { body: { 1: 'Layla' }, buttons: { 0: { 1: 'A' } } } }),
      'template-parameter-missing',
      /templateParameters\.body\.2/,
    ],
    [
      'an unknown template that a code names',
      verification(NUMBER, {
        templateName: 'nowhere',
        whatsappAccountId: ACCOUNT_ID,
        whatsappPhoneId: PHONE_ID,
      }),
      'template-not-found',
      /Template/,
    ],
    [
      'an unknown template that a text names without an account',
      text(NUMBER, { provider: 'whatsapp', templateName: 'nowhere' }),
      'template-not-found',
      /Template/,
    ],
  ])('4.1 %s is an error that says what is wrong', async (_, body, code, words) => {
    const error = errorOf(await post(await startWith(), body));
    expect(error).toMatchObject({ status: 400, code });
    expect((error.body as { error: string }).error).toMatch(words);
  });

  it('4.1 a parameter that the template does not have is an error that names it', async () => {
    const templateParameters = { body: { 1: 'Layla', 2: 'A-17', 3: 'more' }, buttons: { 0: { 1: 'A' } } };
    const error = errorOf(await post(await startWith(), template(NUMBER, { templateParameters })));
    expect(error.status).toBe(400);
    expect((error.body as { error: string }).error).toMatch(/templateParameters\.body\.3/);
  });
});

describe('4.1 the rules, in their order', () => {
  it('4.1 rule 1: a cost above the credit is 400 with both amounts', async () => {
    const service = await startWith({ credit: 79.5 });
    expect(errorOf(await post(service, verification(NUMBER, { provider: 'sms' })))).toEqual({
      status: 400,
      code: 'insufficient-credit',
      body: {
        error: 'Insufficient credit, please add more credit',
        yourCredit: 79.5,
        requiredCredit: 80,
        canCover: false,
      },
    });
  });

  it('4.1 rule 1: a cost equal to the credit is accepted', async () => {
    const service = await startWith({ credit: 80 });
    expect((await post(service, verification(NUMBER, { provider: 'sms' }))).body).toMatchObject({
      remainingCredit: 0,
    });
  });

  it('4.1 rule 2: a cost above the spending threshold is 400 with the amounts', async () => {
    const service = await startWith({ spendingThreshold: 100 });
    await accepted(service, verification(NUMBER, { provider: 'sms' }));
    const error = errorOf(await post(service, verification(NUMBER, { provider: 'sms' })));
    expect(error).toMatchObject({
      status: 400,
      code: 'spending-threshold',
      body: {
        error: expect.stringContaining('threshold'),
        currentSpending: 80,
        spendingThreshold: 100,
        cost: 80,
      },
    });
  });

  it('4.1 rule 3: an unknown sender ID is 400', async () => {
    expect(errorOf(await post(await startWith(), text(NUMBER, { senderId: 'Nobody' })))).toEqual({
      status: 400,
      code: 'sender-id-not-found',
      body: { error: 'SenderID not found' },
    });
  });

  it('4.1 rule 3: a sender ID that is not yet accepted is 400', async () => {
    const prices = { korekTelecom: 80, asiaCell: 80, zainIraq: 80, others: 100 };
    const service = await startWith({
      senderIds: [{ senderId: 'Soon', status: 'pending', pricePerSms: prices }],
    });
    expect(errorOf(await post(service, text(NUMBER, { senderId: 'Soon' })))).toEqual({
      status: 400,
      code: 'sender-id-not-accepted',
      body: { error: 'SenderID not yet accepted' },
    });
  });

  it('4.1 rule 4: a project in trial mode may send to its own number only', async () => {
    const service = await startWith({ trial: { ownPhoneNumber: NUMBER } });
    await accepted(service, verification(NUMBER));
    expect(errorOf(await post(service, verification(OTHER_NUMBER)))).toMatchObject({
      status: 400,
      code: 'trial-mode',
      body: { error: expect.stringContaining('trial mode') },
    });
  });

  it('4.1 rule 5: the sixth send to one number in ten minutes is 429, and waiting as long as it says works', async () => {
    const service = await startWith({ rateLimit: { maxRequests: 5, timeWindowMinutes: 10 } });
    for (let sends = 0; sends < 5; sends += 1) await accepted(service, verification(NUMBER));
    await service.advance(3 * MINUTE);
    const reply = await post(service, verification(NUMBER));
    expect(errorOf(reply)).toMatchObject({
      status: 429,
      code: 'rate-limited',
      body: { message: expect.any(String), waitMinutes: 7, maxRequests: 5, timeWindowMinutes: 10 },
    });
    expect(reply.headers.get('retry-after')).toBe(String(7 * 60));
    await accepted(service, verification(OTHER_NUMBER));
    await service.advance(7 * MINUTE);
    await accepted(service, verification(NUMBER));
  });

  it('4.1 rule 5: spellings of one handset share one window, and replies show the number as it was sent', async () => {
    const service = await startWith({ rateLimit: { maxRequests: 2, timeWindowMinutes: 10 } });
    const smsId = await accepted(service, verification('07701234567'));
    await accepted(service, verification('009647701234567'));
    expect(errorOf(await post(service, verification(NUMBER)))).toMatchObject({ status: 429 });
    expect((await track(service, smsId)).phoneNumber).toBe('07701234567');
  });

  it('4.1 rule 6: sends beyond the limit of their address are 429, whatever number they go to', async () => {
    const service = await startWith({ addressRateLimit: { maxRequests: 2, timeWindowMinutes: 10 } });
    await accepted(service, verification(NUMBER));
    await accepted(service, verification(OTHER_NUMBER));
    const reply = await post(service, verification('9647701234569'));
    expect(errorOf(reply)).toMatchObject({
      status: 429,
      code: 'rate-limited',
      body: { message: expect.any(String), waitMinutes: 10, maxRequests: 2, timeWindowMinutes: 10 },
    });
    expect(reply.headers.get('retry-after')).toBe(String(10 * 60));
    await service.advance(10 * MINUTE);
    await accepted(service, verification(NUMBER));
  });

  it('4.1 a rejected send costs nothing, stores nothing and does not count for the rate limit', async () => {
    const service = await startWith({ rateLimit: { maxRequests: 1, timeWindowMinutes: 10 } });
    await post(service, text(NUMBER, { senderId: 'Nobody' }));
    await post(service, text(NUMBER, { provider: 'telegram' }));
    expect(await creditOf(service)).toBe(15_000);
    await accepted(service, verification(NUMBER));
    await service.advance(SECOND);
    await service.assertQuiet();
  });

  it('4.1 the first of several reasons is told, in the order sender ID, trial, rate limit, threshold, credit', async () => {
    const service = await startWith({
      credit: 0,
      spendingThreshold: 0,
      trial: { ownPhoneNumber: OTHER_NUMBER },
      rateLimit: { maxRequests: 1, timeWindowMinutes: 10 },
    });
    const codeOf = async (body: unknown) => errorOf(await post(service, body)).code;
    expect(await codeOf(text(NUMBER, { senderId: 'Nobody' }))).toBe('sender-id-not-found');
    expect(await codeOf(text(NUMBER))).toBe('trial-mode');
    expect(await codeOf(text(OTHER_NUMBER))).toBe('spending-threshold');
  });
});

describe('4.1 idempotency', () => {
  it('4.1 an equal request under one key is sent and charged once, and gets the first reply again', async () => {
    const service = await startWith();
    const key = { 'idempotency-key': 'order-17' };
    const first = await post(service, verification(NUMBER, { provider: 'sms' }), key);
    const second = await post(service, { provider: 'sms', ...verification(NUMBER) }, key);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await creditOf(service)).toBe(14_920);
    await service.settle();
    expect(service.inbox.all()).toHaveLength(1);
  });

  it('4.1 another request under the same key is 409', async () => {
    const service = await startWith();
    const key = { 'idempotency-key': 'order-17' };
    await post(service, verification(NUMBER), key);
    expect(errorOf(await post(service, verification(OTHER_NUMBER), key))).toMatchObject({
      status: 409,
      code: 'idempotency-conflict',
    });
  });
});

describe('4.1 test numbers', () => {
  it('4.1 a live key may not send to a test number', async () => {
    const service = await startWith({ environment: 'live', apiKeys: [LIVE_KEY] });
    expect(
      errorOf(await service.request('/sms', { apiKey: LIVE_KEY, body: verification('9990000000001') })),
    ).toMatchObject({ status: 400, code: 'test-number' });
  });
});
