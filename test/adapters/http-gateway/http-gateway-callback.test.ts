import { createHmac } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RECEIPTS_MAX } from '../../../src/adapters/http-gateway/gateway-receipts.ts';
import type {
  CallbackContent,
  CallbackRequest,
  ProviderCallback,
} from '../../../src/application/ports/provider-callback.ts';
import type { DeliveryReceipt } from '../../../src/domain/providers/delivery-receipt.ts';
import { roundsDuring } from '../../support/rounds-during.ts';
import { exampleOf, gatewayOf, JSON_HEADING, QUERY_HEADING, type RawSettings } from './gateway-example.ts';
import { aCallback, CREDENTIALS, queryReceipt, signedReceipts } from './stand-in-gateway.ts';

const ORIGIN = 'https://gateway.example';

function callbackOf(settings: RawSettings): ProviderCallback {
  const { callback } = gatewayOf(settings);
  if (callback === null) throw new Error('The settings have no receipts');
  return callback;
}

const event = (providerMessageId: string, receipt: DeliveryReceipt) => ({
  kind: 'receipt',
  receipt: { channel: 'sms', providerMessageId, receipt },
});
const delivered = (id: string) => event(id, { kind: 'delivered' });
const failed = (id: string, reason: string) => event(id, { kind: 'failed', reason });
const events = (found: readonly object[], malformed = 0) => ({ kind: 'events', events: found, malformed });

describe('the callback of the JSON example of the page', () => {
  const callback = callbackOf(exampleOf(JSON_HEADING, ORIGIN));
  const read = (receipts: unknown): Promise<CallbackContent> => callback.read(signedReceipts({ receipts }));

  it('the callback reads every receipt of a request, in their order', async () => {
    const receipts = [
      { id: 'a2', state: 'UNDELIVERED', error: 'absent' },
      { id: 'a1', state: 'SENT' },
      { id: 'a1', state: 'DELIVERED' },
    ];
    expect(await read(receipts)).toEqual(
      events([
        failed('a2', 'The gateway reports UNDELIVERED absent'),
        event('a1', { kind: 'sent' }),
        delivered('a1'),
      ]),
    );
  });

  it('the callback reads doubled and reversed receipts as they come', async () => {
    const receipts = [
      { id: 'a1', state: 'DELIVERED' },
      { id: 'a1', state: 'SENT' },
      { id: 'a1', state: 'DELIVERED' },
    ];
    expect(await read(receipts)).toEqual(
      events([delivered('a1'), event('a1', { kind: 'sent' }), delivered('a1')]),
    );
  });

  it.each([
    [RECEIPTS_MAX, 'events'],
    [RECEIPTS_MAX + 1, 'unreadable'],
  ])('the callback reads at most so many receipts of one request: of %i', async (count, kind) => {
    const content = await read(Array.from({ length: count }, () => ({ id: 'a1', state: 'DELIVERED' })));
    expect(content.kind).toBe(kind);
    const problem = 'A request has at most 10000 receipts';
    if (content.kind === 'unreadable') expect(content.problem).toBe(problem);
    else expect(content).toMatchObject({ events: { length: count }, malformed: 0 });
  });

  it('other work runs while the callback reads thousands of receipts', async () => {
    // Each question about the time takes a millisecond.
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => ++now);
    onTestFinished(() => void vi.restoreAllMocks());
    const receipts = Array.from({ length: 1_000 }, () => ({ id: 'a1', state: 'DELIVERED' }));
    expect(await roundsDuring(() => read(receipts))).toBeGreaterThan(300);
  });

  it('a malformed receipt spoils no other one', async () => {
    const malformed = [
      { state: 'DELIVERED' },
      { id: '', state: 'DELIVERED' },
      { id: 'x'.repeat(129), state: 'DELIVERED' },
      { id: 'a\n1', state: 'DELIVERED' },
      { id: 1.5, state: 'DELIVERED' },
      { id: { a: 1 }, state: 'DELIVERED' },
      { id: 'a1' },
      { id: 'a1', state: 'EXPLODED' },
      { id: 'a1', state: 'constructor' },
      { id: 'a1', state: ['DELIVERED'] },
      null,
      'DELIVERED',
      [],
    ];
    expect(await read([...malformed, { id: 'a1', state: 'DELIVERED' }])).toEqual(
      events([delivered('a1')], malformed.length),
    );
  });

  it('a state that says nothing new is no event, and not malformed', async () => {
    expect(await read([{ id: 'a1', state: 'QUEUED' }])).toEqual(events([]));
  });

  it('an id that is a number is the same as in a submit result', async () => {
    expect(
      await callback.read(signedReceipts('{"receipts":[{"id":12345678901234567890,"state":"SENT"}]}')),
    ).toEqual(events([event('12345678901234567890', { kind: 'sent' })]));
  });

  it.each<[string, CallbackRequest]>([
    ['no signature', aCallback({ body: Buffer.from('{"receipts":[]}') })],
    ['a signature of another key', signedReceipts({ receipts: [] }, 'other')],
    ['another body', { ...signedReceipts({ receipts: [] }), body: Buffer.from('{"receipts":[ ]}') }],
    ['a signature without its prefix', withHeader((value) => value.replace('sha256=', ''))],
    ['a signature of another algorithm', withHeader((value) => value.replace('sha256=', 'sha512='))],
    ['a signature that is cut', withHeader((value) => value.slice(0, -1))],
    ['a signature with more behind it', withHeader((value) => `${value}0`)],
    ['an empty signature', withHeader(() => 'sha256=')],
    ['two signatures', withHeader((value) => [value, value])],
  ])('a request with %s is forged', async (_, request) => {
    expect(await callback.read(request)).toEqual({ kind: 'forged' });
  });

  it('a signature in capital letters is good', async () => {
    const request = withHeader((value) => `sha256=${value.slice('sha256='.length).toUpperCase()}`);
    expect(await callback.read(request)).toEqual(events([]));
  });

  it.each<[string, CallbackRequest, string]>([
    ['no JSON', signedReceipts('<html>'), 'The body is no JSON'],
    ['an empty body', signedReceipts(''), 'The body is no JSON'],
    ['no list', signedReceipts('{"receipts":{}}'), 'The list of receipts is missing'],
    ['null', signedReceipts('null'), 'The list of receipts is missing'],
    ['the wrong method', { ...signedReceipts('{}'), method: 'GET' }, 'Receipts come by POST'],
  ])('a request of the gateway with %s is unreadable', async (_, request, problem) => {
    expect(await callback.read(request)).toEqual({ kind: 'unreadable', problem });
  });

  function withHeader(change: (value: string) => string | readonly string[]): CallbackRequest {
    const request = signedReceipts({ receipts: [] });
    return { ...request, headers: { 'x-signature': change(String(request.headers['x-signature'])) } };
  }
});

