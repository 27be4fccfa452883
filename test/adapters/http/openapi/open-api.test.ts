import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { ResponseWriter } from '../../../../src/adapters/http/openapi/open-api-components.ts';
import { SchemaWriter } from '../../../../src/adapters/http/openapi/schemas.ts';
import { errorCode } from '../../../../src/adapters/http/replies/error-bodies.ts';
import type { ErrorEnvelope } from '../../../../src/adapters/http/replies/http-error.ts';
import { HttpWorld } from '../http-world.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

let world: HttpWorld;
beforeEach(async () => {
  world = await new HttpWorld().open();
});
afterEach(() => world.close());

const operations = () =>
  Object.entries(world.http.openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

/** Every value under every key of that name, however deep. */
function valuesOf(key: string, value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(name === key ? [member] : []),
    ...valuesOf(key, member),
  ]);
}

/** What a JSON pointer of the document leads to. */
function pointedAt(reference: string): unknown {
  let value: unknown = world.http.openApi;
  for (const part of reference.replace('#/', '').split('/')) value = Object(value)[part];
  return value;
}

describe('GET /openapi.json', () => {
  it('serves the document without a key', async () => {
    const reply = await world.call('GET', '/api/openapi.json', { keyless: true });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual(JSON.parse(JSON.stringify(world.http.openApi)));
  });

  it('serves an OpenAPI 3.1 document of version 1.0.0', () => {
    expect(world.http.openApi.openapi).toMatch(/^3\.1\.[0-9]+$/);
    expect(world.http.openApi.info).toMatchObject({ title: 'Barid', version: '1.0.0' });
    expect(world.http.openApi.servers).toEqual([{ url: '/' }, { url: '/api' }]);
  });

  it('documents every route', () => {
    expect(operations().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'post /sms',
      'get /sms/track/{smsId}',
      'get /info',
      'get /sender-ids',
      'get /international-sms-pricing',
      'get /whatsapp/resources',
      'get /healthz',
      'get /readyz',
      'get /version',
      'get /openapi.json',
      'get /docs',
      'get /docs/swagger-ui.css',
      'get /docs/swagger-ui-bundle.js',
    ]);
  });

  it('documents operations in the shape that the standard wants', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, method, operation } of operations()) {
      expect(METHODS).toContain(method);
      expect(path).toMatch(/^(\/([a-z.-]+|\{[A-Za-z]+\}))+$/);
      const parameters = (operation.parameters ?? []) as { name: string; in: string; required: boolean }[];
      const inPath = parameters.filter((parameter) => parameter.in === 'path');
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{[A-Za-z]+\}/g) ?? []);
      expect(inPath.every(({ required }) => required)).toBe(true);
      expect(Object.keys(operation.responses)).toContain('200');
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[1-5][0-9]{2}$/);
        expect(valuesOf('description', response).concat(valuesOf('$ref', response)).length).toBeGreaterThan(
          0,
        );
      }
    }
  });

  it('contains no reference that leads nowhere', () => {
    const references = valuesOf('$ref', world.http.openApi);
    expect(references.length).toBeGreaterThan(20);
    for (const reference of references)
      expect([reference, pointedAt(String(reference))]).not.toContain(undefined);
  });

  it('contains schemas that are strict JSON Schema 2020-12', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
    formats.default(ajv);
    // Keywords of OpenAPI that JSON Schema does not have.
    for (const keyword of ['discriminator', 'x-enum-descriptions', 'components']) ajv.addKeyword(keyword);
    const { components } = world.http.openApi;
    const schemas = valuesOf('schema', world.http.openApi);
    expect(schemas.length).toBeGreaterThan(30);
    for (const schema of schemas) expect(() => ajv.compile({ ...Object(schema), components })).not.toThrow();
  });

  it('documents keys and rejections of every route that needs a key', () => {
    for (const { path, operation } of operations()) {
      const isOpen = /^\/(?:healthz|readyz|version|openapi\.json|docs)/.test(path);
      expect(operation.security).toEqual(isOpen ? [] : [{ projectKey: [] }]);
      const statuses = Object.keys(operation.responses);
      expect(statuses).toEqual(expect.arrayContaining(isOpen ? ['500'] : ['401', '403', '500']));
      expect(statuses.includes('415')).toBe(operation.requestBody !== undefined);
      expect(statuses.includes('503')).toBe(path !== '/healthz');
    }
    expect(Object.keys(world.http.openApi.paths['/sms']?.post?.responses ?? {})).toEqual([
      '200',
      '400',
      '401',
      '403',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
    ]);
  });
});

describe('the documented request body', () => {
  const VALID = { phoneNumber: '9647701234567', smsType: 'custom', customMessage: 'Hello' };

  test.each<[unknown, boolean]>([
    [VALID, true],
    [{ ...VALID, deliveryReport: { webhookUrl: 'https://example.com/x' } }, true],
    [{ ...VALID, provider: null, deliveryReport: null, whatsappAccountId: null }, true],
    [{ ...VALID, deliveryReport: { webhookUrl: 'https://example.com/x', webhookSecret: null } }, true],
    [{ ...VALID, customMessage: null }, false],
    [{ ...VALID, phoneNumber: '1' }, false],
    [{ ...VALID, smsType: 'verification' }, false],
    [{ ...VALID, provider: 'pigeon' }, false],
    [{ ...VALID, deliveryReport: { webhookUrl: 'http://example.com/x' } }, false],
    [{ phoneNumber: '9647701234567', smsType: 'whatsapp-template', templateName: 't' }, false],
  ])('the document and the service agree about the request body %j', async (body, accepted) => {
    const requestBody = world.http.openApi.paths['/sms']?.post?.requestBody;
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    const [schema] = valuesOf('schema', requestBody);
    const { components } = world.http.openApi;
    expect(ajv.validate({ ...Object(schema), components }, body)).toBe(accepted);
    expect((await world.post('/sms', body)).status).toBe(accepted ? 200 : 400);
  });
});

test('the schema of an error without a name describes the texts of a nested envelope as any text, and what is constant as it is', () => {
  const envelope: ErrorEnvelope = ({ text, code }) => ({
    success: false,
    error: { message: text, code, retryable: false },
  });
  const writer = new ResponseWriter(new SchemaWriter(), [], errorCode);
  expect(writer.errorBody({ status: 404, code: 'not-found', text: 'Not found' }, envelope)).toEqual({
    type: 'object',
    required: ['success', 'error'],
    properties: {
      success: { const: false },
      error: {
        type: 'object',
        required: ['message', 'code', 'retryable'],
        properties: {
          message: { type: 'string' },
          code: { type: 'string' },
          retryable: { const: false },
        },
      },
    },
  });
});
