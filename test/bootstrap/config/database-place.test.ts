import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { ConfigError } from '../../../src/bootstrap/config/config.ts';
import { makeDatabasePlace } from '../../../src/bootstrap/config/database-place.ts';

const root = mkdtempSync(join(tmpdir(), 'barid-place-'));
afterAll(() => rmSync(root, { recursive: true }));

const aFile = join(root, 'file');
writeFileSync(aFile, 'no folder');

const makeAt = (filename: string) => makeDatabasePlace({ kind: 'sqlite', filename });

describe('the place of a SQLite database', () => {
  test.each([
    ['below a file', join(aFile, 'barid.db'), 'ENOTDIR'],
    ['far below a file', join(aFile, 'deep', 'data', 'barid.db'), 'ENOTDIR'],
    ['in a folder that cannot be made', '/proc/barid/data/barid.db', 'ENOENT'],
    ['in a folder that takes no files', '/proc/barid.db', 'ENOENT|EACCES'],
    ['that is a folder', root, 'no file'],
    ['that is a device', '/dev/null', 'no file'],
  ])('rejects a place %s in one line', (_, filename, reason) => {
    expect(() => makeAt(filename)).toThrow(ConfigError);
    expect(() => makeAt(filename)).toThrow(
      new RegExp(
        `^DATABASE_URL: ${filename} cannot be used \\((${reason})\\); name a file in a folder that the process may write$`,
      ),
    );
  });

  it('makes the file and its folders for the user of the service only', () => {
    const filename = join(root, 'not', 'yet', 'there', 'barid.db');
    makeAt(filename);
    expect(statSync(filename).mode & 0o777).toBe(0o600);
    for (const folder of ['not', 'not/yet', 'not/yet/there']) {
      expect(statSync(join(root, folder)).mode & 0o777).toBe(0o700);
    }
  });

  it('leaves a file that is there already as it is', () => {
    const folder = join(root, 'there');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    const filename = join(folder, 'barid.db');
    writeFileSync(filename, 'a database', { mode: 0o640 });
    makeAt(filename);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
    expect(statSync(filename)).toMatchObject({ size: 10 });
    expect(statSync(filename).mode & 0o777).toBe(0o640);
  });

  it('makes no file for a database in memory or on PostgreSQL', () => {
    makeAt(':memory:');
    makeDatabasePlace({ kind: 'postgres', url: 'postgres://h/d', poolSize: 2, statementTimeoutMs: 100 });
    expect(existsSync(':memory:')).toBe(false);
  });
});
