import Sqlite from 'better-sqlite3';
import { applyPragmas, OPEN_TIMEOUT_MS } from '../../src/adapters/knex/sqlite/sqlite-pragmas.ts';
import { Checkpointer } from '../../src/adapters/knex/sqlite/wal/checkpointer.ts';
import { BATCH_ITEMS_MAX } from '../../src/application/batching/batch-queue.ts';
import { SMS_ID_PREFIX } from '../../src/domain/messages/message.ts';
import { serve } from '../../test/support/child-process.ts';
import { load, smsRequest } from '../../test/support/http-load.ts';
import { LOAD_API_KEY, loadSeed } from '../../test/support/load-seed.ts';
import { startLoadService } from '../../test/support/load-service.ts';

/**
 * What the rows of a send cost with nothing around them: a loop of prepared statements, in full batches, on a file with the
 * tables, the pragmas (but for `synchronous`) and the checkpoints of the service. It reads nothing.
 */

type Value = string | number | null;

const TRUNCATE_INTERVAL_MS = 20_000;
const ID_DIGITS = 24;
const SENT = { port: 0, connections: 1, seconds: 10, requests: 1 };

const filename = (process.env.DATABASE_URL ?? '').replace(/^sqlite:/, '');

// The service makes the tables and accepts one send, whose rows are the pattern of all others.
const { service, port } = await startLoadService({ seed: loadSeed(), role: 'api' });
const { responses, failed } = await load({
  ...SENT,
  port,
  makeRequest: smsRequest({ apiKey: LOAD_API_KEY }),
});
if (responses - failed !== 1) throw new Error('The send was not accepted');
await service.stop();

const database = new Sqlite(filename);
applyPragmas(database, true);
// This loop has nothing to do during a sync, so SQLite syncs at each commit.
database.pragma('synchronous = FULL');
// A full checkpoint keeps writers out for a moment, and this loop has nothing else to do meanwhile.
database.pragma(`busy_timeout = ${OPEN_TIMEOUT_MS}`);
new Checkpointer({ filename, truncateIntervalMs: TRUNCATE_INTERVAL_MS, onFailed() {} });
const { sms_id: patternId, project_id: projectId, cost } = rowOf('SELECT * FROM messages');
const insertMessage = insertLike('messages', rowOf('SELECT * FROM messages'));
const insertEntry = insertLike('ledger_entries', rowOf("SELECT * FROM ledger_entries WHERE kind = 'hold'"));
const insertJob = insertLike('jobs', rowOf("SELECT * FROM jobs WHERE id LIKE 'sms-%'"));
const hold = database.prepare('UPDATE accounts SET held = held + ? WHERE project_id = ?');
let sends = 0;

const writeBatch = database.transaction(() => {
  for (let index = 0; index < BATCH_ITEMS_MAX; index += 1) {
    sends += 1;
    const smsId =
      SMS_ID_PREFIX + (BigInt(Date.now()) * 2n ** 48n + BigInt(sends)).toString(16).padStart(ID_DIGITS, '0');
    insertMessage(smsId);
    insertEntry(smsId);
    insertJob(smsId);
  }
  hold.run(BATCH_ITEMS_MAX * Number(cost), projectId);
});

const handlers = {
  /** Writes the rows of sends for that many seconds, and resolves with the sends per second. */
  write: (seconds: number): number => {
    const startedAt = performance.now();
    const before = sends;
    while (performance.now() - startedAt < seconds * 1_000) writeBatch.immediate();
    return (sends - before) / ((performance.now() - startedAt) / 1_000);
  },
};
export type BareStorageHandlers = typeof handlers;

serve(0, handlers);
process.on('SIGTERM', () => process.exit());

function rowOf(select: string): Readonly<Record<string, Value>> {
  const row = database.prepare<[], Record<string, Value>>(select).get();
  if (row === undefined) throw new Error(`The send has left no row: ${select}`);
  return row;
}

/** Inserts a row like this one for another send. */
function insertLike(table: string, pattern: Readonly<Record<string, Value>>): (smsId: string) => void {
  const places = Object.keys(pattern).map(() => '?');
  const insert = database.prepare<Value[]>(
    `INSERT INTO ${table} (${Object.keys(pattern).join(', ')}) VALUES (${places.join(', ')})`,
  );
  const columns = Object.values(pattern).map((value) => {
    if (typeof value !== 'string' || !value.includes(String(patternId))) return () => value;
    const [before = '', after = ''] = value.split(String(patternId));
    return (smsId: string): Value => before + smsId + after;
  });
  return (smsId) => void insert.run(...columns.map((column) => column(smsId)));
}