describe('the callback of the query example of the page', () => {
  const callback = callbackOf(exampleOf(QUERY_HEADING, ORIGIN));
  const token = CREDENTIALS.GATEWAY_CALLBACK_TOKEN;

  it('the callback reads one receipt of the query', async () => {
    expect(await callback.read(queryReceipt({ token, id: '7f3a01', status: 'UNDELIV', err: '27' }))).toEqual(
      events([failed('7f3a01', 'The gateway reports UNDELIV 27')]),
    );
  });

  it('a receipt without an id counts as malformed', async () => {
    expect(await callback.read(queryReceipt({ token, status: 'DELIVRD' }))).toEqual(events([], 1));
  });

  it.each<[string, CallbackRequest]>([
    ['no token', queryReceipt({ id: 'a', status: 'DELIVRD' })],
    ['an empty token', queryReceipt({ token: '', id: 'a', status: 'DELIVRD' })],
    ['another token', queryReceipt({ token: 'callback-token-2', id: 'a', status: 'DELIVRD' })],
    ['the beginning of the token', queryReceipt({ token: token.slice(0, -1), id: 'a', status: 'DELIVRD' })],
    [
      'two tokens',
      aCallback({
        method: 'GET',
        query: new URLSearchParams(`token=${token}&token=${token}&id=a&status=DELIVRD`),
      }),
    ],
  ])('a request with %s is forged', async (_, request) => {
    expect(await callback.read(request)).toEqual({ kind: 'forged' });
  });
});

