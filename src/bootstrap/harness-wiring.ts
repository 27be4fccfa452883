import { randomBytes } from 'node:crypto';
import type { DatabaseConfig } from '../adapters/knex/database.ts';
import { openDatabase } from '../adapters/knex/database.ts';
import { deleteTopology } from '../adapters/rabbitmq/delete-topology.ts';
import { type QueueConfig, readConfig } from './config.ts';

/** A database and a queue of a harness's own. */
export interface HarnessWiring {
  readonly database: DatabaseConfig;
  readonly queue: QueueConfig;
}

const STATEMENT_TIMEOUT_MS = 20_000;
const POOL_SIZE = 4;

/** In memory, or on the servers that the environment names, under a name of its own. */
export function wiringOf(environment: Readonly<Record<string, string | undefined>>): HarnessWiring {
  const name = `harness_${randomBytes(6).toString('hex')}`;
  const { database, queue } = readConfig({
    DATABASE_URL: environment.HARNESS_DATABASE_URL || 'sqlite::memory:',
    QUEUE_URL: environment.HARNESS_QUEUE_URL,
    QUEUE_PREFIX: name,
    DATABASE_POOL_SIZE: String(POOL_SIZE),
    DATABASE_STATEMENT_TIMEOUT_MS: String(STATEMENT_TIMEOUT_MS),
  });
  return { database: database.kind === 'postgres' ? { ...database, schema: name } : database, queue };
}

/** Removes the schema and the queues of a harness from the servers. Its service has to be stopped first. */
export async function removeWiring({ database, queue }: HarnessWiring): Promise<void> {
  if (database.kind === 'postgres' && database.schema !== undefined) {
    const opened = openDatabase(database);
    await opened.knex.raw('DROP SCHEMA IF EXISTS ?? CASCADE', [database.schema]);
    await opened.close();
  }
  if (queue.kind === 'rabbitmq') await deleteTopology(queue.url, queue.prefix);
}
