import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { HttpWorld } from '../../http-world.ts';

const VERIFICATION = { phoneNumber: '9647701234567', smsType: 'verification', verificationCode: '123456' };
const CUSTOM = { phoneNumber: '9647701234567', smsType: 'custom', customMessage: 'Your parcel is here' };
const TEMPLATE = {
  phoneNumber: '9647701234567',
  smsType: 'whatsapp-template',
  templateName: 'parcel',
  whatsappAccountId: '664def456abc789012345601',
  whatsappPhoneId: '664def456abc789012345678',
};
const PHONE =
  'Invalid phone number format: use the international format in digits only, for example 9647701234567';
const PHONE_MISSING = 'Invalid phone number: phoneNumber is required, for example 9647701234567';
const PHONE_TYPE = 'Invalid phone number: phoneNumber must be a string, for example "9647701234567"';
const PROVIDER_ERROR =
  'Invalid provider, use one of auto, whatsapp-sms, telegram-sms, whatsapp-telegram-sms, sms, whatsapp, telegram';
const SMS_TYPE = 'Invalid sms type, use one of verification, custom, whatsapp-template';
const URL_ERROR = 'deliveryReport.webhookUrl must begin with https:// and hold no control characters';
const SECRET_ERROR =
  'deliveryReport.webhookSecret must be 1 to 200 letters, digits or signs of a header token';
const NO_KEY_ERROR = 'deliveryReport.webhookSecret must have a key in base64 behind whsec_';

/** Clients tell other cases apart by these. */
const WORDS_OF_OTHER_CASES = /trial mode|senderid|credit|balance|owner|whitelist|threshold/i;

let world: HttpWorld;
beforeEach(async () => {
  world = await new HttpWorld().open();
});
afterEach(() => world.close());

const without = (body: object, field: string) => ({ ...body, [field]: undefined });
const reporting = (deliveryReport: unknown) => ({ ...VERIFICATION, deliveryReport });
const hookedTo = (webhookUrl: unknown) => reporting({ webhookUrl });
const parameterised = (templateParameters: unknown) => ({ ...TEMPLATE, templateParameters });

