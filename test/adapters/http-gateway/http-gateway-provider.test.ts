import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChannelProvider, Submission } from '../../../src/application/ports/channel-provider.ts';
import { PROVIDER_RESPONSE_MEMBERS_MAX } from '../../../src/application/ports/provider-http.ts';
import type { SubmitResult } from '../../../src/domain/providers/submit-result.ts';
import { anSmsId, aPhoneNumber, aSubmission } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { submitAll } from '../../support/submit-all.ts';
import { exampleOf, gatewayOf, JSON_HEADING, QUERY_HEADING, type RawSettings } from './gateway-example.ts';
import { CREDENTIALS, JSON_DIALECT, QUERY_DIALECT, StandInGateway } from './stand-in-gateway.ts';
import { type Beast, ZooGateway } from './zoo-gateway.ts';

/** The deadline of requests that nobody responds to. */
const SOON_MS = 300;

/** A response with an id, and so many members in all: two lists or objects, and a comma between each two members. */
const withMembers = (members: number): string => `{"id":"a1","more":[1${',1'.repeat(members - 3)}]}`;

const opened: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

function opening<Thing extends { close(): Promise<unknown> }>(thing: Thing): Thing {
  opened.push(thing);
  return thing;
}

function providerOf(settings: RawSettings, timeoutMs?: number): ChannelProvider {
  return opening(gatewayOf(settings, timeoutMs).provider);
}

async function submitOne(provider: ChannelProvider, given: Partial<Submission> = {}): Promise<SubmitResult> {
  const result = await provider.submit(aSubmission(given));
  if (result === undefined) throw new Error('The provider gave no result');
  return result;
}

describe('the HTTP gateway provider with the JSON example of the page', () => {
  let gateway: StandInGateway;
  let provider: ChannelProvider;

  beforeEach(async () => {
    gateway = opening(await StandInGateway.open(JSON_DIALECT));
    provider = providerOf(exampleOf(JSON_HEADING, gateway.origin));
  });

  it('the provider sends each placeholder in its place', async () => {
    const text = 'سڵاو "quoted" \\ {text} \n😀';
    const submission = { text, senderId: 'Shop', attemptTimeoutMs: 45_900, attemptNumber: 2 };
    expect(await submitOne(provider, submission)).toMatchObject({ kind: 'accepted' });
    const [request] = gateway.requests;
    expect(JSON.parse(request?.body ?? '')).toEqual({
      recipient: '+9647712345678',
      sender: 'Shop',
      text,
      reference: `${anSmsId()}-2`,
      validity: 45,
    });
    expect(request?.headers.authorization).toBe('Bearer bearer-token-1');
  });

  it('the provider sends the default sender for a message that names none', async () => {
    await submitOne(provider, { senderId: null });
    expect(gateway.carried).toMatchObject([{ from: 'Barid' }]);
  });

  it('the provider asks for a validity of one second at least', async () => {
    await submitOne(provider, { attemptTimeoutMs: 200 });
    expect(JSON.parse(gateway.requests[0]?.body ?? '')).toMatchObject({ validity: 1 });
  });

  it('the provider names an id for each part of a long message', async () => {
    const result = await submitOne(provider, { text: 'x'.repeat(400) });
    expect(result.kind === 'accepted' && new Set(result.providerMessageIds).size).toBe(3);
  });

  it('the provider rejects what an entry of errors fits, with the reason of the gateway', async () => {
    expect(await submitOne(provider, { phoneNumber: aPhoneNumber('9647712340006') })).toEqual({
      kind: 'rejected',
      reason: 'The gateway rejects the message: HTTP 400: The number is blocked',
      endsChain: false,
    });
  });

  it('the provider submits a batch at once, and gives the results in their order', async () => {
    const submissions = Array.from({ length: 100 }, (_, index) =>
      aSubmission({
        smsId: anSmsId(index),
        phoneNumber: aPhoneNumber(index % 2 === 0 ? '9647712340006' : '9647712340001'),
      }),
    );
    const results = await submitAll(provider, submissions);
    expect(results.map(({ kind }) => kind)).toEqual(
      submissions.map((_, index) => (index % 2 === 0 ? 'rejected' : 'accepted')),
    );
    expect(gateway.carried).toHaveLength(100);
  });

  it('a check asks the gateway and sends no message', async () => {
    expect(await provider.check()).toEqual({ ok: true, detail: 'responded to the check with HTTP 200' });
    expect(gateway.requests.map(({ method, url }) => [method, url.pathname])).toEqual([
      ['GET', '/v1/account'],
    ]);
    expect(gateway.carried).toEqual([]);
  });

  it('a check says when the credentials are wrong', async () => {
    const settings = exampleOf(JSON_HEADING, gateway.origin);
    const other = { ...settings, check: { url: `${gateway.origin}/v1/account` } };
    expect(await providerOf(other).check()).toEqual({
      ok: false,
      detail: 'responded to the check with HTTP 401',
    });
  });

  it('a check says when the gateway cannot be reached', async () => {
    const { origin } = gateway;
    opened.splice(opened.indexOf(gateway), 1);
    await gateway.close();
    expect(await providerOf(exampleOf(JSON_HEADING, origin)).check()).toEqual({
      ok: false,
      detail: 'cannot be reached: The connection failed: ECONNREFUSED',
    });
  });
});

