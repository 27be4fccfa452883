import { queryPostgres, startPrivatePostgres } from '../../test/support/services.ts';

/**
 * Together more than the write-ahead log of a bench. PostgreSQL keeps files of the log for so much, and a checkpoint by the size of
 * the log comes later still.
 */
const WAL_SETTINGS = { min_wal_size: '2GB', max_wal_size: '4GB' } as const;
/** In megabytes: one statement has a time limit. */
const FILLS = Array.from({ length: 10 }, () => 150);

/**
 * Starts a PostgreSQL of its own whose write-ahead log goes on in files that it has used before, as that of a server does that has
 * been running for an hour. One that has just been made fills each file of 16 MB with zeros, while every commit waits for 30 to
 * 60 ms: under load that comes more than once in a second.
 */
export async function startSteadyPostgres(): ReturnType<typeof startPrivatePostgres> {
  const server = await startPrivatePostgres({ settings: WAL_SETTINGS });
  for (const megabytes of FILLS) {
    const message = "pg_logical_emit_message(true, 'filling', repeat('x', 1024 * 1024))";
    await queryPostgres(server.url, `SELECT count(${message}) FROM generate_series(1, ${megabytes})`);
  }
  await queryPostgres(server.url, 'CHECKPOINT');
  return server;
}
