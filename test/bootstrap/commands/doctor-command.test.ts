import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../../../src/adapters/knex/database.ts';
import { migrationNames } from '../../../src/adapters/knex/migrations/migrations.ts';
import { barid } from '../../support/barid.ts';
import { freePort } from '../../support/private-server.ts';

const SECRET_KEY = '01'.repeat(32);

let folder: string;
let filename: string;
let environment: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'doctor-'));
  filename = join(folder, 'barid.db');
  environment = { DATABASE_URL: `sqlite:${filename}`, SECRET_KEY };
});
afterEach(() => rmSync(folder, { recursive: true }));

async function migrate() {
  const database = openDatabase({ kind: 'sqlite', filename });
  await database.migrate();
  await database.close();
}

/** The exit code, and each check with whether it is ok. */
async function examine(more: Record<string, string> = {}) {
  const { code, text } = await barid(['doctor', '--json'], { environment: { ...environment, ...more } });
  const findings = JSON.parse(text) as {
    check: string;
    ok: boolean;
    detail: string;
    advice: string | null;
  }[];
  return { code, findings, checks: Object.fromEntries(findings.map(({ check, ok }) => [check, ok])) };
}

it('the doctor finds a good installation well, one line for each check', async () => {
  await migrate();
  const { code, printed } = await barid(['doctor'], { environment });
  expect(printed.map((line) => line.split(':')[0])).toEqual([
    ...['configuration', 'database', 'secret key', 'broker', 'providers', 'disk', 'open files'].map(
      (check) => `ok     ${check}`,
    ),
  ]);
  expect(code).toBe(0);
});

it('the doctor says of a provider that cannot be asked that it was not tried', async () => {
  const file = join(folder, 'channels.json');
  const request = {
    method: 'GET',
    url: 'https://sms.example.com/send',
    query: { to: '{to}', text: '{text}' },
  };
  const gateway = { kind: 'http-gateway', request, success: { status: [200] } };
  writeFileSync(file, JSON.stringify({ sms: { providers: { gateway } } }));
  const { findings } = await examine({ CHANNELS_FILE: file });
  const found = findings.find(({ check }) => check === 'provider gateway of sms');
  expect([found?.ok, found?.detail]).toEqual([true, expect.stringMatching(/^NOT TRIED, /)]);
});

it('the doctor makes no database where none is', async () => {
  expect((await examine()).code).toBe(0);
  // The first start makes the folders too.
  const inFolders = await examine({ DATABASE_URL: `sqlite:${join(folder, 'none', 'data', 'barid.db')}` });
  expect([inFolders.code, inFolders.checks]).toMatchObject([0, { database: true, disk: true }]);
  expect(existsSync(join(folder, 'none'))).toBe(false);
  expect(existsSync(filename)).toBe(false);
});

it('the doctor names a wrong configuration, another secret key and a database without tables', async () => {
  const wrong = await examine({ PORT: 'x' });
  expect([wrong.code, wrong.checks]).toEqual([1, { configuration: false, 'open files': true }]);
  expect(wrong.findings[0]?.detail).toContain('PORT');
  await migrate();
  expect((await examine()).code).toBe(0);
  const key = await examine({ SECRET_KEY: '02'.repeat(32) });
  expect([key.code, key.checks]).toMatchObject([1, { database: true, 'secret key': false }]);
  const missing = await barid(['doctor'], { environment: { DATABASE_URL: `sqlite:${filename}` } });
  expect([missing.code, missing.text]).toEqual([1, expect.stringContaining('secret.key is missing')]);
  expect(existsSync(join(folder, 'secret.key'))).toBe(false);
  const empty = openDatabase({ kind: 'sqlite', filename: join(folder, 'empty.db') });
  await empty.knex.raw('CREATE TABLE other (id text)');
  await empty.close();
  const tables = await examine({ DATABASE_URL: `sqlite:${join(folder, 'empty.db')}` });
  expect([tables.code, tables.checks]).toMatchObject([1, { database: false }]);
});

it('the doctor names migrations that are pending, and tables of a newer version', async () => {
  await migrate();
  const database = openDatabase({ kind: 'sqlite', filename });
  await database
    .knex('knex_migrations')
    .where({ name: migrationNames().at(-1) })
    .del();
  const older = await examine();
  await database
    .knex('knex_migrations')
    .insert({ name: '999-later', batch: 9, migration_time: new Date().toISOString() });
  await database.close();
  const newer = await examine();
  expect([older.code, older.findings[1]]).toEqual([
    1,
    {
      check: 'database',
      ok: false,
      detail: 'has tables of an older version: 1 migration pending',
      advice: 'run barid migrate, or start the service of this version on it',
    },
  ]);
  expect([newer.code, newer.findings[1]]).toMatchObject([
    1,
    {
      check: 'database',
      ok: false,
      detail: 'the tables were changed by a newer version of Barid (999-later)',
    },
  ]);
});

it('the doctor says which server is away, and what to do', async () => {
  const port = await freePort();
  const { code, findings } = await examine({
    DATABASE_URL: `postgres://barid:hidden@127.0.0.1:${port}/barid`,
    QUEUE_URL: `amqp://barid:hidden@127.0.0.1:${port}`,
  });
  expect(code).toBe(1);
  const byCheck = Object.fromEntries(findings.map((finding) => [finding.check, finding]));
  expect(byCheck.database).toMatchObject({ ok: false, advice: expect.stringContaining('DATABASE_URL') });
  expect(byCheck.broker).toMatchObject({ ok: false, advice: expect.stringContaining('QUEUE_URL') });
  expect(JSON.stringify(findings)).not.toContain('hidden');
});
