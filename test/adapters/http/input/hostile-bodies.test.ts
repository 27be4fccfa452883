import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { parseJson } from '../../../../src/adapters/http/input/request-body.ts';
import { RECIPIENT_BODY_MEMBERS_MAX } from '../../../../src/adapters/http/limits.ts';
import { RequestRejected } from '../../../../src/adapters/http/replies/http-error.ts';
import { HttpWorld } from '../http-world.ts';

const VALID = '{"phoneNumber":"9647701234567","smsType":"verification","verificationCode":"123456"}';
const TEMPLATE_START =
  '{"phoneNumber":"9647701234567","smsType":"whatsapp-template","templateName":"t","whatsappAccountId":"a","whatsappPhoneId":"p"';
const MALFORMED = { error: 'The request body is not valid JSON' };
const NOT_UTF8 = { error: 'The request body is not valid UTF-8' };
const TOO_DEEP = { error: 'The request body is nested too deep' };
const TOO_MANY = { error: 'The request body has too many members' };
const MEDIA_TYPE = { message: 'The request body must be application/json in UTF-8, without compression' };

let world: HttpWorld;
beforeEach(async () => {
  world = await new HttpWorld().open();
});
afterEach(() => world.close());

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const members = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":"a,b"`).join(',')}}`;

describe('text that is not JSON', () => {
  test.each<[string, string | Buffer, object]>([
    ['nothing', '', MALFORMED],
    ['white space', '  \n ', MALFORMED],
    ['an unfinished object', '{"phoneNumber":', MALFORMED],
    ['single quotes', "{'phoneNumber':'9647701234567'}", MALFORMED],
    ['NaN', '{"phoneNumber":NaN}', MALFORMED],
    ['a raw NUL', '{"phoneNumber":"96477\u0000"}', MALFORMED],
    ['two values', `${VALID}${VALID}`, MALFORMED],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), NOT_UTF8],
    ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), NOT_UTF8],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), NOT_UTF8],
    ['UTF-16 with its mark', Buffer.from(`\uFEFF${VALID}`, 'utf16le'), NOT_UTF8],
    ['UTF-16 without a mark', Buffer.from(VALID, 'utf16le'), MALFORMED],
    ['33 nested arrays', nested(33), TOO_DEEP],
    ['15,000 nested arrays', nested(15_000), TOO_DEEP],
    ['15,000 opening brackets', '['.repeat(15_000), TOO_DEEP],
    ['nested objects', '{"a":'.repeat(5_000), TOO_DEEP],
    ['201 members of a flat object', members(201), TOO_MANY],
    [
      '201 members of a flat object that are as short as can be',
      `{${Array(201).fill('"":0').join(',')}}`,
      TOO_MANY,
    ],
    ['201 template parameters', `${TEMPLATE_START},"templateParameters":{"body":${members(201)}}}`, TOO_MANY],
    ['a list of 10,001 items', `{"a":[${'1,'.repeat(10_000)}1]}`, TOO_MANY],
    [
      '2,001 members in all',
      `${TEMPLATE_START},"templateParameters":{"buttons":{"1":${members(199)},"note":[${Array(10).fill(members(190)).join(',')}]}}}`,
      TOO_MANY,
    ],
    [
      'depth where parameters are',
      `${TEMPLATE_START},"templateParameters":{"body":${nested(40)}}}`,
      TOO_DEEP,
    ],
  ])('a body that is not JSON gets 400: %s', async (_name, body, expected) => {
    const reply = await world.postRaw('/sms', body);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(expected);
    expect(world.api.sent).toEqual([]);
  });

  it('a body of 45,000 nested arrays gets 413 because of its size', async () => {
    expect((await world.postRaw('/sms', nested(45_000))).status).toBe(413);
  });
});

it('a body has a limited number of members in all, however large it may be', () => {
  // The object, the list and each recipient, its parameters and their body count as a member, and so does each comma.
  const recipients = (values: number) => {
    const body = Object.fromEntries(Array.from({ length: values }, (_, at) => [at, 'x']));
    return JSON.stringify({ recipients: Array(1_000).fill({ templateParameters: { body } }) });
  };
  expect(parseJson(recipients(26), RECIPIENT_BODY_MEMBERS_MAX)).toHaveProperty('recipients.length', 1_000);
  expect(() => parseJson(recipients(28), RECIPIENT_BODY_MEMBERS_MAX)).toThrow(RequestRejected);
  expect(() => parseJson(recipients(1))).toThrow(RequestRejected);
});

