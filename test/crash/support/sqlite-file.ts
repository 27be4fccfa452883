import { copyFileSync, existsSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { PARTIAL_ABANDONED_MS } from '../../../src/adapters/node/whole-file.ts';
import { checkLedger, type LedgerReport } from './ledger-check.ts';

const COMPANIONS = ['-wal', '-shm'] as const;

/** Reads or changes a database that no service has open. A log that a killed process left is read as well. */
export async function withFile<T>(
  filename: string,
  work: (database: Sqlite.Database) => T,
): Promise<Awaited<T>> {
  const database = new Sqlite(filename, { fileMustExist: true });
  try {
    return await work(database);
  } finally {
    database.close();
  }
}

/** Puts a copy of `source`, which has no log, in the place of `target` and of its log. */
export function putFile(source: string, target: string): void {
  for (const end of COMPANIONS) rmSync(target + end, { force: true });
  copyFileSync(source, target);
}

/** Names of files beside `target` that a copy of it was being written to. */
export function partialsOf(target: string): readonly string[] {
  return readdirSync(dirname(target)).filter((name) => name.startsWith(`${basename(target)}.partial-`));
}

/** Makes the files of `partialsOf` so old that the next run takes them for abandoned. */
export function agePartials(target: string): void {
  const then = new Date(Date.now() - PARTIAL_ABANDONED_MS);
  for (const name of partialsOf(target)) utimesSync(join(dirname(target), name), then, then);
}

/**
 * Whether a file is a whole database, and its ledger agrees with its messages. With `acknowledged` all of them have to be final.
 */
export function checkFile(filename: string, acknowledged?: ReadonlySet<string>): Promise<LedgerReport> {
  if (!existsSync(filename)) throw new Error(`There is no file ${filename}`);
  return withFile(filename, async (database) => {
    const integrity = database.pragma('integrity_check', { simple: true });
    const report = await checkLedger(
      async (sql) => database.prepare<[], Record<string, unknown>>(sql).all(),
      { acknowledged: acknowledged ?? new Set(), quiet: acknowledged !== undefined },
    );
    if (integrity !== 'ok') report.problems.push(`integrity: ${integrity}`);
    return report;
  });
}

/** How many rows a table has. */
export function countRows(database: Sqlite.Database, from: string): number {
  return database.prepare<[], { n: number }>(`SELECT COUNT(*) AS n FROM ${from}`).get()?.n ?? 0;
}
