import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import Sqlite from 'better-sqlite3';
import { stringify } from 'csv-stringify';
import pg from 'pg';

/** The ten columns of a report, as they are stored. */
const SELECT = `SELECT sms_id, phone_number, sender_id, cost, content, status, error_reason, is_final, created_at, sent_at
  FROM messages ORDER BY project_id, created_at, sms_id`;
const ROWS_FETCHED = 1_000;

/** What a report is compared with: a bare loop from a SELECT over csv-stringify to a file. Resolves with the rows written. */
export async function bareReport(databaseUrl: string, file: string): Promise<number> {
  const stringifier = stringify({ escape_formulas: true });
  const written = pipeline(stringifier, createWriteStream(file));
  let rows = 0;
  for await (const row of databaseUrl.startsWith('sqlite:')
    ? sqliteRows(databaseUrl.slice('sqlite:'.length))
    : postgresRows(databaseUrl)) {
    rows += 1;
    if (!stringifier.write(row)) await once(stringifier, 'drain');
  }
  stringifier.end();
  await written;
  return rows;
}

function* sqliteRows(filename: string): Generator<unknown> {
  const database = new Sqlite(filename, { readonly: true });
  try {
    yield* database.prepare(SELECT).raw(true).iterate();
  } finally {
    database.close();
  }
}

async function* postgresRows(url: string): AsyncGenerator<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`DECLARE report CURSOR FOR ${SELECT}`);
    for (;;) {
      const { rows } = await client.query({ text: `FETCH ${ROWS_FETCHED} FROM report`, rowMode: 'array' });
      yield* rows;
      if (rows.length < ROWS_FETCHED) return;
    }
  } finally {
    await client.end();
  }
}
