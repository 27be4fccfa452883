import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/adapters/knex/database.ts';
import { readConfig } from '../../src/bootstrap/config/config.ts';
import { DEMO_SEED } from '../../src/bootstrap/config/demo-seed.ts';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import { Service } from '../../src/bootstrap/service.ts';
import { MAIN_PROGRAM } from '../support/compiled-service.ts';
import { runProgram } from '../support/program.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { createDatabase, queryPostgres } from '../support/services.ts';

const POSTGRES_URL = process.env.TEST_POSTGRES_URL;
const SECRET_KEY = '02'.repeat(32);
const folder = mkdtempSync(join(tmpdir(), 'barid-failed-start-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('a program that cannot fill up the demo project stops its service before it ends', async () => {
  const filename = join(folder, 'barid.db');
  const environment = { DATABASE_URL: `sqlite:${filename}`, SECRET_KEY, PORT: '0' };
  const service = new Service({
    ...readConfig(environment),
    role: 'all',
    secretKey: Buffer.from(SECRET_KEY, 'hex'),
    clock: { now: () => Date.now() },
    logger: new RecordingLogger(),
    watchesClock: false,
    seed: readSeed(DEMO_SEED),
  });
  await service.start();
  await service.stop();
  const database = new Sqlite(filename);
  database.exec(`UPDATE accounts SET balance = 0;
    CREATE TRIGGER no_records BEFORE INSERT ON audit_records BEGIN SELECT RAISE(ABORT, 'no records'); END`);
  const { code, stderr } = await runProgram([MAIN_PROGRAM], {
    PATH: process.env.PATH ?? '',
    ...environment,
  });
  expect(code).not.toBe(0);
  expect(stderr).toContain('no records');
  expect(database.prepare('SELECT id FROM workers').all()).toEqual([]);
  database.close();
});

it.skipIf(POSTGRES_URL === undefined)(
  `a program whose tables another process has locked ends with code 69 and one line${POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  async () => {
    const server = POSTGRES_URL ?? '';
    const name = `failed_start_${randomUUID().replaceAll('-', '')}`;
    const url = await createDatabase(server, name);
    const database = openDatabase({ kind: 'postgres', url, poolSize: 1, statementTimeoutMs: 10_000 });
    await database.migrate();
    await database.close();
    const other = new pg.Client(url);
    await other.connect();
    onTestFinished(async () => {
      await other.end();
      await queryPostgres(server, `DROP DATABASE ${name} WITH (FORCE)`);
    });
    await other.query('BEGIN; LOCK TABLE projects IN ACCESS EXCLUSIVE MODE');
    const environment = { DATABASE_URL: url, SEED_FILE: 'none', SECRET_KEY, PORT: '0' };
    const ended = await runProgram([MAIN_PROGRAM], { PATH: process.env.PATH ?? '', ...environment });
    expect(ended.code).toBe(69);
    expect(ended.stderr).toMatch(
      /^Barid cannot start:\nDATABASE_URL: another process has locked the database: .+\n$/,
    );
  },
);
