import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Config, ConfigError, readConfig } from '../../../src/bootstrap/config/config.ts';
import { secretKeyFor } from '../../../src/bootstrap/config/secret-key.ts';

const STARTS = 4;
const ROUNDS = 20;

const root = mkdtempSync(join(tmpdir(), 'barid-secret-'));
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;
function newFolder(): string {
  folders += 1;
  return join(root, `data-${folders}`);
}

const configIn = (folder: string): Config =>
  readConfig({ DATABASE_URL: `sqlite:${join(folder, 'barid.db')}` });

describe('the key that API keys are hashed with', () => {
  it('makes a key once beside the database, readable by its owner only', () => {
    const folder = newFolder();
    const made = secretKeyFor(configIn(folder));
    expect(made).toHaveLength(32);
    const file = join(folder, 'secret.key');
    expect(readFileSync(file, 'utf8')).toBe(`${made.toString('hex')}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(secretKeyFor(configIn(folder))).toEqual(made);
    expect(readdirSync(folder)).toEqual(['secret.key']);
    expect(secretKeyFor(configIn(newFolder()))).not.toEqual(made);
  });

  it('makes one key for programs that start for the first time at once', async () => {
    const children = Array.from({ length: STARTS }, () =>
      fork(join(import.meta.dirname, 'secret-key-process.ts'), { execArgv: ['--import', 'tsx'] }),
    );
    await Promise.all(children.map((child) => once(child, 'message')));
    for (let round = 1; round <= ROUNDS; round += 1) {
      const folder = newFolder();
      const replies = children.map((child) => once(child, 'message'));
      for (const child of children) child.send(join(folder, 'barid.db'));
      const keys = (await Promise.all(replies)).map(([key]) => key as string);
      expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
      expect(new Set(keys).size).toBe(1);
      expect(readFileSync(join(folder, 'secret.key'), 'utf8')).toBe(`${keys[0]}\n`);
      expect(readdirSync(folder)).toEqual(['secret.key']);
    }
    for (const child of children) child.disconnect();
  });

  it('removes what a start that was killed has left behind, and nothing else', () => {
    const folder = newFolder();
    mkdirSync(folder);
    const leftover = join(folder, 'secret.key.0123456789ab');
    const others = ['secret.key.backup', 'secret.key.0123456789abcdef', 'a.secret.key.0123456789ab'];
    for (const name of others) writeFileSync(join(folder, name), 'of somebody else');
    // Killed before the key had its name.
    writeFileSync(leftover, 'half a ke');
    const made = secretKeyFor(configIn(folder));
    expect(readdirSync(folder).sort()).toEqual([...others, 'secret.key'].sort());
    // Killed after that: a second link to the key.
    linkSync(join(folder, 'secret.key'), leftover);
    expect(secretKeyFor(configIn(folder))).toEqual(made);
    expect(readdirSync(folder).sort()).toEqual([...others, 'secret.key'].sort());
  });

  it('reads the key although a leftover cannot be removed', () => {
    const folder = newFolder();
    const made = secretKeyFor(configIn(folder));
    mkdirSync(join(folder, 'secret.key.0123456789ab'));
    expect(secretKeyFor(configIn(folder))).toEqual(made);
  });

  it('rejects a damaged key file, and changes nothing', () => {
    const folder = newFolder();
    secretKeyFor(configIn(folder));
    const file = join(folder, 'secret.key');
    linkSync(file, `${file}.0123456789ab`);
    rmSync(file);
    for (const damaged of ['', 'a'.repeat(63), 'z'.repeat(64), `${'a'.repeat(64)}\n${'b'.repeat(64)}`]) {
      writeFileSync(file, damaged);
      expect(() => secretKeyFor(configIn(folder))).toThrow(ConfigError);
      expect(() => secretKeyFor(configIn(folder))).toThrow(`SECRET_KEY: ${file} must hold 64 hex characters`);
      expect(readFileSync(file, 'utf8')).toBe(damaged);
      expect(readdirSync(folder)).toHaveLength(2);
    }
  });

  it('names the folder in which no key can be read or made', () => {
    const folder = newFolder();
    writeFileSync(folder, 'a file where a folder should be');
    expect(() => secretKeyFor(configIn(folder))).toThrow(ConfigError);
    expect(() => secretKeyFor(configIn(folder))).toThrow(
      `SECRET_KEY: ${join(folder, 'secret.key')} cannot be read or made (ENOTDIR); set SECRET_KEY, or make the folder writable`,
    );
  });

  it('takes the configured key when there is one, and makes no file', () => {
    const folder = newFolder();
    const config = { ...configIn(folder), secretKey: 'AB'.repeat(32) };
    expect(secretKeyFor(config).toString('hex')).toBe('ab'.repeat(32));
    expect(readdirSync(root)).not.toContain(folder.slice(root.length + 1));
  });

  it('makes a new key each time for a database in memory', () => {
    const config = readConfig({ DATABASE_URL: 'sqlite::memory:' });
    expect(secretKeyFor(config)).not.toEqual(secretKeyFor(config));
  });
});