describe('the HTTP gateway provider with the query example of the page', () => {
  let gateway: StandInGateway;
  let provider: ChannelProvider;

  beforeEach(async () => {
    gateway = opening(await StandInGateway.open(QUERY_DIALECT));
    provider = providerOf(exampleOf(QUERY_HEADING, gateway.origin));
  });

  it('the provider percent-encodes texts and credentials', async () => {
    const text = '100% & +1 = سڵاو\n#😀';
    expect(await submitOne(provider, { text, senderId: 'A&B' })).toMatchObject({ kind: 'accepted' });
    const [request] = gateway.requests;
    expect(request?.url.search).toContain('password=p%26ss%20word%2B1');
    expect(request?.url.search).toContain('msg=100%25%20%26%20%2B1%20%3D%20');
    expect(gateway.carried).toEqual([
      { to: '9647712345678', from: 'A&B', text, reference: `${anSmsId()}-0` },
    ]);
  });

  it('the provider leaves a sender out that there is not', async () => {
    await submitOne(provider);
    expect(gateway.requests[0]?.url.searchParams.has('from')).toBe(false);
  });

  it.each([
    ['Hello @€', '0'],
    ['Hello ê', '8'],
  ])('the provider tells the encoding of %s', async (text, coding) => {
    await submitOne(provider, { text });
    expect(gateway.requests[0]?.url.searchParams.get('coding')).toBe(coding);
  });

  it('the provider names one id for all parts of a long message', async () => {
    const result = await submitOne(provider, { text: 'x'.repeat(400) });
    expect(result.kind === 'accepted' && result.providerMessageIds.length).toBe(1);
  });

  it('the provider rejects what an entry of errors fits', async () => {
    expect(await submitOne(provider, { phoneNumber: aPhoneNumber('9647712340006') })).toEqual({
      kind: 'rejected',
      reason: 'The gateway rejects the message: HTTP 200: no such number',
      endsChain: false,
    });
  });

  it('a check without a request for it says so, and sends nothing', async () => {
    expect(await provider.check()).toEqual({
      ok: true,
      isUntried: true,
      detail: 'its settings have no check request, so the first message tells whether it works',
    });
    expect(gateway.requests).toEqual([]);
  });
});

const BUSY = { kind: 'rejected', endsChain: false, cause: 'busy' };
const SENDER = { kind: 'rejected', endsChain: false, cause: 'sender' };
const MESSAGE = { kind: 'rejected', endsChain: false };
const UNKNOWN = { kind: 'unknown', providerMessageIds: [] };
const accepted = (...providerMessageIds: readonly string[]) => ({ kind: 'accepted', providerMessageIds });
const ok = (body: string): Beast => ({ status: 200, body });

