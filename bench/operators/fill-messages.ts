import type { Database } from '../../src/adapters/knex/database.ts';
import { SqliteNumberBlocks } from '../../src/adapters/knex/sqlite/sqlite-number-blocks.ts';
import { SMS_ID_PREFIX } from '../../src/domain/messages/message.ts';

/** Messages as an installation has them after a year: some numbers with very many, most with a few. */

const ROWS_PER_STATEMENT = 100_000;
const PROJECTS = 20;
const BUSY_NUMBERS = 100;
/** Every tenth message goes to one of the busy numbers: 10,000 messages each, of 10,000,000. */
const BUSY_SHARE = 10;
const MESSAGES_PER_OTHER_NUMBER = 5;
/** Every fiftieth message failed. */
const FAILED_SHARE = 50;
const LOCK_WAIT_MS = 60_000;
const YEAR_MS = 365 * 86_400_000;
/** Spreads the numbers over the year. */
const PRIME = 7_919;

export interface Filled {
  readonly count: number;
  /** The first message is from then, and the last one from a year later, in milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
  readonly project: (index: number) => string;
  readonly projectId: (index: number) => string;
  readonly busyNumber: (index: number) => string;
  readonly otherNumber: (index: number) => string;
}

/** Stores `count` messages of the year before now, unless the database has messages. */
export async function fillMessages(database: Database, count: number, now: number): Promise<Filled> {
  const { knex } = database;
  const [newest] = await knex('messages').where('project_id', projectId(0)).max({ at: 'created_at' });
  const isEmpty = newest?.at == null;
  const until = isEmpty ? now : Number(newest.at);
  const filled = describe(count, until);
  if (!isEmpty) return filled;
  for (let project = 0; project < PROJECTS; project += 1) {
    await knex('projects').insert({
      id: projectId(project),
      name: 'Bench',
      slug: `bench-${project}`,
      environment: 'dev',
      settings: '{}',
    });
  }
  const isSqlite = database.dialect.numberIndex === 'blocks';
  // The thread that writes the log back locks the file for a moment.
  if (isSqlite) await knex.raw(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
  for (let from = 1; from <= count; from += ROWS_PER_STATEMENT) {
    const to = Math.min(count, from + ROWS_PER_STATEMENT - 1);
    await knex.raw(insertOf(isSqlite ? SQLITE : POSTGRES, { count, until, from, to }));
  }
  if (isSqlite) await closeBlocks(database, count);
  else await knex.raw('VACUUM ANALYZE messages');
  return filled;
}

/** The blocks by number that the service would have made one by one. */
async function closeBlocks({ knex }: Database, count: number): Promise<void> {
  await knex.transaction(async (transaction) => {
    new SqliteNumberBlocks(await transaction.client.acquireConnection()).noteInserted(count);
  });
}

function describe(count: number, until: number): Filled {
  return {
    count,
    since: until - YEAR_MS,
    until,
    project: (index) => `bench-${index % PROJECTS}`,
    projectId: (index) => projectId(index % PROJECTS),
    busyNumber: (index) => `9647700${String(index % BUSY_NUMBERS).padStart(6, '0')}`,
    otherNumber: (index) => `96478${String((index * 104_729) % otherNumbers(count)).padStart(8, '0')}`,
  };
}

function projectId(project: number): string {
  return String(project).padStart(24, '0');
}

function otherNumbers(count: number): number {
  return Math.ceil(count / MESSAGES_PER_OTHER_NUMBER);
}

/** The words of a fill in which the databases differ. */
interface Words {
  readonly numbers: (from: number, to: number) => string;
  readonly padded: (value: string, digits: number) => string;
  readonly hex: (value: string) => string;
}

const SQLITE: Words = {
  numbers: (from, to) =>
    `(WITH RECURSIVE s(n) AS (VALUES (${from}) UNION ALL SELECT n + 1 FROM s WHERE n < ${to}) SELECT n FROM s)`,
  padded: (value, digits) => `printf('%0${digits}d', ${value})`,
  hex: (value) => `printf('%012x', ${value})`,
};

const POSTGRES: Words = {
  numbers: (from, to) => `(SELECT n::bigint FROM generate_series(${from}, ${to}) AS n) AS s`,
  padded: (value, digits) => `lpad((${value})::text, ${digits}, '0')`,
  hex: (value) => `lpad(to_hex(${value}), 12, '0')`,
};

interface Part {
  readonly count: number;
  readonly until: number;
  readonly from: number;
  readonly to: number;
}

function insertOf({ numbers, padded, hex }: Words, { count, until, from, to }: Part): string {
  const time = `(${until - YEAR_MS} + n * ${Math.floor(YEAR_MS / count)})`;
  const busy = `'9647700' || ${padded(`n / ${BUSY_SHARE} % ${BUSY_NUMBERS}`, 6)}`;
  const other = `'96478' || ${padded(`n * ${PRIME} % ${otherNumbers(count)}`, 8)}`;
  const attempts = `'[{"channel":"sms","state":"delivered","reason":null,"providerMessageIds":["simulator-1"],"deliveredIds":[],"startedAt":1767225600000,"endedAt":1767225600000}]'`;
  return `
    INSERT INTO messages (sms_id, project_id, phone_number, whatsapp_sender, content, channels, attempts, status,
      is_final, cost, prices, settlement, attempt_timeout_ms, created_at, sent_at, final_at)
    SELECT '${SMS_ID_PREFIX}' || ${hex(time)} || ${hex('n')}, ${padded(`n / 3 % ${PROJECTS}`, 24)},
      CASE WHEN n % ${BUSY_SHARE} = 0 THEN ${busy} ELSE ${other} END, '{}',
      '{"smsType":"verification","verificationCode":"******"}', '["sms"]', ${attempts},
      CASE WHEN n % ${FAILED_SHARE} = 1 THEN 'failed' ELSE 'delivered' END, 1, 80000, '{"sms":80000}', 'quoted', 30000,
      ${time}, ${time}, ${time}
    FROM ${numbers(from, to)}`;
}
