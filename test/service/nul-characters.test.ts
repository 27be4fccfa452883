import { expect, it } from 'vitest';
import type { OpenApi } from '../../src/adapters/http/openapi/open-api.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { operationsOf } from '../generated/operations.ts';
import { ADMIN_TOKEN } from '../support/admin.ts';
import { startService } from '../support/running-service.ts';
import { seedWith } from '../support/seeds.ts';

const NUL = '%00';

/** Cursors of every form that a list has, with NUL in each text. */
const CURSORS = [
  ['\0'],
  [0, '\0'],
  ['\0', 0, 'x', null],
  ['x', 0, '\0', null],
  ['\0', null, 1, 1],
  [null, '\0', 1, 1],
].map((place) => Buffer.from(JSON.stringify(place)).toString('base64url'));

const start = () => startService({ adminToken: ADMIN_TOKEN, seed: seedWith({ rateLimit: null }) });

/** One request for each path and query parameter of each operation, which has NUL in it. */
async function requestsOf(service: Harness, documentPath: string, apiKey: string) {
  const document = (await service.request(documentPath, { apiKey })).body as OpenApi;
  return operationsOf(document).flatMap(({ path, method, body, parameters }) => {
    const plain = path.replace(/\{project\}/, 'demo').replace(/\{\w+\}/g, 'x');
    const targets = parameters.flatMap((parameter) => {
      const { name } = parameter;
      if (parameter.in === 'path') return [path.replace(`{${name}}`, NUL).replace(/\{\w+\}/g, 'demo')];
      if (parameter.in !== 'query') return [];
      return (name === 'cursor' ? CURSORS : [NUL]).map((value) => `${plain}?${name}=${value}`);
    });
    return targets.map((target) => ({ target, method, apiKey, body: body === null ? undefined : {} }));
  });
}

it.each([
  ['customers', '/openapi.json', DEMO_API_KEY],
  ['operators', '/admin/openapi.json', ADMIN_TOKEN],
])(
  'every request of %s with NUL in its path, its query or its cursor is rejected',
  async (_, document, key) => {
    const service = await start();
    const requests = await requestsOf(service, document, key);
    expect(requests.length).toBeGreaterThan(10);
    for (const { target, ...request } of requests) {
      const { status } = await service.request(target, request);
      expect([request.method, target, status]).toEqual([
        request.method,
        target,
        expect.toSatisfy((each: number) => each >= 400 && each < 500),
      ]);
    }
  },
);

it('a query with NUL is told which field has it', async () => {
  const service = await start();
  for (const [path, name] of [
    ['dead-letter-jobs?reason=%00', 'reason'],
    ['audit?project=a%00', 'project'],
  ] as const) {
    expect(await service.request(`/admin/${path}`, { apiKey: ADMIN_TOKEN })).toMatchObject({
      status: 400,
      body: { error: `${name} must not contain NUL or half of a surrogate pair` },
    });
  }
});
