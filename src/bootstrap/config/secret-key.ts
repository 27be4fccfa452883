import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sqliteFileOf } from '../../adapters/knex/sqlite/file/sqlite-file.ts';
import { PRIVATE_FILE } from '../../adapters/node/private-modes.ts';
import { codeOf } from '../../application/errors/error-text.ts';
import { type Config, ConfigError, DATA_FOLDER } from './config.ts';
import { SECRET_KEY_BYTES, SECRET_KEY_FORM, SECRET_KEY_PATTERN } from './config-entries.ts';

const KEY_FILE = 'secret.key';
const LEFTOVER_PATTERN = /^secret\.key\.[0-9a-f]{12}$/;
/** The key is there already, or the file aside is gone because of that. */
const MADE_BY_ANOTHER: ReadonlySet<string> = new Set(['EEXIST', 'ENOENT']);

/**
 * The key that API keys are hashed and webhook secrets sealed with: the configured one, else the one in the data
 * folder, made on first use. A database in memory gets one of its own. Throws `ConfigError` when the file holds
 * anything else, or can neither be read nor made.
 */
export function secretKeyFor({ secretKey, database }: Config): Buffer {
  if (secretKey !== null) return Buffer.from(secretKey, 'hex');
  if (database.kind === 'sqlite' && sqliteFileOf(database) === null) return randomBytes(SECRET_KEY_BYTES);
  const file = secretKeyFile(database);
  const text = readOrMakeKey(file);
  if (!SECRET_KEY_PATTERN.test(text)) {
    throw new ConfigError([{ name: 'SECRET_KEY', problem: `${file} must hold ${SECRET_KEY_FORM}` }]);
  }
  removeLeftovers(file);
  return Buffer.from(text, 'hex');
}

/** The key of an installation that has one: none is made. Throws `ConfigError` when there is none. */
export function existingSecretKey(config: Config): Buffer {
  const file = secretKeyFile(config.database);
  if (config.secretKey === null && !existsSync(file)) {
    const problem = `is not set, and ${file} is missing; set the one of the first start, or put the file back`;
    throw new ConfigError([{ name: 'SECRET_KEY', problem }]);
  }
  return secretKeyFor(config);
}

/** Where the key is when none is configured. */
export function secretKeyFile(database: Config['database']): string {
  const file = sqliteFileOf(database);
  return join(file === null ? DATA_FOLDER : dirname(file), KEY_FILE);
}

function readOrMakeKey(file: string): string {
  try {
    return readKey(file) ?? makeKey(file);
  } catch (error) {
    throw new ConfigError([
      {
        name: 'SECRET_KEY',
        problem: `${file} cannot be read or made (${codeOf(error)}); set SECRET_KEY, or make the folder writable`,
      },
    ]);
  }
}

function readKey(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Written aside and linked into place, so that two first starts agree on one whole key. The other start may remove the
 * file aside as a leftover, but only once the key is in its place.
 */
function makeKey(file: string): string {
  mkdirSync(dirname(file), { recursive: true });
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(aside, 'wx', PRIVATE_FILE);
  writeSync(descriptor, `${randomBytes(SECRET_KEY_BYTES).toString('hex')}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
  try {
    linkSync(aside, file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!MADE_BY_ANOTHER.has(code)) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  return readFileSync(file, 'utf8').trim();
}

/** What a start that was killed has left beside the key: it may be a second link to it. What cannot be removed stays. */
function removeLeftovers(file: string): void {
  const folder = dirname(file);
  try {
    const leftovers = readdirSync(folder).filter((name) => LEFTOVER_PATTERN.test(name));
    for (const name of leftovers) rmSync(join(folder, name), { force: true });
  } catch {
    // The key itself is there: nothing of this start depends on the rest of the folder.
  }
}