describe('the gateway zoo', () => {
  const json = {
    request: { method: 'POST', json: { to: '{to}', text: '{text}' } },
    success: { id: '/id' },
    errors: [
      { path: '/code', equals: [1, 'ONE'], class: 'busy', reason: '/why' },
      { path: '/code', equals: 2, class: 'sender' },
      { path: '/code', equals: 3, class: 'ends-chain' },
      { status: [410, 422], class: 'message' },
      { status: 503, path: '/retry', class: 'busy' },
      { path: '/code', matches: '^9', class: 'message' },
    ],
  };

  async function submitTo(beast: Beast, given: RawSettings = {}, timeoutMs?: number) {
    const zoo = opening(await ZooGateway.open(beast));
    const { request, ...rest } = { ...json, ...given };
    const provider = providerOf({ ...rest, request: { ...request, url: `${zoo.origin}/send` } }, timeoutMs);
    const result = await submitOne(provider);
    return { result, health: provider.health(), requests: zoo.requests() };
  }

  it.each<[name: string, beast: Beast, expected: object, isHealthy: boolean]>([
    ['an id', ok('{"id":"a1"}'), accepted('a1'), true],
    ['an id that is a number', ok('{"id":42}'), accepted('42'), true],
    [
      'an id that is a very long number',
      ok('{"id":12345678901234567890}'),
      accepted('12345678901234567890'),
      true,
    ],
    ['an id with blanks around it', ok('{"id":" a1\\n"}'), accepted('a1'), true],
    ['an id of the greatest length', ok(`{"id":"${'x'.repeat(128)}"}`), accepted('x'.repeat(128)), true],
    ['an id that is too long', ok(`{"id":"${'x'.repeat(129)}"}`), UNKNOWN, true],
    ['an id with a blank in it', ok('{"id":"a 1"}'), UNKNOWN, true],
    ['an empty id', ok('{"id":""}'), UNKNOWN, true],
    ['an id that is a list', ok('{"id":["a1"]}'), UNKNOWN, true],
    ['an id that is a fraction', ok('{"id":1.5}'), UNKNOWN, true],
    ['no id', ok('{}'), UNKNOWN, true],
    ['a list', ok('[1]'), UNKNOWN, true],
    ['null', ok('null'), UNKNOWN, true],
    ['an empty body', ok(''), UNKNOWN, true],
    ['malformed JSON', ok('{"id":"a1"'), UNKNOWN, true],
    ['HTML', ok('<html>Welcome</html>'), UNKNOWN, true],
    ['JSON with a byte order mark', ok('\uFEFF{"id":"a1"}'), accepted('a1'), true],
    ['deeply nested JSON', ok(`${'['.repeat(30_000)}${']'.repeat(30_000)}`), UNKNOWN, true],
    ['as many members as are read', ok(withMembers(PROVIDER_RESPONSE_MEMBERS_MAX)), accepted('a1'), true],
    ['a member more than are read', ok(withMembers(PROVIDER_RESPONSE_MEMBERS_MAX + 1)), UNKNOWN, true],
    ['members with special names', ok('{"__proto__":{"id":"a1"},"constructor":1}'), UNKNOWN, true],
    ['status 204', { status: 204 }, UNKNOWN, true],
    ['a redirect', { status: 301, headers: { location: '/other' } }, UNKNOWN, false],
    [
      'status 400',
      { status: 400, body: '{}' },
      { ...MESSAGE, reason: 'The gateway rejects the message: HTTP 400' },
      true,
    ],
    ['status 404 with HTML', { status: 404, body: '<html>' }, MESSAGE, true],
    ['status 408', { status: 408 }, UNKNOWN, true],
    ['status 409', { status: 409 }, UNKNOWN, true],
    ['status 425', { status: 425 }, UNKNOWN, true],
    [
      'status 401',
      { status: 401 },
      { ...BUSY, reason: 'The gateway rejects the credentials: HTTP 401' },
      false,
    ],
    ['status 403', { status: 403 }, BUSY, false],
    ['status 429', { status: 429, body: 'slow down' }, { ...BUSY, cause: 'throttled' }, false],
    ['status 500', { status: 500, body: '{"id":"a1"}' }, UNKNOWN, false],
    ['status 503', { status: 503 }, UNKNOWN, false],
    ['status 503 and a known error', { status: 503, body: '{"retry":true}' }, BUSY, false],
    ['a known status', { status: 410, body: '<html>' }, MESSAGE, true],
    [
      'a known error with status 200',
      ok('{"id":"a1","code":1,"why":"no credit"}'),
      { ...BUSY, reason: 'The gateway takes nothing now: HTTP 200: no credit' },
      true,
    ],
    ['a known error in another spelling', ok('{"code":"ONE"}'), BUSY, true],
    ['an error of the sender', { status: 400, body: '{"code":"2"}' }, SENDER, true],
    ['an error of all channels', { status: 400, body: '{"code":3}' }, { ...MESSAGE, endsChain: true }, true],
    ['an error that a pattern fits', { status: 500, body: '{"code":"987"}' }, MESSAGE, false],
    ['an error whose code is an object', { status: 500, body: '{"code":{}}' }, UNKNOWN, false],
    ['10 MB', { status: 200, body: `{"id":"${'x'.repeat(10_000_000)}"}` }, UNKNOWN, false],
    ['a reset', 'reset', UNKNOWN, false],
    ['a response that breaks off', 'break-off', UNKNOWN, false],
  ])('a response with %s is read as it should be', async (_, beast, expected, isHealthy) => {
    const { result, health, requests } = await submitTo(beast);
    expect(result).toMatchObject(expected);
    expect('cause' in result).toBe('cause' in expected);
    expect(health).toMatchObject({ ok: isHealthy, detail: expect.stringMatching(/./) });
    expect(requests).toBe(1);
  });

  it.each([
    ['by itself', [], 0],
    ['of one sender or number', [{ status: 429, class: 'limited' }], undefined],
    ['that is none of the account', [{ status: 429, class: 'busy' }], undefined],
  ])(
    'after a 429 %s the gateway takes as many more of the project as it should',
    async (_, errors, ofRate) => {
      const zoo = opening(await ZooGateway.open({ status: 429, body: '{}' }));
      const request = { ...json.request, url: `${zoo.origin}/send` };
      const provider = providerOf({ ...json, request, errors });
      await submitOne(provider);
      const { projectId } = aSubmission();
      expect(provider.capacity({ priority: 'code', projectId }).ofRate).toBe(ofRate);
    },
  );

  it('a response that does not come is unknown after the deadline', async () => {
    const { result, health } = await submitTo('silence', {}, SOON_MS);
    expect(result).toEqual({
      kind: 'unknown',
      reason: `The gateway did not respond: No response within ${SOON_MS} ms`,
      providerMessageIds: [],
    });
    expect(health).toEqual({
      ok: false,
      detail: `the last request got no response: No response within ${SOON_MS} ms`,
    });
  });

  it('a gateway that is away is busy, and its health recovers with the next response', async () => {
    const zoo = await ZooGateway.open(ok('{"id":"a1"}'));
    const { port } = zoo;
    const provider = providerOf({ ...json, request: { ...json.request, url: `${zoo.origin}/send` } });
    expect(provider.health()).toEqual({ ok: true, detail: 'not used since the start' });
    await zoo.close();
    expect(await submitOne(provider)).toEqual({
      ...BUSY,
      reason: 'The gateway cannot be reached: The connection failed: ECONNREFUSED',
    });
    expect(provider.health()).toEqual({
      ok: false,
      detail: 'cannot be reached: The connection failed: ECONNREFUSED',
    });
    opening(await ZooGateway.open(ok('{"id":"a1"}'), port));
    expect(await submitOne(provider)).toEqual(accepted('a1'));
    expect(provider.health()).toEqual({ ok: true, detail: 'the last response had HTTP 200' });
  });

  it('a gateway that does not take the credentials is in the log, once a minute', async () => {
    const zoo = opening(await ZooGateway.open({ status: 403 }));
    const logger = new RecordingLogger();
    const settings = { ...json, request: { ...json.request, url: `${zoo.origin}/send` } };
    const { provider } = gatewayOf(settings, undefined, logger);
    await submitOne(provider);
    await submitOne(provider);
    await provider.close();
    expect(logger.entries).toEqual([
      {
        level: 'warn',
        event: 'provider_credentials_rejected',
        fields: { provider: 'gateway', count: 1, code: 403 },
      },
    ]);
  });

  it('a closed provider rejects messages as busy', async () => {
    const zoo = opening(await ZooGateway.open(ok('{"id":"a1"}')));
    const provider = providerOf({ ...json, request: { ...json.request, url: `${zoo.origin}/send` } });
    await provider.close();
    expect(await submitOne(provider)).toMatchObject(BUSY);
    expect(zoo.requests()).toBe(0);
  });

  it.each<[name: string, success: object, body: string, expected: object]>([
    ['the value of success', { path: '/ok', values: [true], id: '/id' }, '{"ok":true,"id":1}', accepted('1')],
    ['another value', { path: '/ok', values: [true], id: '/id' }, '{"ok":false,"id":1}', UNKNOWN],
    ['a value that is there', { path: '/ok', id: '/id' }, '{"ok":"x","id":1}', accepted('1')],
    ['a value that is null', { path: '/ok', id: '/id' }, '{"ok":null,"id":1}', UNKNOWN],
    [
      'a member with a hyphen',
      { id: '/messages/0/message-id' },
      '{"messages":[{"message-id":"b"}]}',
      accepted('b'),
    ],
    ['a member with a slash', { id: '/a~1b' }, '{"a/b":"c"}', accepted('c')],
    ['a list of ids', { ids: { items: '/ids' } }, '{"ids":[1,"b"]}', accepted('1', 'b')],
    ['a list at the top', { ids: { items: '', id: '/id' } }, '[{"id":1},{"id":2}]', accepted('1', '2')],
    ['an id twice', { ids: { items: '/ids' } }, '{"ids":["a","a"]}', accepted('a')],
    ['an empty list', { ids: { items: '/ids' } }, '{"ids":[]}', UNKNOWN],
    ['an object in place of a list', { ids: { items: '/ids' } }, '{"ids":{"a":1}}', UNKNOWN],
    [
      'one id that cannot be read',
      { ids: { items: '/ids' } },
      '{"ids":["a",{}]}',
      { kind: 'unknown', providerMessageIds: ['a'] },
    ],
    [
      'more ids than parts',
      { ids: { items: '/ids' } },
      JSON.stringify({ ids: Array.from({ length: 256 }, (_, i) => i) }),
      { kind: 'unknown' },
    ],
    ['ids in a text', { ids: { path: '/ids', separator: ',' } }, '{"ids":"a, b,"}', accepted('a', 'b')],
    ['an empty text of ids', { ids: { path: '/ids', separator: ',' } }, '{"ids":""}', UNKNOWN],
    ['a status of its own', { status: [200], path: '/ok', id: '/ok' }, '{"ok":7}', accepted('7')],
    ['no id at all', {}, '{"anything":1}', accepted(`${anSmsId()}-0`)],
  ])('a response with %s is read as success says', async (_, success, body, expected) => {
    const { result } = await submitTo(ok(body), { success });
    expect(result).toMatchObject(expected);
  });

  it.each<[name: string, beast: Beast]>([
    ['a page of HTML', ok('<html>Welcome</html>')],
    ['a reset', 'reset'],
    ['HTTP 502', { status: 502, body: 'bad gateway' }],
  ])('a receipt is expected under our own id after %s, where success names no id', async (_, beast) => {
    const { result } = await submitTo(beast, { success: {}, errors: [] });
    expect(result).toMatchObject({ kind: 'unknown', providerMessageIds: [`${anSmsId()}-0`] });
  });

  it('a long response of many escapes and long numbers is read', async () => {
    const body = `{"text":"${'\\n\\"'.repeat(15_000)}","other":1234567890123456789,"id":9876543210987654321}`;
    expect((await submitTo(ok(body))).result).toEqual(accepted('9876543210987654321'));
  });

  it('a reply with a number of more than a thousand digits is not read', async () => {
    const reply = (digits: number) => ok(`{"id":"7","other":${'7'.repeat(digits)}}`);
    expect((await submitTo(reply(1_000))).result).toEqual(accepted('7'));
    expect((await submitTo(reply(1_001))).result).toMatchObject({ kind: 'unknown' });
  });

  it('a success with another status than the listed ones is unknown', async () => {
    const { result } = await submitTo(
      { status: 201, body: '{"id":"a1"}' },
      { success: { status: [200], id: '/id' } },
    );
    expect(result).toMatchObject(UNKNOWN);
  });

  it.each<[name: string, body: string, expected: object]>([
    ['an id', 'ID:77\r\n', accepted('77')],
    ['an error', 'ERR:LOGIN', BUSY],
    ['an error that no entry knows', 'ERR:OTHER', UNKNOWN],
    ['HTML', '<html>', UNKNOWN],
    ['an id behind 4 KiB', `${' '.repeat(10)}x${'y'.repeat(5_000)}ID:77`, UNKNOWN],
    ['an endless line', `ID:${'7'.repeat(1_000_000)}`, UNKNOWN],
  ])('a plain text with %s is read by the pattern', async (_, body, expected) => {
    const { result } = await submitTo(ok(body), {
      reply: { format: 'text', pattern: '(?:ID:(?<id>\\d+)|ERR:(?<error>\\w+))$' },
      errors: [{ path: '/error', equals: 'LOGIN', class: 'busy' }],
    });
    expect(result).toMatchObject(expected);
  });
});