describe('a send that is not well formed', () => {
  test.each<[unknown, string]>([
    [null, 'The request body must be a JSON object'],
    [[], 'The request body must be a JSON object'],
    ['text', 'The request body must be a JSON object'],
    [7, 'The request body must be a JSON object'],
    [{}, PHONE_MISSING],
    [without(VERIFICATION, 'phoneNumber'), PHONE_MISSING],
    [{ ...VERIFICATION, phoneNumber: 9647701234567 }, PHONE_TYPE],
    [{ ...VERIFICATION, phoneNumber: '+9647701234567' }, PHONE],
    [{ ...VERIFICATION, phoneNumber: '964 770 123 4567' }, PHONE],
    [{ ...VERIFICATION, phoneNumber: '9'.repeat(9) }, PHONE],
    [{ ...VERIFICATION, phoneNumber: '9'.repeat(16) }, PHONE],
    [{ ...VERIFICATION, phoneNumber: '9647701234567\n' }, PHONE],
    [{ ...VERIFICATION, phoneNumber: '٩٦٤٧٧٠١٢٣٤٥٦٧' }, PHONE],
    [{ phoneNumber: '1', smsType: 'letter' }, PHONE],
    [without(VERIFICATION, 'smsType'), SMS_TYPE],
    [{ ...VERIFICATION, smsType: 'letter' }, SMS_TYPE],
    [{ ...VERIFICATION, smsType: ['custom'] }, SMS_TYPE],
    [{ ...VERIFICATION, provider: 'pigeon' }, PROVIDER_ERROR],
    [{ ...VERIFICATION, provider: '' }, PROVIDER_ERROR],
    [{ ...VERIFICATION, verificationCode: null }, 'verificationCode is required'],
    [{ ...VERIFICATION, phoneNumber: null }, PHONE_MISSING],
    [without(VERIFICATION, 'verificationCode'), 'verificationCode is required'],
    [{ ...VERIFICATION, verificationCode: 123456 }, 'verificationCode must be a string'],
    [{ ...VERIFICATION, verificationCode: '' }, 'verificationCode must be 1 to 20 characters long'],
    [
      { ...VERIFICATION, verificationCode: '1'.repeat(21) },
      'verificationCode must be 1 to 20 characters long',
    ],
    [{ ...VERIFICATION, verificationCode: '12\n34' }, 'verificationCode must not contain control characters'],
    [{ ...VERIFICATION, senderId: 'TwelveLetter' }, 'The sender ID must be at most 11 characters long'],
    [{ ...VERIFICATION, senderId: '😀'.repeat(6) }, 'The sender ID must be at most 11 characters long'],
    [{ ...VERIFICATION, senderId: 7 }, 'The sender ID must be a string'],
    [{ ...VERIFICATION, senderId: 'A\u0000B' }, 'The sender ID must not contain control characters'],
    [without(CUSTOM, 'customMessage'), 'customMessage is required'],
    [{ ...CUSTOM, customMessage: '' }, 'customMessage must be 1 to 1000 characters long'],
    [{ ...CUSTOM, customMessage: 'x'.repeat(1001) }, 'customMessage must be 1 to 1000 characters long'],
    [{ ...CUSTOM, customMessage: 'a\u0000b' }, 'customMessage must not contain control characters'],
    [{ ...CUSTOM, customMessage: 'a\u000bb' }, 'customMessage must not contain control characters'],
    [{ ...CUSTOM, customMessage: 'x\r\n'.repeat(501) }, 'customMessage must be 1 to 1000 characters long'],
    [{ ...CUSTOM, customMessage: 'a\u0085b' }, 'customMessage must not contain control characters'],
    [{ ...CUSTOM, customMessage: 'half \ud83d pair' }, 'customMessage must not contain control characters'],
    [without(TEMPLATE, 'templateName'), 'templateName is required'],
    [without(TEMPLATE, 'whatsappAccountId'), 'whatsappAccountId is required'],
    [without(TEMPLATE, 'whatsappPhoneId'), 'whatsappPhoneId is required'],
    [parameterised([]), 'templateParameters must be an object'],
    [parameterised({ body: ['Sara'] }), 'Each part of templateParameters must be an object'],
    [parameterised({ body: { 1: true } }), 'templateParameters values must be strings or numbers'],
    // With its names, quotes and braces one byte more than 10 kB.
    [
      parameterised({ body: { 1: 'x'.repeat(4_096), 2: `${'ل'.repeat(3_060)}x` } }),
      'templateParameters cannot exceed 10 kB',
    ],
    [
      parameterised({ body: { 1: 2 ** 53 } }),
      'templateParameters numbers beyond 9007199254740991 must be strings',
    ],
    [
      parameterised({ buttons: { 0: { 1: -1e21 } } }),
      'templateParameters numbers beyond 9007199254740991 must be strings',
    ],
    [parameterised({ body: { 1: 'a\u0007' } }), 'A template parameter must not contain control characters'],
    [
      parameterised({ body: { 'a b': 'x' } }),
      'templateParameters may have keys of letters, digits and underscores only',
    ],
    [
      parameterised({ buttons: { first: {} } }),
      'templateParameters.buttons must be an object with the keys 0 to 99',
    ],
    [reporting('https://example.com'), 'deliveryReport must be an object'],
    [reporting({}), 'deliveryReport.webhookUrl is required and must be a string'],
    [hookedTo('http://example.com/'), URL_ERROR],
    [hookedTo('https:example.com'), URL_ERROR],
    [hookedTo('https:\\\\example.com\\'), URL_ERROR],
    [hookedTo('https://exa\tmple.com/'), URL_ERROR],
    [hookedTo(' https://example.com/'), URL_ERROR],
    [
      hookedTo(`https://example.com/${'a'.repeat(2048)}`),
      'deliveryReport.webhookUrl must be at most 2048 characters long',
    ],
    [
      reporting({ webhookUrl: 'https://example.com', deliveryReportType: 'sms' }),
      'deliveryReport.deliveryReportType must be all or final',
    ],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: '' }), SECRET_ERROR],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: 'a'.repeat(201) }), SECRET_ERROR],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: 'a b' }), SECRET_ERROR],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: 'a\r\nX: y' }), SECRET_ERROR],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: 'whsec_' }), NO_KEY_ERROR],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: 'whsec_!!!!' }), NO_KEY_ERROR],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: 'whsec_a' }), NO_KEY_ERROR],
  ])('a send that is not well formed gets 400: %j', async (body, error) => {
    const reply = await world.post('/sms', body);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ error });
    expect(reply.headers['x-error-code']).toBe('validation-failed');
    expect(error).not.toMatch(WORDS_OF_OTHER_CASES);
    expect(world.api.sent).toEqual([]);
  });
});

describe('the outermost values that are well formed', () => {
  it.each<[unknown]>([
    [{ ...VERIFICATION, phoneNumber: '9'.repeat(10) }],
    [{ ...VERIFICATION, phoneNumber: '9'.repeat(15) }],
    [{ ...VERIFICATION, verificationCode: 'x' }],
    [{ ...VERIFICATION, verificationCode: '1'.repeat(20) }],
    [{ ...VERIFICATION, senderId: 'ElevenChars' }],
    [{ ...VERIFICATION, whatsappAccountId: 'a', whatsappPhoneId: 'b' }],
    [{ ...CUSTOM, customMessage: 'x'.repeat(1000) }],
    [{ ...CUSTOM, customMessage: '😀'.repeat(500) }],
    [{ ...CUSTOM, customMessage: 'x\r\n'.repeat(500) }],
    [{ ...TEMPLATE, templateParameters: {} }],
    [{ ...TEMPLATE, deliveryReport: { webhookUrl: 'HTTPS://example.com:8443/x?y#z' } }],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: "aZ_9!#$%&'*+-.^`|~" })],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: 'a'.repeat(200) })],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: 'whsec_aZ' })],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: 'whsec_my-secret!' })],
    [reporting({ webhookUrl: 'https://example.com', webhookSecret: 'Whsec_' })],
    [parameterised({ body: { 1: 'x'.repeat(4_096), 2: 'ل'.repeat(3_060) } })],
  ])('a send with an outermost value is accepted: %j', async (body) => {
    expect((await world.post('/sms', body)).status).toBe(200);
  });
});
