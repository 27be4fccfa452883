import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { closeLog, faultsOf } from '../../../adapters/knex/sqlite/file/sqlite-check.ts';
import { snapshotSqlite } from '../../../adapters/knex/sqlite/file/sqlite-snapshot.ts';
import { makePartial, placeNew, removePartial } from '../../../adapters/node/whole-file.ts';
import { differencesIn } from '../../../application/billing/audit-ledger.ts';
import type { Config } from '../../config/config.ts';
import { SECRET_KEY_BYTES } from '../../config/config-entries.ts';
import { EXIT_NOT_DONE, EXIT_UNAVAILABLE } from '../../exit-codes.ts';
import type { CommandContext } from '../console/command-context.ts';
import { counted } from '../console/counted.ts';
import { ProgressBar } from '../console/progress-bar.ts';
import { closeRoots, NO_TABLES, openRoots, withDatabase } from '../on-database.ts';
import { backedUpFileOf, configOfCopy, removeLeftovers } from './sqlite-copies.ts';

const BYTES_PER_MB = 1_000_000;
/** New files are for their owner alone. */
const PRIVATE_UMASK = 0o077;

/** The audit of sums needs no key, and no key is made where the service has another one. */
const NO_KEY = Buffer.alloc(SECRET_KEY_BYTES);

/** What a backup holds, as `--json` prints it. */
interface BackupResult {
  readonly file: string;
  readonly bytes: number;
  /** Null when the tables are of another version, whose sums this one cannot check. */
  readonly differences: readonly string[] | null;
}

/**
 * Copies the SQLite database beside a running service. The file has its name only when it is whole, checked and on the disk,
 * and never replaces another. Resolves with the exit code: 0; `EXIT_NOT_DONE` when no backup was made, or when the audit of it
 * finds differences; `EXIT_UNAVAILABLE`. Throws `ConfigError` for a database that is no SQLite file.
 */
export async function backUp(config: Config, file: string, context: CommandContext): Promise<number> {
  const { output } = context;
  const source = backedUpFileOf(config);
  return withDatabase(output, async () => {
    if (!existsSync(source)) {
      output.error(NO_TABLES);
      return EXIT_UNAVAILABLE;
    }
    if (existsSync(file)) {
      output.error(`backup: ${file} exists; a backup replaces no file`);
      return EXIT_NOT_DONE;
    }
    if (!existsSync(dirname(file))) {
      output.error(`backup: there is no folder ${dirname(file)}; make it first`);
      return EXIT_NOT_DONE;
    }
    try {
      const result = await writeBackup(config, source, file, new ProgressBar(output, 'backup'));
      context.print(result, () => linesOf(result));
      return (result.differences ?? []).length === 0 ? 0 : EXIT_NOT_DONE;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      output.error(`backup: no backup was made: ${error.message}`);
      return EXIT_NOT_DONE;
    }
  });
}

async function writeBackup(
  config: Config,
  source: string,
  file: string,
  bar: ProgressBar,
): Promise<BackupResult> {
  removeLeftovers(file);
  const umask = process.umask(PRIVATE_UMASK);
  const partial = makePartial(file);
  try {
    await snapshotSqlite(source, partial, (written, total) => bar.draw(written, total));
    bar.end();
    const [fault] = faultsOf(partial);
    if (fault !== undefined) throw new Error(`the copy is damaged, and so may be the database: ${fault}`);
    const differences = await differencesOf(configOfCopy(config, partial, NO_KEY));
    closeLog(partial);
    placeNew(partial, file);
    return { file, bytes: statSync(file).size, differences };
  } finally {
    bar.end();
    removePartial(partial);
    process.umask(umask);
  }
}

async function differencesOf(config: Config): Promise<readonly string[] | null> {
  const roots = openRoots(config);
  try {
    const { applied, pending, unknown } = await roots.database.migrationStatus();
    if (applied.length === 0) throw new Error('the database has no tables of Barid');
    if (pending.length + unknown.length > 0) return null;
    return differencesIn(await roots.auditLedger.execute());
  } finally {
    await closeRoots(roots);
  }
}

function linesOf({ file, bytes, differences }: BackupResult): readonly string[] {
  const sums =
    differences === null
      ? 'its tables are of another version, so that no sum was checked'
      : counted(differences.length, 'difference');
  return [
    ...(differences ?? []),
    `backup: ${file}, ${(bytes / BYTES_PER_MB).toFixed(1)} MB, whole, ${sums}`,
    'backup: it is of use only with the SECRET_KEY of the service, and has no report files',
  ];
}
