import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { folderCircles, unusedExports, violationsOf } from './support/source-rules.ts';

const ROOT = join(import.meta.dirname, '..');

const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();

const files = filesIn('src');

describe('every source file keeps to its layer', () => {
  it('the test finds the source files', () => {
    expect(files).toContain('src/domain/chain/fallback-chain.ts');
    expect(files).toContain('src/application/ports/stores.ts');
  });

  test.each(files)('the file keeps to its layer: %s', (path) => {
    expect(violationsOf({ path, text: readFileSync(join(ROOT, path), 'utf8') })).toEqual([]);
  });
});

it('no line of a comment in the source is wider than 130 columns, though the formatter wraps none', () => {
  const written = files.filter((path) => path !== 'src/client/openapi-types.ts');
  const tooWide = written.flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        line.length > 130 && /^\s*(\/\/|\/?\*)/.test(line) ? [`${path}:${index + 1}`] : [],
      ),
  );
  expect(tooWide).toEqual([]);
});

describe('what the source exports', () => {
  it('what the source exports is used by another file', () => {
    const all = ['src', 'test', 'bench', 'scripts'].flatMap(filesIn);
    expect(
      unusedExports(all.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))),
    ).toEqual([]);
  });

  it('an export that no other file names is found, and one that a test names is not', () => {
    const source = `export const A = 1;\nexport async function b() {}\nexport class C {}\nexport type D = 1;`;
    expect(
      unusedExports([
        { path: 'src/a.ts', text: source },
        { path: 'test/a.test.ts', text: `import { C } from '../src/a.ts';\nexport const E = 1;` },
      ]),
    ).toEqual(['src/a.ts: A', 'src/a.ts: b']);
  });
});

it('every change that the mutation runs list as without effect is of a line that its file has', () => {
  const listed: readonly { readonly file: string; readonly line: string }[] = JSON.parse(
    readFileSync(join(ROOT, 'test/mutation/equivalents.json'), 'utf8'),
  );
  const hasLine = (file: string, line: string): boolean =>
    files.includes(file) &&
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .some((each) => each.trim() === line);
  expect(listed.filter(({ file, line }) => !hasLine(file, line))).toEqual([]);
});

describe('the folders of a layer', () => {
  it.each(['src/domain', 'src/application'])(
    'the folders of %s import each other in one direction only',
    (layer) => {
      const ofLayer = files
        .filter((path) => path.startsWith(`${layer}/`))
        .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
      expect(folderCircles(layer, ofLayer)).toEqual([]);
    },
  );

  const file = (path: string, ...imports: string[]) => ({
    path: `src/domain/${path}`,
    text: imports.map((target) => `import type { X } from '${target}';`).join('\n'),
  });

  it('folders of the domain are in a circle when two import each other, even by different files', () => {
    expect(
      folderCircles('src/domain', [
        file('billing/pricing.ts', '../messages/channel.ts', './money.ts'),
        file('messages/message.ts', '../billing/account.ts'),
      ]),
    ).toEqual(['billing -> messages -> billing']);
  });

  it('folders of the domain are in a circle when three import each other in turn', () => {
    expect(
      folderCircles('src/domain', [
        file('messages/a.ts', '../sandbox/b.ts', '../shared/money.ts'),
        file('sandbox/b.ts', '../access/c.ts', '../shared/money.ts'),
        file('access/c.ts', '../messages/a.ts'),
      ]),
    ).toEqual(['access -> messages -> sandbox -> access']);
  });

  it('a folder of the domain may be imported from several others', () => {
    expect(
      folderCircles('src/domain', [
        file('messages/a.ts', '../billing/b.ts', '../shared/money.ts'),
        file('billing/b.ts', '../shared/money.ts'),
      ]),
    ).toEqual([]);
  });
});

const DOMAIN = 'src/domain/billing/account.ts';
const USE_CASE = 'src/application/sending/send-messages.ts';
const STORE = 'src/adapters/knex/unit-of-work.ts';
const CLIENT = 'src/client/client.ts';

