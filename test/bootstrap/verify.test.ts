import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../src/adapters/knex/unit-of-work.ts';
import { startAttemptJob } from '../../src/application/jobs/attempt-jobs.ts';
import { EXIT_CONFIGURATION, EXIT_UNAVAILABLE } from '../../src/bootstrap/exit-codes.ts';
import { aMessage, aNewAccount, aProject, NOW, PROJECT_ID } from '../support/builders.ts';
import { runProgram } from '../support/program.ts';

/** Each test starts several programs, one after the other. */
const PROGRAMS_MS_MAX = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'barid-verify-'));
afterAll(() => rmSync(folder, { recursive: true }));

function verify(filename: string) {
  return verifyAt(`sqlite:${filename}`);
}

function verifyAt(databaseUrl: string) {
  return runAt('src/bootstrap/verify.ts', databaseUrl);
}

function runAt(program: string, databaseUrl: string) {
  return runProgram([program], {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: databaseUrl,
    SECRET_KEY: '0'.repeat(64),
  });
}

it.each(['verify', 'redrive'])('%s says that it takes no argument, and does nothing then', async (name) => {
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: 'sqlite:/nowhere/barid.db' };
  const run = (more: NodeJS.ProcessEnv) =>
    runProgram([`src/bootstrap/${name}.ts`, '--help'], { ...env, ...more });
  const text = 'It takes no argument, and reads the configuration of the service.\n';
  expect(await run({})).toEqual({ code: 2, stdout: '', stderr: `usage: barid ${name}\n${text}` });
  const byScript = await run({ npm_lifecycle_event: name });
  expect(byScript.stderr).toBe(`usage: npm run ${name}\n${text}`);
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
    await stores.jobs.add([job]);
    const leased = await stores.jobs.lease({ workerId: 'worker', now: NOW, until: NOW + 1, limit: 1 });
    await stores.jobs.fail(leased, { reason: 'planted', at: NOW, retryAt: NOW, failuresMax: 1 });
  });
  expect(await verify(filename)).toEqual({
    code: 1,
    stderr: '',
    stdout:
      `job ${job.id} was dead-lettered at 2026-01-15T12:00:00.000Z: planted\n` +
      'verify: 0 projects, 0 differences, 1 dead-letter job\n',
  });

  expect(await runAt('src/bootstrap/redrive.ts', `sqlite:${filename}`)).toEqual({
    code: 0,
    stdout: 'redrive: 1 job due again\n',
    stderr: '',
  });
  await unitOfWork.run(async (stores) => {
    await stores.projects.insert([aProject()]);
    await stores.accounts.insert([aNewAccount()]);
  });
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
  expect(away.stderr).toMatch(/^Barid cannot reach its database: .*ECONNREFUSED.*\n$/);
  expect(await verifyAt('mysql://localhost')).toMatchObject({ code: EXIT_CONFIGURATION, stdout: '' });
});