describe('unusual text that is JSON', () => {
  const codeOf = async (body: string | Buffer) => {
    const reply = await world.postRaw('/sms', body);
    expect(reply.status).toBe(200);
    const content = world.api.sent[0]?.request.content;
    return content?.smsType === 'verification' ? content.verificationCode : null;
  };

  test.each<[string, string | Buffer]>([
    ['a byte order mark', `\uFEFF${VALID}`],
    ['brackets in strings', VALID.replace('}', `,"note":"${'['.repeat(100)}\\"${'{'.repeat(100)}"}`)],
    ['32 levels', VALID.replace('}', `,"note":${nested(31)}}`)],
    ['equal keys: the last one counts', VALID.replace('{', '{"verificationCode":"999999",')],
    [
      '__proto__ and constructor',
      VALID.replace('}', ',"__proto__":{"senderId":"Evil","admin":true},"constructor":1}'),
    ],
  ])('an unusual body that is JSON is accepted: %s', async (_name, body) => {
    expect(await codeOf(body)).toBe('123456');
    expect(world.api.sent[0]?.request.senderId).toBeNull();
    expect({}).not.toHaveProperty('admin');
  });

  it('takes nothing from __proto__ among template parameters', async () => {
    await world.postRaw(
      '/sms',
      `${TEMPLATE_START},"templateParameters":{"body":{"__proto__":{"1":"x"},"1":"Sara"}}}`,
    );
    const content = world.api.sent[0]?.request.content;
    const body = content?.smsType === 'whatsapp-template' ? content.templateParameters.body : undefined;
    expect(Object.getPrototypeOf(body ?? {})).toBe(Object.prototype);
    expect({ ...body }).toEqual({ 1: 'Sara' });
  });
});

describe('media types', () => {
  test.each([
    ['application/json', 200],
    ['Application/JSON; charset=UTF-8', 200],
    ['application/json;charset="utf-8"', 200],
    ['application/json;', 200],
    ['application/json; charset=utf-8; foo=bar', 200],
    ['application/json; foo="a;b\\"c"; charset=utf8', 200],
    ['application/json; charset=utf-8; charset=latin1', 415],
    ['application/json; foo', 415],
    ['application/json; foo="bar', 415],
    ['application/json, text/html', 415],
    [`application/json${'; '.repeat(7_000)}x`, 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=latin1', 415],
    ['application/jsonp', 415],
    ['', 415],
  ])('a body with Content-Type: %s gets %i', async (contentType, status) => {
    const reply = await world.postRaw('/sms', VALID, { 'content-type': contentType });
    expect(reply.status).toBe(status);
    if (status === 415) expect(reply.body).toEqual(MEDIA_TYPE);
  });

  it('a compressed body gets 415', async () => {
    for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'x-unknown']) {
      const reply = await world.postRaw('/sms', gzipSync(VALID), { 'content-encoding': encoding });
      expect(reply.status).toBe(415);
      expect(reply.headers['x-error-code']).toBe('unsupported-media-type');
    }
    expect((await world.postRaw('/sms', VALID, { 'content-encoding': 'identity' })).status).toBe(200);
  });
});

describe('size', () => {
  const sized = (bytes: number) => VALID.padEnd(bytes, ' ');

  it('a body may have 32 kB and not a byte more', async () => {
    expect((await world.postRaw('/sms', sized(32 * 1024))).status).toBe(200);
    const reply = await world.postRaw('/sms', sized(32 * 1024 + 1));
    expect(reply.status).toBe(413);
    expect(reply.body).toEqual({ message: 'The request body is too large' });
    expect(reply.headers['x-error-code']).toBe('body-too-large');
  });

  it('the key is checked before the size of the body', async () => {
    const reply = await world.call('POST', '/sms', { keyless: true, body: sized(100_000) });
    expect(reply.status).toBe(401);
  });

  it('the size of the body is checked before its media type', async () => {
    expect((await world.postRaw('/sms', sized(40_000), { 'content-type': 'text/plain' })).status).toBe(413);
  });
});
