import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { z } from 'zod';
import { type ErrorEnvelope, RequestRejected } from '../../../../src/adapters/http/replies/http-error.ts';
import { ok } from '../../../../src/adapters/http/replies/http-reply.ts';
import { projectKey } from '../../../../src/adapters/http/routing/admission.ts';
import { route } from '../../../../src/adapters/http/routing/route.ts';
import { Rejected } from '../../../../src/application/errors/rejected.ts';
import { HttpWorld } from '../http-world.ts';
import { MemoryApi } from '../memory-api.ts';

/** How campaigns reply with errors. */
const envelope: ErrorEnvelope = ({ text, details }) => ({ success: false, error: text, ...details });
const failure = (error: string) => ({ success: false, error });

let thrown: Error | null;
let world: HttpWorld;
let release: () => void;
let gate: Promise<void>;

const create = route({
  method: 'post',
  path: '/campaigns',
  operationId: 'createCampaign',
  summary: 'Create a campaign',
  description: 'For a test',
  admission: projectKey(new MemoryApi().authenticateProject),
  body: z.object({ name: z.string({ error: 'name is required' }) }),
  ok: { description: 'The campaign', schema: z.object({ success: z.boolean() }) },
  rejections: {
    400: { description: 'Not well formed' },
    404: { description: 'Something it names is not there' },
  },
  async handle() {
    await gate;
    if (thrown !== null) throw thrown;
    return ok({ success: true });
  },
});

beforeEach(async () => {
  thrown = null;
  gate = new Promise((resolve) => {
    release = resolve;
  });
  release();
  world = await new HttpWorld({
    families: [{ tag: { name: 'Test', description: 'For a test' }, envelope, routes: [create] }],
    limits: { requestsMax: 1 },
  }).open();
});
afterEach(() => world.close());

test.each<[status: number, error: string, change: () => Promise<{ status: number; body: unknown }>]>([
  [400, 'name is required', () => world.post('/campaigns', {})],
  [400, 'The request body is not valid JSON', () => world.postRaw('/campaigns', '{')],
  [
    401,
    'Unauthorized, please use your project api key',
    () => world.call('POST', '/campaigns', { keyless: true }),
  ],
  [413, 'The request body is too large', () => world.postRaw('/campaigns', 'x'.repeat(40_000))],
  [
    415,
    'The request body must be application/json in UTF-8, without compression',
    () => world.call('POST', '/campaigns', { body: '{}' }),
  ],
])('puts an error %i into the envelope of its family: %s', async (status, error, request) => {
  const reply = await request();
  expect(reply.status).toBe(status);
  expect(reply.body).toEqual(failure(error));
});

test.each<[status: number, error: string, thrownByTheHandler: Error]>([
  [
    404,
    'Campaign not found',
    new RequestRejected({ status: 404, code: 'not-found', text: 'Campaign not found' }),
  ],
  [404, 'SMS not found', new Rejected({ kind: 'message-not-found' })],
  [500, 'Internal server error', new Error('planted')],
])(
  'puts an error %i that a handler threw into the envelope of its family: %s',
  async (status, error, fault) => {
    thrown = fault;
    const reply = await world.post('/campaigns', { name: 'Eid' });
    expect(reply.status).toBe(status);
    expect(reply.body).toEqual(failure(error));
  },
);

it('keeps the further fields of an error in the envelope', async () => {
  thrown = new RequestRejected({
    status: 400,
    code: 'validation-failed',
    text: 'Unsupported numbers',
    details: { unsupportedPhoneNumbers: ['1'] },
  });
  // The document of this route does not promise them.
  const reply = await world.post('/campaigns', { name: 'Eid' });
  expect(reply.body).toEqual({ ...failure('Unsupported numbers'), unsupportedPhoneNumbers: ['1'] });
  world.undocumented.length = 0;
});

it('puts the 503 of an overloaded process into the envelope of the family', async () => {
  gate = new Promise((resolve) => {
    release = resolve;
  });
  const first = world.post('/campaigns', { name: 'Eid' });
  let second = await world.post('/campaigns', {});
  while (second.status !== 503) second = await world.post('/campaigns', {});
  expect(second.body).toEqual(failure('Too many requests are being served, try again shortly'));
  release();
  expect((await first).status).toBe(200);
});

it('leaves unknown paths to the usual envelope', async () => {
  expect((await world.call('GET', '/nothing')).body).toEqual({ message: 'Not found' });
});

it('puts the 405 of a path into the envelope of its family', async () => {
  const campaigns = await world.call('GET', '/campaigns');
  expect([campaigns.status, campaigns.body]).toEqual([405, failure('Method not allowed')]);
  const openApi = await world.call('POST', '/openapi.json');
  expect([openApi.status, openApi.body]).toEqual([405, { message: 'Method not allowed' }]);
});

it('documents the 405 in the envelopes of all families', () => {
  const bodies = [
    { $ref: '#/components/schemas/MessageBody' },
    { properties: { success: { const: false }, error: { type: 'string' } }, required: ['success', 'error'] },
  ];
  expect(world.http.openApi['x-replies-without-operation'].MethodNotAllowed).toMatchObject({
    content: { 'application/json': { schema: { anyOf: bodies } } },
  });
});

it('documents the errors of a route in the envelope of its family', () => {
  const responses = world.http.openApi.paths['/campaigns']?.post?.responses ?? {};
  const fields = { success: { const: false }, error: { type: 'string' } };
  for (const status of [400, 401, 403, 404, 413, 415, 500, 503]) {
    expect([status, responses[status]]).toMatchObject([
      status,
      { content: { 'application/json': { schema: { properties: fields } } } },
    ]);
  }
});
