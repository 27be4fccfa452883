import { randomBytes } from 'node:crypto';
import type { DatabaseConfig } from '../../adapters/knex/database.ts';
import { takeScratchDatabase } from '../../adapters/knex/scratch-database.ts';
import { deleteTopology } from '../../adapters/rabbitmq/delete-topology.ts';
import { type QueueConfig, readConfig } from '../config/config.ts';

/** A database and a queue of a harness's own. */
export interface HarnessWiring {
  readonly database: DatabaseConfig;
  readonly queue: QueueConfig;
  /** Releases the database and deletes the queues. The service of the harness has to be stopped first. */
  close(): Promise<void>;
}

const STATEMENT_TIMEOUT_MS = 20_000;
const POOL_SIZE = 4;

/** In memory, or on the servers that the environment names, under a name of its own. */
export async function openWiring(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<HarnessWiring> {
  const name = `harness_${randomBytes(6).toString('hex')}`;
  const { database, queue } = readConfig({
    DATABASE_URL: environment.HARNESS_DATABASE_URL || 'sqlite::memory:',
    QUEUE_URL: environment.HARNESS_QUEUE_URL,
    QUEUE_PREFIX: name,
    DATABASE_POOL_SIZE: String(POOL_SIZE),
    DATABASE_STATEMENT_TIMEOUT_MS: String(STATEMENT_TIMEOUT_MS),
  });
  const scratch = await takeScratchDatabase(database);
  return {
    database: scratch.config,
    queue,
    async close() {
      await scratch.release();
      if (queue.kind === 'rabbitmq') await deleteTopology(queue.url, queue.prefix);
    },
  };
}