describe('the other ways of receipts', () => {
  const settings = (receipts: object): RawSettings => ({
    secrets: { KEY: { env: 'GATEWAY_CALLBACK_TOKEN' } },
    request: { method: 'POST', url: ORIGIN, query: { to: '{to}' }, text: '{text}' },
    success: { id: '/id' },
    receipts: {
      method: 'POST',
      from: 'json',
      id: '/id',
      status: '/s',
      states: { 1: 'delivered' },
      ...receipts,
    },
  });
  const body = Buffer.from('{"id":"a","s":1}');
  const key = CREDENTIALS.GATEWAY_CALLBACK_TOKEN;

  it('a receipt may stand alone in JSON', async () => {
    const callback = callbackOf(
      settings({ authorization: { header: 'X-Token', value: 'Token {secret:KEY}' } }),
    );
    expect(await callback.read(aCallback({ headers: { 'x-token': `Token ${key}` }, body }))).toEqual(
      events([delivered('a')]),
    );
    expect(await callback.read(aCallback({ headers: { 'x-token': key }, body }))).toEqual({ kind: 'forged' });
    expect(await callback.read(aCallback({ body }))).toEqual({ kind: 'forged' });
  });

  it('a receipt may come as a form', async () => {
    const callback = callbackOf(
      settings({ authorization: { query: 'k', value: '{secret:KEY}' }, from: 'form', reason: '/why' }),
    );
    const form = Buffer.from('id=a+b&s=1&id=a&why=%F0%9F%98%80');
    expect(await callback.read(aCallback({ query: new URLSearchParams({ k: key }), body: form }))).toEqual(
      events([delivered('a')]),
    );
  });

  it('a receipt may come in the query of a request with another body', async () => {
    const callback = callbackOf(
      settings({ authorization: { query: 'k', value: '{secret:KEY}' }, from: 'query' }),
    );
    const query = new URLSearchParams({ k: key, id: 'a', s: '1' });
    expect(await callback.read(aCallback({ query, body: Buffer.from('x') }))).toEqual(
      events([delivered('a')]),
    );
  });

  it('a list may be the whole document', async () => {
    const callback = callbackOf(
      settings({ authorization: { query: 'k', value: '{secret:KEY}' }, items: '' }),
    );
    const list = Buffer.from('[{"id":"a","s":1},{"id":"b","s":true}]');
    expect(await callback.read(aCallback({ query: new URLSearchParams({ k: key }), body: list }))).toEqual(
      events([delivered('a')], 1),
    );
  });

  it.each([
    ['user and password', `Basic ${btoa(`barid:${key}`)}`, 'events'],
    ['a scheme in small letters', `basic ${btoa(`barid:${key}`)}`, 'events'],
    ['another user', `Basic ${btoa(`other:${key}`)}`, 'forged'],
    ['another password', `Basic ${btoa('barid:other')}`, 'forged'],
    ['another scheme', `Bearer ${btoa(`barid:${key}`)}`, 'forged'],
    ['no base64', 'Basic ???', 'forged'],
    ['nothing', undefined, 'forged'],
  ])('basic authentication is compared with %s', async (_, authorization, kind) => {
    const callback = callbackOf(
      settings({ authorization: { basic: { user: 'barid', password: '{secret:KEY}' } } }),
    );
    expect(await callback.read(aCallback({ headers: { authorization }, body }))).toMatchObject({ kind });
  });

  it('a signature may be in base64, where capital letters count', async () => {
    const hmac = {
      header: 'X-Sign',
      algorithm: 'sha256',
      secret: '{secret:KEY}',
      over: 'body',
      encoding: 'base64',
    };
    const callback = callbackOf(settings({ authorization: { hmac } }));
    const digest = createHmac('sha256', key).update(body).digest('base64');
    expect(await callback.read(aCallback({ headers: { 'x-sign': digest }, body }))).toEqual(
      events([delivered('a')]),
    );
    expect(await callback.read(aCallback({ headers: { 'x-sign': digest.toLowerCase() }, body }))).toEqual({
      kind: 'forged',
    });
  });

  it('a receipt under an id of ours names its attempt, and one under any other id names none', async () => {
    const smsId = 'sms-0123456789abcdef01234567';
    const authorization = { query: 'k', value: '{secret:KEY}' };
    const form = settings({ authorization, items: '' });
    const request = { method: 'POST', url: ORIGIN, query: { to: '{to}', ref: '{id}' }, text: '{text}' };
    const read = (given: RawSettings, ids: readonly string[]) =>
      callbackOf(given).read(
        aCallback({
          query: new URLSearchParams({ k: key }),
          body: Buffer.from(JSON.stringify(ids.map((id) => ({ id, s: 1 })))),
        }),
      );
    const named = (attemptNumber: number) => {
      const { kind, receipt } = delivered(`${smsId}-${attemptNumber}`);
      return { kind, receipt: { ...receipt, attempt: { smsId, attemptNumber } } };
    };
    const others = [
      smsId,
      `${smsId}-`,
      `${smsId}-10`,
      `${smsId}-+1`,
      `${smsId}-1.0`,
      `${smsId}--1`,
      `${smsId}-0-0`,
      `x${smsId}-0`,
      `${smsId.toUpperCase()}-0`,
      `${smsId}0-0`,
      '-0',
      '0',
    ];
    const ids = [`${smsId}-0`, ...others, ` ${smsId}-2\n`];
    expect(await read({ ...form, request, success: {} }, ids)).toEqual(
      events([named(0), ...others.map(delivered), named(2)]),
    );
    expect(await read({ ...form, request, success: { id: '/id' } }, [`${smsId}-0`])).toEqual(
      events([delivered(`${smsId}-0`)]),
    );
  });

  it('a gateway without receipts has no callback', () => {
    const { receipts, ...rest } = settings({});
    expect(receipts).toBeDefined();
    expect(gatewayOf(rest).callback).toBeNull();
  });
});
