import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { httpGatewayKind } from '../../../src/bootstrap/providers/http-gateway.ts';
import {
  exampleOf,
  JSON_HEADING,
  mistakesIn,
  QUERY_HEADING,
  type RawSettings,
} from '../../adapters/http-gateway/gateway-example.ts';
import { codeBlocks, Page, tables, unquoted } from '../../support/markdown.ts';

/** A file of several lines that every checkout has. */
const SEVERAL_LINES = fileURLToPath(new URL('../../../tsconfig.json', import.meta.url));
const ORIGIN = 'https://gateway.example';
const REQUEST = { method: 'POST', url: `${ORIGIN}/send`, json: { to: '{to}', text: '{text}' } };
const SOUND = { request: REQUEST, success: { id: '/id' } };

const withRequest = (request: object): RawSettings => ({ ...SOUND, request: { ...REQUEST, ...request } });
const withoutBody = { ...SOUND, request: { method: 'GET', url: ORIGIN } };
const asked = (request: object): RawSettings => ({
  ...SOUND,
  request: { ...withoutBody.request, ...request },
});
const RECEIPTS = {
  authorization: { query: 'k', value: '{secret:KEY}' },
  method: 'POST',
  from: 'json',
  id: '/id',
  status: '/s',
  states: {},
};
const withReceipts = (receipts: object): RawSettings => ({
  ...SOUND,
  secrets: { KEY: { env: 'GATEWAY_TOKEN' } },
  receipts: { ...RECEIPTS, ...receipts },
});

