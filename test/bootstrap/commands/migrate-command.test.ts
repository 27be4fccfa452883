import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openDatabase } from '../../../src/adapters/knex/database.ts';
import { runBarid } from '../../../src/bootstrap/commands/program.ts';
import { MAIN_PROGRAM } from '../../support/compiled-service.ts';
import { runProgram } from '../../support/program.ts';

const PROGRAM_MS_MAX = 60_000;
const SECRET_KEY = '0'.repeat(64);

const folder = mkdtempSync(join(tmpdir(), 'barid-migrate-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(url: string, ...given: readonly string[]) {
  const lines: string[] = [];
  const errors: string[] = [];
  const code = await runBarid(
    ['migrate', ...given],
    { DATABASE_URL: url, SECRET_KEY },
    { print: (line) => lines.push(line), error: (line) => errors.push(line) },
  );
  return { code, lines, errors };
}

it('migrate makes the tables and ends; --check says what is pending and makes nothing', async () => {
  const filename = join(folder, 'new.db');
  const url = `sqlite:${filename}`;
  expect(await run(url, '--check')).toEqual({
    code: 1,
    lines: ['migrate: there is no database yet'],
    errors: [],
  });
  expect(existsSync(filename)).toBe(false);
  const { code, lines } = await run(url);
  expect({ code, first: lines[0] }).toEqual({ code: 0, first: 'applied: 001-projects' });
  expect(await run(url, '--check')).toEqual({
    code: 0,
    lines: ['migrate: 0 migrations pending'],
    errors: [],
  });
  expect(await run(url)).toEqual({ code: 0, lines: ['migrate: 0 migrations applied'], errors: [] });
  const database = openDatabase({ kind: 'sqlite', filename });
  await database
    .knex('knex_migrations')
    .where({ name: lines.at(-2)?.slice('applied: '.length) })
    .del();
  await database.close();
  expect(await run(url, '--check')).toMatchObject({
    code: 1,
    lines: [expect.anything(), 'migrate: 1 migration pending'],
  });
});

it('a process rejects a database that a newer version has migrated, and says what to do', {
  timeout: PROGRAM_MS_MAX,
}, async () => {
  const url = `sqlite:${join(folder, 'newer.db')}`;
  await run(url);
  const database = openDatabase({ kind: 'sqlite', filename: join(folder, 'newer.db') });
  await database.knex('knex_migrations').insert({ name: '999-later', batch: 9, migration_time: 0 });
  await database.close();
  const reason =
    'the tables were changed by a newer version of Barid (999-later); ' +
    'start that version or a later one, or restore a backup that was made before the upgrade';
  for (const option of [[], ['--check']]) {
    expect(await run(url, ...option)).toEqual({ code: 78, lines: [], errors: [`migrate: ${reason}`] });
  }
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: url, SECRET_KEY, PORT: '0' };
  expect(await runProgram([MAIN_PROGRAM], env)).toEqual({
    code: 78,
    stdout: '',
    stderr: `Barid cannot start:\nDATABASE_URL: ${reason}\n`,
  });
});