describe('planted violations', () => {
  test.each<[string, path: string, text: string, violation: string]>([
    ['npm import', DOMAIN, `import { z } from 'zod';`, 'must not import zod'],
    ['node builtin', DOMAIN, `import { createHash } from 'node:crypto';`, 'must not import node:crypto'],
    [
      'type-only import of a port',
      DOMAIN,
      `import type { Clock } from '../../application/ports/clock.ts';`,
      'must not import src/application/ports/clock.ts',
    ],
    [
      'import over several lines',
      DOMAIN,
      `import {\n  type Clock,\n  type Other,\n} from '../../application/ports/clock.ts';`,
      'must not import src/application/ports/clock.ts',
    ],
    [
      'import type expression',
      DOMAIN,
      `export type Now = import('../../application/ports/clock.ts').Clock;`,
      'must not import src/application/ports/clock.ts',
    ],
    ['re-export', DOMAIN, `export * from 'zod';`, 'must not import zod'],
    ['named re-export', DOMAIN, `export { string as text } from 'zod';`, 'must not import zod'],
    ['a package that only begins alike', DOMAIN, `import 'date-fns-tz';`, 'must not import date-fns-tz'],
    [
      'a function of date-fns that reads the clock',
      DOMAIN,
      `import { isPast } from 'date-fns';`,
      'must not use isPast',
    ],
    [
      'another function of date-fns that reads the clock',
      USE_CASE,
      `import { startOfToday } from 'date-fns/startOfToday';`,
      'must not use startOfToday',
    ],
    ['side effect', DOMAIN, `import 'reflect-metadata';`, 'must not import reflect-metadata'],
    ['dynamic import', DOMAIN, `const c = import('node:crypto');`, 'must not import node:crypto'],
    ['dynamic import by template', DOMAIN, 'const c = import(`node:fs`);', 'must not import node:fs'],
    ['require', DOMAIN, `const fs = require("fs");`, 'must not import fs'],
    [
      'second import behind an allowed one',
      DOMAIN,
      `import { a } from './a.ts';\nimport { b } from '../../adapters/http/b.ts';`,
      'must not import src/adapters/http/b.ts',
    ],
    [
      'a name that only begins alike',
      DOMAIN,
      `import '../../domain-extras/x.ts';`,
      'must not import src/domain-extras/x.ts',
    ],
    ['the present', DOMAIN, 'const now = new Date();', 'must not use new Date()'],
    ['the present, called', DOMAIN, 'const now = Date();', 'must not use Date()'],
    ['the present in numbers', DOMAIN, 'const now = Date.now();', 'must not use Date.now'],
    ['the present in a template', DOMAIN, `const id = \`a\${Date.now()}\`;`, 'must not use Date.now'],
    ['chance', DOMAIN, 'const r = Math.random();', 'must not use Math.random'],
    ['the environment', DOMAIN, 'const e = process.env;', 'must not use process.'],
    ['printing', DOMAIN, `console.log('x');`, 'must not use console.'],
    ['the network', DOMAIN, `fetch('x');`, 'must not use fetch('],
    ['a timer', DOMAIN, 'setTimeout(run, 1);', 'must not use setTimeout'],
    ['an interval', DOMAIN, 'setInterval(run, 1);', 'must not use setInterval'],
    ['a late call', DOMAIN, 'setImmediate(run);', 'must not use setImmediate'],
    ['async', DOMAIN, 'export async function f() {}', 'must not use async'],
    ['await', DOMAIN, 'await f();', 'must not use await'],
    ['a promise', DOMAIN, 'let p: Promise<void>;', 'must not use Promise'],

    ['a container', USE_CASE, `import { Container } from 'inversify';`, 'must not import inversify'],
    ['a builtin', USE_CASE, `import { randomBytes } from 'node:crypto';`, 'must not import node:crypto'],
    [
      'an adapter',
      USE_CASE,
      `import '../../adapters/knex/database.ts';`,
      'must not import src/adapters/knex/database.ts',
    ],
    [
      'bootstrap',
      USE_CASE,
      `import '../../bootstrap/config/config.ts';`,
      'must not import src/bootstrap/config/config.ts',
    ],
    ['its own clock', USE_CASE, 'const now = Date.now();', 'must not use Date.now'],
    ['its own date', USE_CASE, 'const now = new Date( );', 'must not use new Date( )'],
    ['its own chance', USE_CASE, 'Math.random();', 'must not use Math.random'],
    ['its own environment', USE_CASE, 'process.exit(1);', 'must not use process.'],
    ['its own log', USE_CASE, `console.error('x');`, 'must not use console.'],
    ['its own timer', USE_CASE, 'setTimeout(run, 5);', 'must not use setTimeout'],
    ['its own interval', USE_CASE, 'setInterval(run, 5);', 'must not use setInterval'],
    ['its own late call', USE_CASE, 'setImmediate(run);', 'must not use setImmediate'],
    [
      'a global clock',
      STORE,
      'const at = performance.now();',
      'must import performance from node:perf_hooks',
    ],
    ['a global timer', STORE, 'setTimeout(run, 5);', 'must import setTimeout from node:timers'],
    [
      'a global timer beside an imported one',
      STORE,
      `import { setTimeout } from 'node:timers';\nsetTimeout(run, 5);\nsetImmediate(run);`,
      'must import setImmediate from node:timers',
    ],

    ['a sibling', STORE, `import '../http/app.ts';`, 'must not import src/adapters/http/app.ts'],
    [
      'a type of a sibling',
      STORE,
      `import type { X } from '../http/app.ts';`,
      'must not import src/adapters/http/app.ts',
    ],
    [
      'bootstrap',
      STORE,
      `import '../../bootstrap/config/config.ts';`,
      'must not import src/bootstrap/config/config.ts',
    ],
    ['a container', STORE, `import { injectable } from 'inversify';`, 'must not import inversify'],
    [
      'part of a container',
      STORE,
      `import 'reflect-metadata/lite';`,
      'must not import reflect-metadata/lite',
    ],
    [
      'a question for the database',
      STORE,
      `if (client === 'better-sqlite3') lock();`,
      "must not ask for the database 'better-sqlite3'",
    ],
    [
      'the same in other words',
      STORE,
      `switch (kind) { case "postgres": lock(); }`,
      "must not ask for the database 'postgres'",
    ],
    [
      'the same in the application',
      USE_CASE,
      `if (kind === 'pg') lock();`,
      "must not ask for the database 'pg'",
    ],
    ['a package', CLIENT, `import createClient from 'openapi-fetch';`, 'must not import openapi-fetch'],
    ['a builtin', CLIENT, `import { createHmac } from 'node:crypto';`, 'must not import node:crypto'],
    [
      'a type of the service',
      CLIENT,
      `import type { Message } from '../domain/messages/message.ts';`,
      'must not import src/domain/messages/message.ts',
    ],
    ['a class of Node', CLIENT, `Buffer.from('x');`, 'must not use Buffer'],
    ['the environment of Node', CLIENT, 'const key = process.env.KEY;', 'must not use process.'],
    [
      'the client',
      'src/bootstrap/container.ts',
      `import '../client/client.ts';`,
      'must not import src/client/client.ts',
    ],
    ['the client', STORE, `import '../../client/client.ts';`, 'must not import src/client/client.ts'],
    ['a file beside the folders', 'src/adapters/loose.ts', '', 'belongs to no layer'],
    ['a file beside the layers', 'src/loose.ts', '', 'belongs to no layer'],
  ])('a planted violation is found: %s in %s', (_, path, text, violation) => {
    expect(violationsOf({ path, text })).toEqual([violation]);
  });

  it('every violation of a file is named', () => {
    const text = `import 'zod';\nexport const f = async () => Math.random();`;
    expect(violationsOf({ path: DOMAIN, text })).toEqual([
      'must not import zod',
      'must not use Math.random',
      'must not use async',
    ]);
  });
});

