import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import type { OpenApi, Operation } from '../../src/adapters/http/openapi/open-api.ts';
import { startHarness } from '../../src/bootstrap/harness/harness.ts';
import { ROOT } from '../support/markdown.ts';

type Json = Readonly<Record<string, unknown>>;

const DOCUMENT = 'urn:barid:openapi';
/** Keywords of OpenAPI that JSON Schema does not have. */
const KEYWORDS = ['discriminator', 'x-enum-descriptions'];

let openApi: OpenApi;
let ajv: Ajv2020;
beforeAll(async () => {
  const harness = await startHarness();
  openApi = (await harness.request('/openapi.json', { apiKey: null })).body as OpenApi;
  await harness.close();
  ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  formats.default(ajv);
  for (const keyword of [
    'openapi',
    'info',
    'servers',
    'tags',
    'paths',
    'webhooks',
    'components',
    ...KEYWORDS,
  ])
    ajv.addKeyword(keyword);
  ajv.addKeyword('x-replies-without-operation');
  ajv.addSchema({ ...openApi, $id: DOCUMENT });
});

const operations = (): readonly (readonly [string, Operation])[] =>
  Object.entries({ ...openApi.paths, ...openApi.webhooks }).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
  );

/** What a reference leads to, with what stands beside it; the value itself when it is none. */
function resolved(value: unknown): Json {
  const { $ref, ...beside } = Object(value) as Json;
  if (typeof $ref !== 'string') return Object(value) as Json;
  let target: unknown = openApi;
  for (const part of $ref.replace('#/', '').split('/')) target = Object(target)[part];
  return { ...resolved(target), ...beside };
}

/** Every object of the document with its place, the inside of examples left out. */
function objectsIn(value: unknown, place = '#'): readonly (readonly [string, Json])[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value)
    .filter(([name, member]) => !isExamples(name, member))
    .flatMap(([name, member]) => objectsIn(member, `${place}/${name}`));
  return [[place, value as Json], ...inner];
}

/** Whether a member holds values, and not descriptions of them; a field may have the name `example`. */
function isExamples(name: string, member: unknown): boolean {
  return (name === 'example' || name === 'examples') && !Object.hasOwn(Object(member), 'description');
}

/** What is said about a field: by itself, by what it refers to, or by the alternative that is not null. */
function said(field: unknown, keyword: 'description' | 'examples'): unknown {
  const schema = resolved(field);
  if (schema[keyword] !== undefined) return schema[keyword];
  const [first] = (schema.anyOf ?? schema.oneOf ?? []) as readonly unknown[];
  return first === undefined ? undefined : said(first, keyword);
}

/** Whether a field has an example: its own, or those of everything in it. */
function hasExample(field: unknown): boolean {
  const { const: constant, properties, items, anyOf, oneOf } = resolved(field);
  const [first] = (anyOf ?? oneOf ?? []) as readonly unknown[];
  if (said(field, 'examples') !== undefined || constant !== undefined) return true;
  if (properties !== undefined) return Object.values(Object(properties)).every(hasExample);
  return first !== undefined ? hasExample(first) : items !== undefined && hasExample(items);
}

/** Every field of every schema, with its place. */
function fields(): readonly (readonly [string, unknown])[] {
  return objectsIn({
    paths: openApi.paths,
    webhooks: openApi.webhooks,
    components: openApi.components,
  }).flatMap(([place, { properties }]) =>
    Object.entries(Object(properties)).map(([name, field]) => [`${place}/${name}`, field] as const),
  );
}

/** Every media type object and header with a schema, with its place. */
function contents(): readonly (readonly [string, Json])[] {
  return objectsIn(openApi).filter(([, { schema }]) => schema !== undefined);
}

function validate(schema: unknown, value: unknown): string {
  const check = ajv.compile(located(schema) as Json);
  return check(value) ? 'valid' : ajv.errorsText(check.errors);
}

function located(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(located);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === '$ref' ? DOCUMENT + value : located(value)]),
  );
}

describe('docs/openapi.json', () => {
  it('docs/openapi.json is the document that the service serves, and npm run openapi renews it', () => {
    const committed = readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8');
    expect(
      committed === `${JSON.stringify(openApi, null, 2)}\n` ? 'up to date' : 'run: npm run openapi',
    ).toBe('up to date');
  });

  it('the document describes every operation and webhook: its id is unique, its tag is declared', () => {
    expect(operations().length).toBeGreaterThan(20);
    const ids = operations().map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = (openApi.tags as readonly Json[]).map(({ name }) => name);
    for (const [name, { summary, description, tags: own }] of operations()) {
      expect([name, typeof summary, typeof description]).toEqual([name, 'string', 'string']);
      expect([name, summary, description]).not.toContain('');
      expect(tags).toEqual(expect.arrayContaining(own as string[]));
    }
  });

  it('the document describes every parameter and header with an example', () => {
    const described = objectsIn(openApi).filter(([, { schema, in: place, required }]) => {
      return schema !== undefined && (place !== undefined || required !== undefined);
    });
    expect(described.length).toBeGreaterThan(30);
    const poor = described.filter(
      ([, { description, example, schema }]) =>
        !description || (example === undefined && !said(schema, 'examples')),
    );
    expect(poor.map(([place]) => place)).toEqual([]);
  });

  it('the document describes every field of every request, reply and event with an example', () => {
    expect(fields().length).toBeGreaterThan(150);
    const ofMethods = '/AllowedMethods/';
    const poor = fields().filter(([, field]) => !said(field, 'description') || !hasExample(field));
    expect(poor.map(([place]) => place).filter((place) => !place.includes(ofMethods))).toEqual([]);
  });

  it('the document has an example of every request, reply and event that is JSON', () => {
    const json = objectsIn(openApi).flatMap(([place, { content }]) => {
      const body = Object(content)['application/json'];
      return body === undefined ? [] : [[place, body] as const];
    });
    expect(json.length).toBeGreaterThan(50);
    const without = json.filter(
      ([, { example, examples }]) => example === undefined && examples === undefined,
    );
    expect(without.map(([place]) => place)).toEqual([]);
  });

  it('the document has only examples that fit their schemas', () => {
    const found = contents().flatMap(([place, { schema, example, examples }]) => [
      ...(example === undefined ? [] : [[place, validate(schema, example)]]),
      ...Object.entries(Object(examples)).map(([name, named]) => [
        `${place}/${name}`,
        validate(schema, Object(named).value),
      ]),
    ]);
    const ofSchemas = objectsIn(openApi).flatMap(([place, schema]) =>
      (Array.isArray(schema.examples) ? schema.examples : []).map((value) => [
        place,
        validate(schema, value),
      ]),
    );
    expect(found.length).toBeGreaterThan(100);
    expect(ofSchemas.length).toBeGreaterThan(100);
    expect([...found, ...ofSchemas].filter(([, result]) => result !== 'valid')).toEqual([]);
  });
});
