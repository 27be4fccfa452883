import { existsSync } from 'node:fs';
import { millisecondsInSecond } from 'date-fns/constants';
import { type Database, openDatabase } from '../../../adapters/knex/database.ts';
import { sqliteFileOf } from '../../../adapters/knex/sqlite/file/sqlite-file.ts';
import { SqlUnitOfWork } from '../../../adapters/knex/unit-of-work.ts';
import { HmacKeyHasher } from '../../../adapters/node/hmac-key-hasher.ts';
import { CheckSecretKey, WrongSecretKey } from '../../../application/access/check-secret-key.ts';
import { StorageUnwritable } from '../../../application/errors/storage-unavailable.ts';
import { type Config, ConfigError } from '../../config/config.ts';
import { isStillToBeMade } from '../../config/database-place.ts';
import { secretKeyFile, secretKeyFor } from '../../config/secret-key.ts';
import { counted } from '../console/counted.ts';
import { type Finding, reasonIn, well, wrong } from './finding.ts';

/** Clocks that differ more make leases and webhooks of several processes early or late. */
const CLOCK_MS_MAX = millisecondsInSecond;

/** Whether the database is reachable, at this version and writable, its clock is ours, and the secret key is its own. */
export async function examineDatabase(config: Config): Promise<readonly Finding[]> {
  const { database: place } = config;
  if (isStillToBeMade(place)) {
    return [
      well(
        'database',
        `${sqliteFileOf(place) ?? 'a database in memory'} does not exist yet: the first start makes it`,
      ),
    ];
  }
  const database = openDatabase(place);
  try {
    const fault = await tablesFault(database);
    if (fault !== null) return [fault];
    return [
      ...(await writing(database)),
      ...(await clock(database, place)),
      await secretKey(database, config),
    ];
  } catch (error) {
    return [wrong('database', reasonIn(error), 'check DATABASE_URL, and that the database runs')];
  } finally {
    await database.close();
  }
}

/** What keeps this version from working with the tables; null when nothing does. */
async function tablesFault(database: Database): Promise<Finding | null> {
  const fault = await database.fault();
  if (fault !== null) return wrong('database', fault.detail, fault.advice);
  if (!(await database.hasTables())) {
    return wrong('database', 'has no tables', 'run barid migrate, or check DATABASE_URL');
  }
  const { pending } = await database.migrationStatus();
  if (pending.length === 0) return null;
  const detail = `has tables of an older version: ${counted(pending.length, 'migration')} pending`;
  return wrong('database', detail, 'run barid migrate, or start the service of this version on it');
}

async function writing(database: Database): Promise<readonly Finding[]> {
  try {
    await new SqlUnitOfWork(database).ping();
    return [well('database', 'responds, and stores what is written')];
  } catch (error) {
    if (!(error instanceof StorageUnwritable)) throw error;
    return [wrong('database', `stores nothing: ${error.reason}`, 'make space, or give the right to write')];
  }
}

async function clock(database: Database, { kind }: Config['database']): Promise<readonly Finding[]> {
  if (kind === 'sqlite') return [];
  const before = Date.now();
  const { rows } = await database.knex.raw('SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS now');
  const after = Date.now();
  const theirs = Number(rows[0].now);
  const apart = Math.round(Math.max(0, before - theirs, theirs - after));
  const detail = `${apart} ms apart from the clock of the database`;
  return [apart <= CLOCK_MS_MAX ? well('clock', detail) : wrong('clock', detail, 'run NTP on both machines')];
}

async function secretKey(database: Database, config: Config): Promise<Finding> {
  const file = secretKeyFile(config.database);
  if (config.secretKey === null && !existsSync(file)) {
    return wrong(
      'secret key',
      `${file} is missing`,
      'set the SECRET_KEY of the first start, or put the file back',
    );
  }
  try {
    const keyHasher = new HmacKeyHasher({ secretKey: secretKeyFor(config) });
    await new CheckSecretKey({ unitOfWork: new SqlUnitOfWork(database), keyHasher }).execute();
    return well('secret key', 'is the one of this database');
  } catch (error) {
    if (error instanceof WrongSecretKey) {
      return wrong('secret key', 'is not the one of this database', 'set the SECRET_KEY of the first start');
    }
    if (error instanceof ConfigError) return wrong('secret key', error.message, 'see docs/configuration.md');
    throw error;
  }
}