describe('what is allowed', () => {
  test.each<[string, path: string, text: string]>([
    ['a neighbour', DOMAIN, `import { add } from '../shared/money.ts';`],
    ['a given instant', DOMAIN, 'const at = new Date(now);'],
    [
      'a comment about promises',
      DOMAIN,
      '/** No await, no Promise, no Date.now here. */\n// fetch( is elsewhere',
    ],
    ['a word in a string', DOMAIN, `const text = 'await a Promise from process.env';`],
    ['words that contain others', DOMAIN, 'const asynchronous = awaited + Promised;'],
    ['date-fns', USE_CASE, `import { addMinutes } from 'date-fns';\nimport { x } from 'date-fns/x';`],
    ['date-fns in the domain', DOMAIN, `import { millisecondsInDay } from 'date-fns/constants';`],
    [
      'the domain and ports',
      USE_CASE,
      `import '../../domain/shared/money.ts';\nimport type { Clock } from '../ports/clock.ts';`,
    ],
    ['promises in a use case', USE_CASE, 'export async function f(): Promise<void> { await g(); }'],
    [
      'an imported clock',
      STORE,
      `import { performance } from 'node:perf_hooks';\nconst at = performance.now();`,
    ],
    ['an imported timer', STORE, `import { setTimeout } from 'node:timers';\nsetTimeout(run, 5);`],
    ['packages and builtins', STORE, `import knex from 'knex';\nimport { join } from 'node:path';`],
    [
      'itself, the application, the domain',
      STORE,
      `import './rows.ts';\nimport '../../application/jobs/job.ts';\nimport '../../domain/shared/money.ts';`,
    ],
    [
      'its own clock in an adapter',
      'src/adapters/node/system-clock.ts',
      'Date.now(); new Date(); process.hrtime();',
    ],
    ['the dialect asking', 'src/adapters/knex/driver/dialect.ts', `if (client === 'better-sqlite3') lock();`],
    [
      'a part of the dialect asking',
      'src/adapters/knex/postgres/postgres-dialect.ts',
      `const client = 'postgres';`,
    ],
    ['opening the database', 'src/adapters/knex/database.ts', `knex({ client: 'better-sqlite3' });`],
    ['the driver itself', STORE, `import Database from 'better-sqlite3';`],
    ['an address', STORE, `const url = 'postgres://127.0.0.1/test';`],
    ['what a browser has', CLIENT, 'setTimeout(run, 5); fetch(url); crypto.randomUUID(); Date.now();'],
    [
      'anything in bootstrap',
      'src/bootstrap/container.ts',
      `import { Container } from 'inversify';\nimport '../adapters/http/app.ts';\nif (kind === 'postgres') process.exit();`,
    ],
  ])('no violation is found: %s', (_, path, text) => {
    expect(violationsOf({ path, text })).toEqual([]);
  });
});
