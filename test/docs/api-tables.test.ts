import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { ERROR_CODE_MEANINGS, ERROR_CODES } from '../../src/adapters/http/replies/error-codes.ts';
import * as knownErrors from '../../src/adapters/http/replies/known-errors.ts';
import { startHarness } from '../../src/bootstrap/harness/harness.ts';
import { anchorOf, Page, ROOT, tables, unquoted } from '../support/markdown.ts';

/** A JSON schema, as far as the names of its fields go. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
}

interface Content {
  readonly content: { readonly 'application/json'?: { readonly schema: Schema } };
}

interface Operation {
  readonly summary: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

const page = new Page('docs/api.md');
const [endpointRows = [], , replyHeaderRows = []] = tables(page.section('## 4. Endpoints'));
const documented = endpointRows.map(([endpoint, summary = '', link = '']) => ({
  endpoint: unquoted(endpoint),
  summary,
  section: /^\[([0-9.]+)\]/.exec(link)?.[1] ?? '',
}));

let operations: ReadonlyMap<string, Operation>;
let replyHeaders: readonly string[];
let schemas: Readonly<Record<string, Schema>>;
beforeAll(async () => {
  const harness = await startHarness();
  const document = (await harness.request('/openapi.json')).body as {
    paths: Record<string, Record<string, Operation>>;
    components: { headers: Record<string, unknown>; schemas: Record<string, Schema> };
    'x-replies-without-operation': Record<string, { headers: Record<string, unknown> }>;
  };
  const { paths, components, 'x-replies-without-operation': others } = document;
  const ofOthers = Object.values(others).flatMap(({ headers }) => Object.keys(headers));
  replyHeaders = [...new Set([...Object.keys(components.headers), ...ofOthers])];
  schemas = components.schemas;
  await harness.close();
  operations = new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
    ),
  );
});

/** The link to a file, and what providers sign in their own ways. */
const KEYLESS_SECTIONS = ['4.19', '4.20', '4.21'];

describe('the endpoints of docs/api.md', () => {
  it('docs/api.md lists the endpoints that are served, with their summaries', () => {
    const served = [...operations].map(([endpoint, { summary }]) => [endpoint, summary]);
    expect(documented.map(({ endpoint, summary }) => [endpoint, summary]).sort()).toEqual(served.sort());
  });

  it('docs/api.md lists every header of a reply', () => {
    expect(replyHeaderRows.map(([name]) => unquoted(name)).sort()).toEqual([...replyHeaders].sort());
  });

  it('every endpoint needs a key unless it is in section 10 the link to a file, or a callback', () => {
    const open = documented
      .filter(({ section }) => section.startsWith('10.') || KEYLESS_SECTIONS.includes(section))
      .map(({ endpoint }) => endpoint);
    const served = [...operations].filter(([, { security }]) => security.length === 0).map(([name]) => name);
    expect(open.sort()).toEqual(served.sort());
  });

  test.each(documented.map(({ endpoint, section }) => [endpoint, section] as const))(
    '%s has the fields that section %s lists',
    (endpoint, section) => {
      const { parameters = [], requestBody, responses } = operations.get(endpoint) as Operation;
      const text = textOf(section);
      const queried = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
      expect(listed(text, 'Query').sort()).toEqual(queried.sort());
      expect(listed(text, 'Request body').sort()).toEqual(fieldsIn(requestBody).sort());
      expect(listed(text, 'Reply 200').sort()).toEqual(fieldsIn(responses['200']).sort());
    },
  );
});

