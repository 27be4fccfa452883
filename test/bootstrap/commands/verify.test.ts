import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { EXIT_CONFIGURATION, EXIT_UNAVAILABLE } from '../../../src/bootstrap/exit-codes.ts';
import { barid } from '../../support/barid.ts';
import { aMessage, aNewAccount, aProject, NOW, PROJECT_ID } from '../../support/builders.ts';
import { BARID_PROGRAM } from '../../support/compiled-service.ts';
import { runProgram } from '../../support/program.ts';

/** Each test starts several programs, one after the other. */
const PROGRAMS_MS_MAX = 60_000;

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const SCHEMA = `verify_test_${process.pid}`;

const folder = mkdtempSync(join(tmpdir(), 'barid-verify-'));
afterAll(() => rmSync(folder, { recursive: true }));

function verify(filename: string) {
  return verifyAt(`sqlite:${filename}`);
}

function verifyAt(databaseUrl: string) {
  return runAt('verify', databaseUrl);
}

function runAt(command: string, databaseUrl: string, more: Readonly<Record<string, string>> = {}) {
  return runProgram([BARID_PROGRAM, command], {
    ...more,
    PATH: process.env.PATH ?? '',
    DATABASE_URL: databaseUrl,
    SECRET_KEY: '0'.repeat(64),
  });
}

it.each(['verify', 'redrive'])('%s takes no argument, and says how it is called', async (name) => {
  const environment = { DATABASE_URL: 'sqlite:/nowhere/barid.db' };
  const { code, errors } = await barid([name, 'more'], { environment });
  expect([code, errors[0]]).toEqual([2, expect.stringContaining('too many arguments')]);
  expect((await barid([name, '--help'])).text).toMatch(new RegExp(`^Usage: barid ${name} `));
  const byScript = await barid([name, '--help'], { environment: { npm_lifecycle_event: name } });
  expect(byScript.text).toMatch(new RegExp(`^Usage: npm run ${name} -- `));
});

it('verify and redrive print one JSON object with --json', async () => {
  const filename = join(folder, 'json.db');
  const database = openDatabase({ kind: 'sqlite', filename });
  await database.migrate();
  await database.close();
  const environment = { DATABASE_URL: `sqlite:${filename}`, SECRET_KEY: '0'.repeat(64) };
  const verified = await barid(['verify', '--json'], { environment });
  expect(verified).toMatchObject({ code: 0, errors: [] });
  expect(JSON.parse(verified.text)).toEqual({
    projects: 0,
    differences: [],
    deadLetterJobs: { count: 0, latest: [] },
  });
  const redriven = await barid(['--json', 'redrive'], { environment });
  expect([redriven.code, redriven.printed]).toEqual([0, ['{"jobs":0}']]);
});

it('verify prints differences in IQD and dead-letter jobs, and ends with 1 until both are gone', {
  timeout: PROGRAMS_MS_MAX,
}, async () => {
  const filename = join(folder, 'barid.db');
  const database = openDatabase({ kind: 'sqlite', filename });
  await database.migrate();
  const unitOfWork = new SqlUnitOfWork(database);
  const all = 'verify: 0 projects, 0 differences, 0 dead-letter jobs\n';
  expect(await verify(filename)).toEqual({ code: 0, stdout: all, stderr: '' });

  const job = startAttemptJob(aMessage(), 0, NOW);
  await unitOfWork.run(async (stores) => {
    await stores.jobs.add([job], NOW);
    const leased = await stores.jobs.lease({ workerId: 'worker', now: NOW, until: NOW + 1, limit: 1 });
    await stores.jobs.fail(leased, {
      reason: 'planted\u001b[2J\nverify: all is well',
      at: NOW,
      retryAt: NOW,
      failuresMax: 1,
    });
  });
  expect(await verify(filename)).toEqual({
    code: 1,
    stderr: '',
    stdout:
      `job ${job.id} was dead-lettered at 2026-01-15T12:00:00.000Z: planted\\u001b[2J\\nverify: all is well\n` +
      'verify: 0 projects, 0 differences, 1 dead-letter job\n',
  });

  expect(await runAt('redrive', `sqlite:${filename}`)).toEqual({
    code: 0,
    stdout: 'redrive: 1 job due again\n',
    stderr: '',
  });
  await unitOfWork.run(async (stores) => {
    await stores.projects.insert([aProject()]);
    await stores.accounts.insert([aNewAccount()]);
  });
  expect(
    await database.knex('audit_records').select('actor', 'action', 'project_id', 'after_change'),
  ).toEqual([
    {
      actor: 'cli-database',
      action: 'jobs-redriven',
      project_id: PROJECT_ID,
      after_change: '{"kind":"start-attempt","jobs":1}',
    },
  ]);
  await database.knex('accounts').update({ balance: 1_500 });
  await database.close();
  expect(await verify(filename)).toEqual({
    code: 1,
    stderr: '',
    stdout:
      `project ${PROJECT_ID}: balance is 1.5 IQD, its entries say 0 IQD\n` +
      'verify: 1 project, 1 difference, 0 dead-letter jobs\n',
  });
});