describe('the requests of the HTTP gateway provider', () => {
  const TO = { to: '{to}' };

  async function requestWith(
    request: RawSettings,
    submission: Partial<Submission> = {},
    rest: RawSettings = {},
  ) {
    const zoo = opening(await ZooGateway.open(ok('{"id":"a1"}')));
    const url = `${zoo.origin}${request.url ?? '/'}`;
    const secrets = { KEY: { env: 'GATEWAY_PASSWORD' } };
    const provider = providerOf({ secrets, success: { id: '/id' }, ...rest, request: { ...request, url } });
    expect(await submitOne(provider, submission)).toEqual(accepted('a1'));
    return zoo.last();
  }

  it('a form is percent-encoded, with its own content type', async () => {
    const form = { to: '{+to}', 'te xt': '{text}', key: '{secret:KEY}', fixed: 'a&b {{x}}' };
    const { body, headers } = await requestWith({ method: 'POST', form }, { text: 'ä & +' });
    expect(body).toBe(
      'to=%2B9647712345678&te%20xt=%C3%A4%20%26%20%2B&key=p%26ss%20word%2B1&fixed=a%26b%20%7Bx%7D',
    );
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
  });

  it('a body of text holds the placeholders as they are', async () => {
    const headers = { 'Content-Type': 'text/xml' };
    const seen = await requestWith(
      { method: 'POST', headers, query: TO, text: '<m>{text}</m>' },
      { text: 'ä' },
    );
    expect([seen.body, seen.headers['content-type']]).toEqual(['<m>ä</m>', 'text/xml']);
  });

  it('placeholders of the URL are percent-encoded, and the query is appended', async () => {
    const url = '/x/{id}/{secret:KEY}?a={text}';
    const { url: seen } = await requestWith(
      { method: 'GET', url, query: { to: '{to}' } },
      { text: '&b=1#/..' },
    );
    expect(seen).toBe(`/x/${anSmsId()}-0/p%26ss%20word%2B1?a=%26b%3D1%23%2F..&to=9647712345678`);
  });

  it('basic authentication is made of its parts', async () => {
    const basic = { user: 'barid', password: '{secret:KEY}' };
    const { headers } = await requestWith({ method: 'POST', basic, query: TO, text: '{text}' });
    expect(headers.authorization).toBe(`Basic ${btoa(`barid:${CREDENTIALS.GATEWAY_PASSWORD}`)}`);
  });

  it('a header holds no line break of a message', async () => {
    const { headers } = await requestWith(
      { method: 'POST', headers: { 'X-From': 'a{from}', 'X-None': '{from}' }, query: TO, text: '{text}' },
      { senderId: 'B\r\nX-Evil: 1\u0000é\u0640' },
    );
    expect(headers).toMatchObject({ 'x-from': 'aB  X-Evil: 1 é' });
    expect(headers['x-evil']).toBeUndefined();
  });

  it('a JSON body keeps its shape, its numbers and its order', async () => {
    const json = {
      recipients: [{ msisdn: '{#to}' }, '{from}'],
      sender: '{from}',
      label: 'from {from}',
      parts: '{#parts}',
      class: 1,
      flash: false,
      nothing: null,
      unicode: '{#encoding}',
      'key {to}': '{{to}}',
    };
    const { body } = await requestWith(
      { method: 'POST', json, query: { m: '{text}' } },
      {},
      { encodings: { gsm7: false, ucs2: true } },
    );
    expect(body).toBe(
      '{"recipients":[{"msisdn":9647712345678}],"label":"from ","parts":1,"class":1,"flash":false,"nothing":null,"unicode":false,"key {to}":"{to}"}',
    );
  });

  it('a lone surrogate in a text becomes a replacement character', async () => {
    const { url } = await requestWith({ method: 'GET', query: { m: '{text}', ...TO } }, { text: 'a\uD800b' });
    expect(url).toBe('/?m=a%EF%BF%BDb&to=9647712345678');
  });
});
