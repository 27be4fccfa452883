import { describe, expect, it } from 'vitest';
import { receiptReader } from '../../../src/adapters/http-gateway/gateway-receipts.ts';
import { responseReader } from '../../../src/adapters/http-gateway/gateway-response.ts';
import { PATTERN_INPUT_CHARACTERS_MAX } from '../../../src/adapters/http-gateway/linear-pattern.ts';
import { reasonMask } from '../../../src/domain/shared/secret-mask.ts';

const SECRETS = new Map([
  ['PASSWORD', 'p@ss word'],
  ['LONGER', 'p@ss word and more'],
  ['EMPTY', ''],
]);

const noMistake = (path: readonly PropertyKey[], message: string): void => {
  throw new Error(`${path.join('.')}: ${message}`);
};

it.each([
  ['p@ss word', '***'],
  ['user=barid&password=p%40ss%20word&to=1', 'user=barid&password=***&to=1'],
  ['p@ss word and more, p@ss word', '***, ***'],
  ['password=p%40ss%20word%20and%20more, p\\u0040ss word', 'password=***, ***'],
  [
    `Authorization: Basic ${Buffer.from('barid:p@ss word').toString('base64')}`,
    'Authorization: Basic YmFyaWQ6***',
  ],
  ['no such number', 'no such number'],
])('the mask makes of the text %j the text %j', (text, masked) => {
  expect(reasonMask(SECRETS.values())(text)).toBe(masked);
});

it('the reason of a response never quotes a credential, also where it is cut', () => {
  const read = responseReader(
    {
      reply: { format: 'json' },
      success: {},
      errors: [{ path: '/error', class: 'message', reason: '/text' }],
    },
    SECRETS,
    noMistake,
  );
  const rejection = (text: string) => {
    const result = read({ kind: 'responded', status: 400, body: JSON.stringify({ error: 1, text }) }, 'id');
    return result.kind === 'rejected' ? result.reason : result.kind;
  };
  expect(rejection('no user with p@ss word')).toBe(
    'The gateway rejects the message: HTTP 400: no user with ***',
  );
  expect(rejection(`${'x'.repeat(450)}p@ss word`)).toMatch(/x[*]+$/);
});

describe('a response that a pattern reads', () => {
  const PATTERN = '(?s)^(?:OK (?<id>\\S+)|.*?ERR (?<error>\\d+) (?<text>.*))';
  const read = (body: string, pattern = PATTERN) =>
    responseReader(
      {
        reply: { format: 'text', pattern },
        success: { id: '/id' },
        errors: [{ path: '/error', class: 'message', reason: '/text' }],
      },
      SECRETS,
      noMistake,
    )({ kind: 'responded', status: 200, body }, 'id');
  const reasonOf = (body: string, pattern?: string) => {
    const result = read(body, pattern);
    return result.kind === 'rejected' ? result.reason : result.kind;
  };

  it.each(['p@ss word', 'p%40ss%20word', 'p%40ss+word'])(
    'no piece of a credential shows where a pattern cuts the text within it: %s',
    (echoed) => {
      for (let cut = 0; cut <= echoed.length; cut += 1) {
        const before = `ERR 7 bad request ${'x'.repeat(PATTERN_INPUT_CHARACTERS_MAX)}`;
        const body = before.slice(0, PATTERN_INPUT_CHARACTERS_MAX - cut) + echoed;
        expect(reasonOf(`\n${body} and more`), `cut ${cut}`).toMatch(/bad request x+\**$/);
      }
    },
  );

  it('no piece of a credential shows where a pattern takes a part of the text', () => {
    const pattern = '^ERR (?<error>\\d+) (?<text>.{0,20})';
    expect(reasonOf('ERR 7 wrong: user=p@ss word', pattern)).toMatch(/HTTP 200: wrong: user=\*\*\*$/);
  });

  it('an id stays as the gateway gave it, also with a credential in it', () => {
    expect(read('OK 1-p@ss')).toEqual({ kind: 'accepted', providerMessageIds: ['1-p@ss'] });
    expect(reasonOf('ERR 7 p@ss word', '^ERR (?<error>\\d+) p@ss (?<text>.*)')).toMatch(/no reason$/);
  });
});

it('the reason of a receipt never quotes a credential', async () => {
  const read = receiptReader(
    {
      authorization: { query: 'token', value: '{secret:PASSWORD}' },
      method: 'GET',
      from: 'query',
      id: '/id',
      status: '/status',
      states: { 'p@ss word': 'failed' },
      reason: '/err',
    },
    SECRETS,
    noMistake,
  );
  const query = new URLSearchParams({
    token: 'p@ss word',
    id: 'a1',
    status: 'p@ss word',
    err: 'p%40ss%20word',
  });
  const content = await read(
    { method: 'GET', query, headers: {}, body: Buffer.alloc(0) },
    (key, [text]) => `${key.text}${text}`,
  );
  expect(content).toMatchObject({
    events: [{ receipt: { receipt: { kind: 'failed', reason: 'The gateway reports *** ***' } } }],
  });
});
