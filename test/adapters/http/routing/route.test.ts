import { expect, test } from 'vitest';
import { z } from 'zod';
import { ok } from '../../../../src/adapters/http/replies/http-reply.ts';
import { anyone } from '../../../../src/adapters/http/routing/admission.ts';
import { route } from '../../../../src/adapters/http/routing/route.ts';

const declared = (path: string, params: z.ZodObject) =>
  route({
    method: 'get',
    path,
    operationId: 'readThing',
    summary: 'Read a thing',
    description: 'A thing.',
    params,
    admission: anyone,
    ok: { description: 'The thing', schema: z.object({}) },
    handle: async () => ok({}),
  });

test.each([
  ['one that it does not have', '/things/:id', { id: z.string(), other: z.string() }],
  ['another name', '/things/:id', { _id: z.string() }],
  ['none of its two', '/things/:id/parts/:part', {}],
  ['one on a path without any', '/things', { id: z.string() }],
])('a route that documents other parameters than those of its path is rejected: %s', (_name, path, shape) => {
  expect(() => declared(path, z.object(shape))).toThrow(`get ${path} documents each parameter of its path`);
});

test.each([
  ['/things', {}],
  ['/things/:id/parts/:part', { id: z.string(), part: z.string() }],
])('a route documents the parameters of its path: %s', (path, shape) => {
  expect(declared(path, z.object(shape)).params?.shape).toEqual(shape);
});
