import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import type { Target } from './target.ts';

/** A program that holds the lock for longer is no neighbour any more. */
const FILE_LOCK_SECONDS_MAX = 20;

/** Locks the account of the attacking project, as an operator may whose transaction stays open. */
export async function holdAccountLock({ databaseUrl, seconds }: Target): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query(
    "SELECT * FROM accounts WHERE project_id = (SELECT id FROM projects WHERE slug = 'bench') FOR UPDATE",
  );
  await sleep(seconds * 1000);
  await client.end();
}

/** Holds the only write lock of the SQLite file, as a program of an operator may; it writes nothing. */
export async function holdFileLock({ databaseUrl, seconds }: Target): Promise<number> {
  const database = new Sqlite(databaseUrl.replace(/^sqlite:/, ''));
  database.exec('BEGIN IMMEDIATE');
  await sleep(Math.min(seconds, FILE_LOCK_SECONDS_MAX) * 1000);
  database.exec('ROLLBACK');
  database.close();
  return 1;
}
