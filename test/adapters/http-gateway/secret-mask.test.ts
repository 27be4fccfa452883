import { expect, it } from 'vitest';
import { receiptReader } from '../../../src/adapters/http-gateway/gateway-receipts.ts';
import { responseReader } from '../../../src/adapters/http-gateway/gateway-response.ts';
import { secretMask } from '../../../src/adapters/http-gateway/template.ts';

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
  ['no such number', 'no such number'],
])('the mask makes of the text %j the text %j', (text, masked) => {
  expect(secretMask(SECRETS)(text)).toBe(masked);
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
  const content = read(
    { method: 'GET', query, headers: {}, body: Buffer.alloc(0) },
    (key, [text]) => `${key.text}${text}`,
  );
  expect(content).toMatchObject({
    events: [{ receipt: { receipt: { kind: 'failed', reason: 'The gateway reports *** ***' } } }],
  });
});
