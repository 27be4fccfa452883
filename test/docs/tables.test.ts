import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it, test } from 'vitest';
import { configEntries } from '../../src/bootstrap/config/config-entries.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import { parseSeed, readSeed } from '../../src/bootstrap/config/seed-file.ts';
import { SANDBOX_OUTCOMES } from '../../src/domain/sandbox/sandbox-outcomes.ts';
import { codeBlocks, Page, ROOT, tables, unquoted } from '../support/markdown.ts';

describe('docs/configuration.md', () => {
  it('docs/configuration.md lists every variable with its default and its description', () => {
    const [rows = []] = tables(new Page('docs/configuration.md').text);
    expect(
      rows.map(([name, fallback, description]) => ({
        name: unquoted(name),
        fallback: fallback === 'empty' ? '' : unquoted(fallback),
        description,
      })),
    ).toEqual(configEntries());
  });
});

describe('docs/test-numbers.md', () => {
  it('docs/test-numbers.md lists every test number with its outcome, in order', () => {
    const [rows = []] = tables(new Page('docs/test-numbers.md').text);
    expect(rows).toEqual(
      Object.entries(SANDBOX_OUTCOMES)
        .map(([digits, { description }]) => [digits, description])
        .sort(),
    );
  });
});

describe('docs/operations.md', () => {
  it('docs/operations.md lists every event that can be logged, in order', () => {
    const [rows = []] = tables(new Page('docs/operations.md').section('## Log events'));
    const listed = rows.map(([event]) => unquoted(event));
    expect(listed).toEqual([...literalsOf('src/application/ports/logger.ts', 'LogEvent')].sort());
  });

  it('the pages name every script of package.json, and no other', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const pages = ['README.md', 'CONTRIBUTING.md', 'docs/operations.md', 'docs/performance.md'];
    const text = pages.map((path) => new Page(path).text).join('');
    const named = [...text.matchAll(/npm (?:run ([a-z:-]+)|(start|test)\b)/g)].map(
      ([, run, own]) => run ?? own,
    );
    expect([...new Set(named)].sort()).toEqual(Object.keys(scripts).sort());
  });
});

describe('docs/seed-file.md', () => {
  const page = new Page('docs/seed-file.md');
  const [example = ''] = codeBlocks(page.text, 'json');
  const [projectRows = []] = tables(page.section('## A project'));
  const [treeRows = []] = tables(page.section('## The whatsapp tree'));
  const { projects, prices } = JSON.parse(example) as {
    projects: Record<string, unknown>[];
    prices: Record<string, unknown>;
  };
  const required = ['name', 'slug', 'environment', 'apiKeys'];
  const least = Object.fromEntries(required.map((name) => [name, projects[0]?.[name]]));
  const seedOf = (project: Record<string, unknown>) => ({ projects: [project], prices });

  it('docs/seed-file.md shows an example that is accepted as it stands', () => {
    const seed = parseSeed(example);
    expect(seed.projects).toMatchObject([{ project: { slug: 'demo' }, apiKeys: [DEMO_API_KEY] }]);
  });

  it('docs/seed-file.md shows or lists every field of a project', () => {
    const listed = projectRows.map(([name]) => unquoted(name)).filter((name) => name !== 'id');
    expect([...required, ...listed].sort()).toEqual(Object.keys(projects[0] ?? {}).sort());
  });

  test.each(projectRows.filter(([name]) => name !== '`id`'))(
    'a project without %s has the default %s',
    (name, value) => {
      const written = { ...least, [unquoted(name)]: JSON.parse(unquoted(value)) };
      expect(readSeed(seedOf(written))).toEqual(readSeed(seedOf(least)));
    },
  );

  test.each(treeRows)('a whatsapp tree without %s has the default %s', (place, value) => {
    const [list = '', field = ''] = unquoted(place).split('[].');
    const tree = projects[0]?.whatsapp;
    const written = withField(tree, list, field, JSON.parse(unquoted(value)));
    const left = withoutField(tree, list, field);
    expect(written).not.toEqual(left);
    expect(readSeed(seedOf({ ...least, whatsapp: written }))).toEqual(
      readSeed(seedOf({ ...least, whatsapp: left })),
    );
  });
});

/** The tree with `field` set in every member of every list of that name. */
function withField(node: unknown, list: string, field: string, value: unknown, name = ''): unknown {
  if (Array.isArray(node)) {
    return node.map((each: object) => {
      const inner = withField(each, list, field, value) as object;
      return name === list ? { ...inner, [field]: value } : inner;
    });
  }
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, each]) => [key, withField(each, list, field, value, key)]),
  );
}

/** The tree without `field` in any member of any list of that name. */
function withoutField(node: unknown, list: string, field: string, name = ''): unknown {
  if (Array.isArray(node)) {
    return node.map((each: object) => {
      const inner = Object.entries(withoutField(each, list, field) as object);
      return Object.fromEntries(inner.filter(([key]) => name !== list || key !== field));
    });
  }
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, each]) => [key, withoutField(each, list, field, key)]),
  );
}

/** The members of a union of string literals, read from its source. */
function literalsOf(path: string, typeName: string): readonly string[] {
  const source = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest);
  const alias = source.statements.find(
    (statement): statement is ts.TypeAliasDeclaration =>
      ts.isTypeAliasDeclaration(statement) && statement.name.text === typeName,
  );
  if (alias === undefined || !ts.isUnionTypeNode(alias.type))
    throw new Error(`No union ${typeName} in ${path}`);
  return alias.type.types.map((member) =>
    ts.isLiteralTypeNode(member) && ts.isStringLiteral(member.literal) ? member.literal.text : '',
  );
}