describe('the errors of docs/api.md', () => {
  const [rows = []] = tables(page.section('## 7. Errors'));

  it('docs/api.md lists every word of X-Error-Code, in order', () => {
    expect(rows.map(([code]) => unquoted(code))).toEqual([...ERROR_CODES]);
  });

  it('the error table says what each word means, as the code does', () => {
    const meanings = rows.map(([code, , when = '']) => [
      unquoted(code),
      when.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1'),
    ]);
    expect(Object.fromEntries(meanings)).toEqual(ERROR_CODE_MEANINGS);
  });

  it('the error table has the statuses of the code', () => {
    const constants = Object.values(knownErrors).filter((value) => typeof value === 'object');
    expect(constants.length).toBeGreaterThan(8);
    const statuses = new Map(rows.map(([code, status]) => [unquoted(code), Number(status)]));
    for (const { code, status } of constants) expect([code, statuses.get(code)]).toEqual([code, status]);
  });

  it('every word of X-Error-Code is used by the code', () => {
    const sources = sourcesOf('src').filter(({ path }) => !path.endsWith('error-codes.ts'));
    const text = sources.map((source) => source.text).join('\n');
    expect(ERROR_CODES.filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });

  it('the error table has the texts of the code', () => {
    const text = sourcesOf('src/adapters/http')
      .map((source) => source.text)
      .join('\n');
    const shown = rows.map((row) => /^`([A-Z][^`]+[a-z])`/.exec(row[3] ?? '')?.[1] ?? '');
    // A text with a number in it is put together from parts.
    const whole = shown.filter((each) => each !== '' && !/[0-9]/.test(each));
    expect(whole.length).toBeGreaterThan(20);
    expect(whole.filter((each) => !text.includes(each))).toEqual([]);
  });

  it('the error table goes by status', () => {
    const statuses = rows.map(([, status]) => Number(status));
    expect(statuses).toEqual([...statuses].sort((a, b) => a - b));
  });
});

describe('the sections that the code cites', () => {
  const cited = citedSections();

  it('the code cites more than ten sections', () => {
    expect(cited.size).toBeGreaterThan(10);
  });

  test.each([...cited].sort())('docs/api.md has section %s', (section) => {
    expect(
      page.headings().filter((title) => title.startsWith(`${section} `) || title.startsWith(`${section}. `)),
    ).toHaveLength(1);
  });
});

/** The text of a numbered section of level 3. */
function textOf(section: string): string {
  const title = page.headings().find((each) => each.startsWith(`${section} `));
  return page.section(`### ${title}`);
}

/**
 * The fields in the table behind a bold marker, or in the section that the marker links to. A row that links to a
 * section of its own stands for the fields there, too.
 */
function listed(text: string, marker: string): string[] {
  const start = text.indexOf(`**${marker}**`);
  if (start === -1) return [];
  const rest = text.slice(start);
  const [line = ''] = rest.split('\n');
  const [rows = []] = line.includes('](#') ? [] : tables(rest);
  const linked = line.includes('](#') ? fieldsBehind(line) : [];
  return rows
    .flatMap((row) => {
      const name = unquoted(row[0]);
      const type = row[1];
      const inner = fieldsBehind(row.at(-1) ?? '');
      return [name, ...inner.map((field) => (type === 'array' ? `${name}[].${field}` : `${name}.${field}`))];
    })
    .concat(linked);
}

/** The fields of the section of chapter 2 that a sentence refers to as "the fields of [2.x](#…)". */
function fieldsBehind(sentence: string): readonly string[] {
  const anchor = /the fields of \[2\.[0-9]\]\(#([a-z0-9-]+)\)/.exec(sentence)?.[1];
  if (anchor === undefined) return [];
  const title = page.headings().find((each) => anchorOf(each) === anchor);
  const [rows = []] = tables(page.section(`### ${title}`));
  return rows.map(([name]) => unquoted(name));
}

function fieldsIn(content: Content | undefined): string[] {
  // Text, pages and files have no fields.
  const json = content?.content['application/json'];
  return json === undefined ? [] : [...new Set(fieldsOf(json.schema))];
}

/** Every field of a schema with its place: `data[].name` for a field of the members of a list. */
function fieldsOf(schema: Schema, place = ''): readonly string[] {
  const named = schema.$ref === undefined ? undefined : schemas[schema.$ref.split('/').at(-1) ?? ''];
  const { properties = {}, items, anyOf = [], oneOf = [] } = named ?? schema;
  return [
    ...Object.entries(properties).flatMap(([name, member]) => [
      `${place}${name}`,
      ...fieldsOf(member, `${place}${name}.`),
    ]),
    ...(items === undefined ? [] : fieldsOf(items, `${place.slice(0, -1)}[].`)),
    ...[...anyOf, ...oneOf].flatMap((each) => fieldsOf(each, place)),
  ];
}

/** The number of every section that a comment or a test names. */
function citedSections(): ReadonlySet<string> {
  const numbers = [...sourcesOf('src'), ...sourcesOf('test')].flatMap(({ text }) =>
    [...text.matchAll(/(?:specification|docs\/api\.md) ([1-9][0-9]?(?:\.[0-9]+)?)/gi)].map(
      ([, number]) => number ?? '',
    ),
  );
  return new Set(numbers);
}

function sourcesOf(folder: string): readonly { readonly path: string; readonly text: string }[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, folder, path), 'utf8') }));
}