it('verify prints one line and ends with 69 when the audit cannot be made', {
  timeout: PROGRAMS_MS_MAX,
}, async () => {
  const filename = join(folder, 'damaged.db');
  const database = openDatabase({ kind: 'sqlite', filename });
  await database.migrate();
  await database.knex.schema.dropTable('ledger_entries');
  await database.close();
  expect(await verify(filename)).toEqual({
    code: EXIT_UNAVAILABLE,
    stdout: '',
    stderr: 'verify: the audit was not made: no such table: ledger_entries\n',
  });
});

it.skipIf(POSTGRES_URL === undefined)(
  `verify reads a large ledger on PostgreSQL for as long as it takes${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  { timeout: PROGRAMS_MS_MAX },
  async () => {
    const url = new URL(POSTGRES_URL ?? '');
    const database = openDatabase({
      kind: 'postgres',
      url: url.href,
      schema: SCHEMA,
      poolSize: 1,
      statementTimeoutMs: 10_000,
    });
    try {
      await database.migrate();
      await new SqlUnitOfWork(database).run(async (stores) => {
        await stores.projects.insert([aProject()]);
        await stores.accounts.insert([aNewAccount()]);
      });
      // Longer than a statement may take.
      await database.knex.raw(
        `ALTER TABLE accounts RENAME TO all_accounts;
         CREATE VIEW accounts AS SELECT all_accounts.* FROM pg_sleep(1) LEFT JOIN all_accounts ON true`,
      );
      url.searchParams.set('options', `-c search_path=${SCHEMA}`);
      expect(await runAt('verify', url.href, { DATABASE_STATEMENT_TIMEOUT_MS: '500' })).toEqual({
        code: 0,
        stdout: 'verify: 1 project, 0 differences, 0 dead-letter jobs\n',
        stderr: '',
      });
    } finally {
      await database.knex.raw(`DROP SCHEMA ${SCHEMA} CASCADE`);
      await database.close();
    }
  },
);

it('verify prints one line of reason when it cannot use a database', {
  timeout: PROGRAMS_MS_MAX,
}, async () => {
  expect(await verify(join(folder, 'new.db'))).toEqual({
    code: EXIT_UNAVAILABLE,
    stdout: '',
    stderr: 'Barid finds no tables in its database: check DATABASE_URL, or start the service on it first\n',
  });
  expect(existsSync(join(folder, 'new.db'))).toBe(false);
  const empty = join(folder, 'empty.db');
  writeFileSync(empty, '');
  expect(await verify(empty)).toMatchObject({ code: EXIT_UNAVAILABLE, stdout: '' });
  const away = await verifyAt('postgres://postgres@127.0.0.1:1/test');
  expect(away).toMatchObject({ code: EXIT_UNAVAILABLE, stdout: '' });
  expect(away.stderr).toMatch(/^Barid cannot use its database: .*ECONNREFUSED.*\n$/);
  expect(await verifyAt('mysql://localhost')).toMatchObject({ code: EXIT_CONFIGURATION, stdout: '' });
});
