import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from '../../src/bootstrap/config/config.ts';
import { DEMO_SEED } from '../../src/bootstrap/config/demo-seed.ts';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import { Service } from '../../src/bootstrap/service.ts';
import { MAIN_PROGRAM } from '../support/compiled-service.ts';
import { runProgram } from '../support/program.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

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
