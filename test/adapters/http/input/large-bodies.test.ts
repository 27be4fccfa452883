import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { RECIPIENT_BODY_BYTES_MAX, SMALL_BODY_BYTES_MAX } from '../../../../src/adapters/http/limits.ts';
import { usualEnvelope } from '../../../../src/adapters/http/replies/http-error.ts';
import { ok } from '../../../../src/adapters/http/replies/http-reply.ts';
import { anyone } from '../../../../src/adapters/http/routing/admission.ts';
import type { RequestPermit } from '../../../../src/adapters/http/routing/request-permit.ts';
import { route } from '../../../../src/adapters/http/routing/route.ts';
import { until } from '../../../support/until.ts';
import { HttpWorld } from '../http-world.ts';

let world: HttpWorld;
/** How many numbers a schema has checked. */
let checked: number;

const numbers = z.array(
  z.number().refine((each) => {
    checked += 1;
    return each > 0;
  }),
);

const sum = route({
  method: 'post',
  path: '/sums',
  operationId: 'sum',
  summary: 'Add numbers',
  description: 'For a test',
  admission: anyone,
  bodyBytesMax: RECIPIENT_BODY_BYTES_MAX,
  body: z.object({ numbers, note: z.string().optional() }),
  ok: { description: 'The sum', schema: z.object({ sum: z.number() }) },
  rejections: { 400: { description: 'Not well formed' } },
  handle: async ({ body }) => ok({ sum: body.numbers.reduce((total, each) => total + each, 0) }),
});

beforeEach(async () => {
  checked = 0;
  const tag = { name: 'Test', description: 'For a test' };
  world = await new HttpWorld({ families: [{ tag, envelope: usualEnvelope, routes: [sum] }] }).open();
});
afterEach(() => world.close());

it('a body is not checked before the project may compute', async () => {
  const request = Object.assign(Readable.from([JSON.stringify({ numbers: [1, 2] })]), {
    headers: { 'content-type': 'application/json' },
  });
  let go = (): void => undefined;
  const asked: number[] = [];
  const permit = {
    projectId: null,
    suspend() {},
    resume() {},
    waitToParse(bytes: number) {
      asked.push(bytes);
      return new Promise<void>((resolve) => {
        go = resolve;
      });
    },
  };
  const served = sum.serve(request as never, {} as never, {}, permit as unknown as RequestPermit);
  await until(() => asked.length === 1);
  expect([asked, checked]).toEqual([['{"numbers":[1,2]}'.length], 0]);
  go();
  await served;
  expect(checked).toBe(2);
});

const note = 'a'.repeat(SMALL_BODY_BYTES_MAX);

it('a large body that is wrong is validated once', async () => {
  const reply = await world.post('/sums', { numbers: [1, 2, -3, -4, 5], note });
  expect([reply.status, reply.body, checked]).toEqual([400, { error: 'numbers[2] is not valid' }, 5]);
});

it('a large body that is right is validated once', async () => {
  const reply = await world.post('/sums', { numbers: [1, 2, 3], note });
  expect([reply.status, reply.body, checked]).toEqual([200, { sum: 6 }, 3]);
});

it.each([
  ['a small', undefined],
  ['a large', note],
])('%s body is told what is wrong at which path', async (_, given) => {
  const reply = await world.post('/sums', { numbers: [1, '2'], note: given });
  expect([reply.status, reply.body]).toEqual([400, { error: 'numbers[1] must be of the type number' }]);
});
