import { queryPostgres, startPrivatePostgres } from '../../test/support/services.ts';

/** More than the write-ahead log of a bench: files for so much are kept, and no checkpoint comes because of the size of the log. */
const WAL_SETTINGS = { min_wal_size: '2GB', max_wal_size: '4GB' } as const;
/** Filled by several statements, each of which has a time limit. */
const FILLS = 10;
const FILL_MEGABYTES = 150;

/**
 * Starts a PostgreSQL of its own whose write-ahead log goes on in files that it has used before, as that of a server does that has
 * been running for an hour. One that has just been made fills each file of 16 MB with zeros, while every commit waits for 30 to
 * 60 ms: under load that comes more than once in a second.
 */
export async function startSteadyPostgres(): ReturnType<typeof startPrivatePostgres> {
  const server = await startPrivatePostgres({ settings: WAL_SETTINGS });
  const message = "pg_logical_emit_message(true, 'filling', repeat('x', 1024 * 1024))";
  for (let fill = 0; fill < FILLS; fill += 1) {
    await queryPostgres(server.url, `SELECT count(${message}) FROM generate_series(1, ${FILL_MEGABYTES})`);
  }
  await queryPostgres(server.url, 'CHECKPOINT');
  return server;
}