describe('the settings of an HTTP gateway', () => {
  it.each([JSON_HEADING, QUERY_HEADING])('the example under %s has no mistake', (heading) => {
    expect(mistakesIn(exampleOf(heading, ORIGIN))).toEqual([]);
  });

  it('the page has two examples in JSON, and both are tried', () => {
    expect(codeBlocks(new Page('docs/sms-over-http.md').text, 'json')).toHaveLength(2);
  });

  it('an HTTP gateway carries sms alone', () => {
    expect(httpGatewayKind.channels).toEqual(['sms']);
  });

  it.each<[RawSettings, string]>([
    [withRequest({ json: { to: '{too}' } }), 'request.json.to: {too} is no placeholder'],
    [withRequest({ json: [['{#text}']] }), 'request.json.0.0: {#text} cannot stand here'],
    [withRequest({ json: 'a {' }), 'request.json: a brace that opens no placeholder is written twice'],
    [withRequest({ json: 'a }' }), 'request.json: a brace that opens no placeholder is written twice'],
    [withRequest({ json: '{secret:KEY}' }), 'request.json: {secret:KEY} names no entry of secrets'],
    [withRequest({ json: '{}' }), 'request.json: {} is no placeholder'],
    [withRequest({ headers: { 'X-Text': '{text}' } }), 'request.headers.X-Text: {text} cannot stand here'],
    [withRequest({ headers: { 'X Y': 'a' } }), 'request.headers.X Y: is no header that a request can set'],
    [withRequest({ headers: { Host: 'a' } }), 'request.headers.Host: is no header that a request can set'],
    [
      withRequest({ headers: { 'X-From': '{from}', 'X-Place': 'بغداد' } }),
      'request.headers.X-Place: has a character, or a credential with one, that a header cannot hold',
    ],
    [
      {
        ...withRequest({ headers: { Authorization: 'Bearer {secret:KEY}' } }),
        secrets: { KEY: { file: SEVERAL_LINES } },
      },
      'request.headers.Authorization: has a character, or a credential with one, that a header cannot hold',
    ],
    [withRequest({ basic: { user: 'a', password: '{to}' } }), 'request.basic: {to} cannot stand here'],
    [withRequest({ basic: { user: 'a:b', password: 'c' } }), 'request.basic: a user name has no colon'],
    [withRequest({ form: {} }), 'request: has one body: json and form are two'],
    [withRequest({ method: 'GET' }), 'request.json: a GET request has no body'],
    [withRequest({ method: 'PUT' }), 'request.method: Invalid option: expected one of "GET"|"POST"'],
    [withRequest({ jsn: {} }), 'request: Unrecognized key: "jsn"'],
    [asked({ query: { a: '{x}' } }), 'request.query.a: {x} is no placeholder'],
    [asked({ url: `${ORIGIN}/{text}` }), 'request.url: {text} cannot stand here'],
    [asked({ url: `${ORIGIN}/{from}` }), 'request.url: {from} cannot stand here'],
    ...[
      'https://{to}.example/',
      'https://user:password@gateway.example/',
      'https://gateway.example/#a',
      'ftp://gateway.example/',
      'gateway.example/send',
      'https://gateway.example/a b',
      'https:///send',
    ].map((url): [RawSettings, string] => [
      asked({ url }),
      'request.url: must be an http or https URL, without credentials, fragment or placeholders in its host',
    ]),
    [asked({ url: 'https://gateway.example:99999/' }), 'request.url: must be a URL'],
    [{ ...SOUND, success: { id: 'id' } }, 'success.id: a path is a JSON pointer, which begins with /'],
    [{ ...SOUND, success: { id: '/a', ids: { items: '/b' } } }, 'success: has id or ids, and not both'],
    [{ ...SOUND, success: { values: ['a'] } }, 'success.values: needs a path'],
    [
      { ...SOUND, success: { ids: { items: 'b' } } },
      'success.ids.items: a path is a JSON pointer, which begins with /',
    ],
    [{ ...SOUND, errors: [{ class: 'busy' }] }, 'errors.0: needs a status or a path'],
    [
      { ...SOUND, errors: [{ status: 400, equals: 1, class: 'busy' }] },
      'errors.0: compares nothing without a path',
    ],
    [
      { ...SOUND, errors: [{ path: '/a', matches: '(a)\\1', class: 'busy' }] },
      'errors.0.matches: the pattern is no regular expression of RE2: invalid escape sequence: `\\1`',
    ],
    [
      { ...SOUND, reply: { format: 'text', pattern: '(' } },
      'reply.pattern: the pattern is no regular expression of RE2: missing closing ): `(`',
    ],
    [withReceipts({ id: 'id' }), 'receipts.id: a path is a JSON pointer, which begins with /'],
    [withReceipts({ method: 'GET' }), 'receipts.from: a GET request has a query and no body'],
    [withReceipts({ from: 'form', items: '/a' }), 'receipts.items: only JSON holds a list'],
    [
      withReceipts({ authorization: { query: 'k', value: 'open' } }),
      'receipts.authorization.value: names no entry of secrets',
    ],
    [
      withReceipts({ authorization: { query: 'k', value: '{secret:NONE}' } }),
      'receipts.authorization.value: {secret:NONE} names no entry of secrets',
    ],
    [
      withReceipts({ authorization: 'none' }),
      'receipts.authorization: must be { "query", "value" }, { "header", "value" }, { "basic" } or { "hmac" }',
    ],
    [
      withReceipts({
        method: 'GET',
        from: 'query',
        authorization: { hmac: { header: 'X', algorithm: 'sha256', secret: '{secret:KEY}', over: 'body' } },
      }),
      'receipts.authorization.hmac.over: a GET request has no body to sign',
    ],
    [
      withReceipts({
        method: 'POST',
        from: 'query',
        authorization: { hmac: { header: 'X', algorithm: 'sha256', secret: '{secret:KEY}', over: 'body' } },
      }),
      'receipts.authorization.hmac.over: a signature of the body proves nothing of the query',
    ],
    [
      { ...withReceipts({}), success: {} },
      'success: needs id or ids: without them receipts come under {id}, which the request lacks',
    ],
    [{ ...SOUND, check: { url: `${ORIGIN}/{to}` } }, 'check.url: {to} cannot stand here'],
    [{ ...SOUND, secrets: { KEY: 'plain' } }, 'secrets.KEY: must be { "env": "NAME" } or { "file": "PATH" }'],
    [withRequest({ json: { text: '{text}' } }), 'request: needs {to} or {+to}: nobody would get the message'],
    [
      withRequest({ json: { to: '{#to}', text: '{{text}}' } }),
      'request: needs {text}: the message would be empty',
    ],
  ])('the settings %j have one mistake', (settings, mistake) => {
    expect(mistakesIn(settings)).toEqual([mistake]);
  });

  it('settings name the mistakes of all their parts, also when one of them has another shape', () => {
    const settings = {
      secrets: { KEY: { env: 'NOT_SET' }, TOKEN: 'plain' },
      senderID: 'Barid',
      request: { ...REQUEST, json: { to: '{too}', key: '{secret:KEY}', text: '{secret:NONE}' } },
      success: { id: 'x' },
      errors: [{ class: 'away' }],
      receipts: {
        ...RECEIPTS,
        from: 'form',
        items: '/a',
        authorization: { query: 'k', value: '{secret:TOKEN}' },
      },
      check: { url: 'nowhere' },
    };
    expect(mistakesIn(settings).toSorted()).toEqual([
      ': Unrecognized key: "senderID"',
      'check.url: must be an http or https URL, without credentials, fragment or placeholders in its host',
      'errors.0.class: Invalid option: expected one of "busy"|"throttled"|"limited"|"sender"|"message"|"ends-chain"',
      'receipts.items: only JSON holds a list',
      'request.json.text: {secret:NONE} names no entry of secrets',
      'request.json.to: {too} is no placeholder',
      'secrets.KEY: the variable NOT_SET is not set',
      'secrets.TOKEN: must be { "env": "NAME" } or { "file": "PATH" }',
      'success.id: a path is a JSON pointer, which begins with /',
    ]);
  });

  it('settings with several mistakes name all of them', () => {
    const settings = { ...withRequest({ json: ['{a}', '{b}'] }), success: { id: 'x' } };
    expect(mistakesIn(settings)).toEqual([
      'request.json.0: {a} is no placeholder',
      'request.json.1: {b} is no placeholder',
      'success.id: a path is a JSON pointer, which begins with /',
    ]);
  });

  it('the page lists every setting, placeholder and class', () => {
    const [settings, placeholders, classes] = tables(new Page('docs/sms-over-http.md').text).map((rows) =>
      rows.map(([name]) => unquoted(name)),
    );
    expect(settings).toEqual([
      'secrets',
      'senderId',
      'encodings',
      'request',
      'reply',
      'success',
      'errors',
      'receipts',
      'check',
    ]);
    expect(placeholders).toEqual([
      '{to}',
      '{+to}',
      '{text}',
      '{from}',
      '{id}',
      '{parts}',
      '{encoding}',
      '{validitySeconds}',
      '{secret:NAME}',
    ]);
    expect(classes).toEqual(['busy', 'throttled', 'limited', 'sender', 'message', 'ends-chain']);
  });
});
