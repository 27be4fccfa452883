import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import { configEntries } from '../../src/bootstrap/config.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/demo-seed.ts';
import { startHarness } from '../../src/bootstrap/harness.ts';
import { parseSeed, readSeed } from '../../src/bootstrap/seed-file.ts';
import { SANDBOX_OUTCOMES } from '../../src/domain/messages/magic-numbers.ts';
import { runProgram } from '../support/program.ts';

const ROOT = join(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The text from a heading to the next one of any level. */
function section(heading: string): string {
  const start = README.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`README.md has no heading ${heading}`);
  const body = README.slice(start + heading.length + 2);
  const end = body.search(/^#{1,6} /m);
  return end === -1 ? body : body.slice(0, end);
}

function codeBlocks(markdown: string, language: string): readonly string[] {
  return [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, code]) => code ?? '',
  );
}

/** The cells of every row of the tables, without the lines that head them. */
function tables(markdown: string): readonly (readonly string[])[][] {
  return [...markdown.matchAll(/^\|.*\|\n\|(?:[ -]+\|)+\n((?:\|.*\|\n)*)/gm)].map(([, rows]) =>
    (rows ?? '')
      .trimEnd()
      .split('\n')
      .map((row) =>
        row
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      ),
  );
}

const unquoted = (cell = '') => cell.replace(/^`(.*)`$/, '$1');

describe('the tables of README.md', () => {
  it('name every variable with its default and its description', () => {
    const [rows = []] = tables(section('## Configuration'));
    expect(
      rows.map(([name, fallback, description]) => ({
        name: unquoted(name),
        fallback: fallback === 'empty' ? '' : unquoted(fallback),
        description,
      })),
    ).toEqual(configEntries());
  });

  it('name every fixed outcome', () => {
    const [rows = []] = tables(section('### Numbers with a fixed outcome'));
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(
        Object.entries(SANDBOX_OUTCOMES).map(([digits, { description }]) => [digits, description]),
      ),
    );
    expect(rows.map(([digits]) => digits)).toEqual(Object.keys(SANDBOX_OUTCOMES).sort());
  });

  it('name no script that package.json does not have', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...README.matchAll(/npm run ([a-z:]+)/g)].map(([, name]) => name ?? '');
    expect(named.length).toBeGreaterThan(8);
    for (const name of named) expect(scripts).toHaveProperty([name]);
  });
});

describe('the seed file of README.md', () => {
  const chapter = section('## Seed file');
  const [example = ''] = codeBlocks(chapter, 'json');
  const [projectRows = [], treeRows = []] = tables(chapter);
  const { projects, prices } = JSON.parse(example) as {
    projects: Record<string, unknown>[];
    prices: Record<string, unknown>;
  };
  const required = ['name', 'slug', 'environment', 'apiKeys'];
  const least = Object.fromEntries(required.map((name) => [name, projects[0]?.[name]]));
  const seedOf = (project: Record<string, unknown>) => ({ projects: [project], prices });

  it('is accepted as it stands', () => {
    const seed = parseSeed(example);
    expect(seed.projects).toMatchObject([{ project: { slug: 'demo' }, apiKeys: [DEMO_API_KEY] }]);
  });

  it('shows or lists every field there is', () => {
    const listed = projectRows.map(([name]) => unquoted(name)).filter((name) => name !== 'id');
    expect([...required, ...listed].sort()).toEqual(Object.keys(projects[0] ?? {}).sort());
  });

  test.each(projectRows.filter(([name]) => name !== '`id`'))(
    '%s is %s when it is left out',
    (name, value) => {
      const written = { ...least, [unquoted(name)]: JSON.parse(unquoted(value)) };
      expect(readSeed(seedOf(written))).toEqual(readSeed(seedOf(least)));
    },
  );

  test.each(treeRows)('%s is %s when it is left out', (place, value) => {
    const [list = '', field = ''] = unquoted(place).split('[].');
    const withField = (node: unknown, name: string): unknown => {
      if (Array.isArray(node)) {
        return node.map((each: object) => {
          const inner = withField(each, '') as object;
          return name === list ? { ...inner, [field]: JSON.parse(unquoted(value)) } : inner;
        });
      }
      if (typeof node !== 'object' || node === null) return node;
      return Object.fromEntries(Object.entries(node).map(([key, each]) => [key, withField(each, key)]));
    };
    const without = (node: unknown, name: string): unknown => {
      if (Array.isArray(node)) {
        return node.map((each: object) => {
          const inner = Object.entries(without(each, '') as object);
          return Object.fromEntries(inner.filter(([key]) => name !== list || key !== field));
        });
      }
      if (typeof node !== 'object' || node === null) return node;
      return Object.fromEntries(Object.entries(node).map(([key, each]) => [key, without(each, key)]));
    };
    const tree = projects[0]?.whatsapp;
    const written = withField(tree, '');
    expect(written).not.toEqual(without(tree, ''));
    expect(readSeed(seedOf({ ...least, whatsapp: written }))).toEqual(
      readSeed(seedOf({ ...least, whatsapp: without(tree, '') })),
    );
  });
});

describe('the code of README.md', () => {
  it('sends what its curl lines send', async () => {
    const harness = await startHarness();
    const bodies = [...README.matchAll(/-d '(\{.*\})'/g)].map(([, body]) => JSON.parse(body ?? '') as object);
    expect(bodies).toHaveLength(2);
    for (const body of bodies) expect((await harness.request('/sms', { body })).status).toBe(200);
    await harness.close();
  });

  it('runs: the test with the harness', async () => {
    const [example = ''] = codeBlocks(section('## In your own tests'), 'ts');
    expect(example).toContain("from 'barid/harness'");
    const source = pathToFileURL(join(ROOT, 'src/bootstrap/harness.ts')).href;
    const folder = mkdtempSync(join(tmpdir(), 'barid-readme-'));
    const file = join(folder, 'example.test.mts');
    writeFileSync(file, example.replace("'barid/harness'", `'${source}'`));
    const { NODE_TEST_CONTEXT: _, VITEST: __, ...environment } = process.env;
    const { code, stdout, stderr } = await runProgram(['--test-reporter=tap', file], environment);
    rmSync(folder, { recursive: true });
    expect(stdout).toContain('# pass 1\n# fail 0');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
