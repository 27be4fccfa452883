import { existsSync, mkdirSync } from 'node:fs';
import { chmod, copyFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setInterval } from 'node:timers';
import type Sqlite from 'better-sqlite3';
import { openAlone } from '../../../adapters/knex/sqlite/file/sqlite-alone.ts';
import { closeLog, faultsOf } from '../../../adapters/knex/sqlite/file/sqlite-check.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../../adapters/node/private-modes.ts';
import { makePartial, placeNew, removePartial, replaceKeeping } from '../../../adapters/node/whole-file.ts';
import { differencesIn } from '../../../application/billing/audit-ledger.ts';
import { messageOf } from '../../../application/errors/error-text.ts';
import type { MarkedRestored } from '../../../application/restores/mark-restored.ts';
import type { Config } from '../../config/config.ts';
import { existingSecretKey } from '../../config/secret-key.ts';
import type { ProgressBar } from '../console/progress-bar.ts';
import { closeRoots, openRoots } from '../on-database.ts';
import { configOfCopy, hasLog, removeLeftovers, withoutLinks } from './sqlite-copies.ts';

/** The file cannot take the place of the database; nothing was changed. */
export class RestoreRejected extends Error {
  override readonly name = 'RestoreRejected';
}

interface Restore {
  readonly config: Config;
  readonly file: string;
  /** The SQLite file of the service. */
  readonly target: string;
  /** Whether messages of the backup may start further attempts. */
  readonly sendsAgain: boolean;
  readonly bar: Pick<ProgressBar, 'draw' | 'end'>;
}

export interface RestoreResult {
  /** The database that was there before; null when there was none. */
  readonly aside: string | null;
  /** Null when messages are sent again. */
  readonly marked: MarkedRestored | null;
  /** What `verify` finds in the backup, one sentence each. */
  readonly differences: readonly string[];
}

const PROGRESS_INTERVAL_MS = 200;

/**
 * Puts a checked, migrated and marked copy of a backup in the place of the database, which is kept under another name. A crash at
 * any instant leaves the one or the other in place. Throws `RestoreRejected`, `DatabaseUnusable` or `WrongSecretKey`, and changes
 * nothing.
 */
export async function restoreSqlite({
  config,
  file: givenFile,
  target: givenTarget,
  sendsAgain,
  bar,
}: Restore): Promise<RestoreResult> {
  // A log lies beside the file itself, and a link stays where it is.
  const [file, target] = [withoutLinks(givenFile), withoutLinks(givenTarget)];
  if (hasLog(file)) {
    throw new RestoreRejected(`${file}-wal lies beside it: it is a database in use, no backup`);
  }
  const secretKey = existingSecretKey(config);
  mkdirSync(dirname(target), { recursive: true, mode: PRIVATE_FOLDER });
  openFormer(target)?.close();
  removeLeftovers(target);
  const partial = makePartial(target);
  try {
    await copyWithProgress(file, partial, bar);
    const [fault] = faultsOf(partial);
    if (fault !== undefined) throw new RestoreRejected(`${file} is damaged or no backup: ${fault}`);
    const prepared = await prepare(configOfCopy(config, partial, secretKey), sendsAgain);
    closeLog(partial);
    return { aside: putInPlace(partial, target), ...prepared };
  } finally {
    removePartial(partial);
  }
}

/** Brings the copy to this version, marks and audits it. */
async function prepare(config: Config, sendsAgain: boolean): Promise<Omit<RestoreResult, 'aside'>> {
  const roots = openRoots(config);
  try {
    if (!(await roots.database.hasTables())) throw new RestoreRejected('the file has no tables of Barid');
    await roots.database.migrate();
    await roots.checkSecretKey.execute();
    const marked = sendsAgain ? null : await roots.markRestored.execute();
    return { marked, differences: differencesIn(await roots.auditLedger.execute()) };
  } finally {
    await closeRoots(roots);
  }
}

/** Returns the name under which the former database is kept; null when there was none. */
function putInPlace(partial: string, target: string): string | null {
  const former = openFormer(target);
  if (former === null) {
    placeNew(partial, target);
    return null;
  }
  try {
    const aside = `${target}.before-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`;
    replaceKeeping(partial, target, aside);
    return aside;
  } finally {
    former.close();
  }
}

/** The present database, opened alone so that its log is in its file; null when there is none. */
function openFormer(target: string): Sqlite.Database | null {
  if (!existsSync(target)) {
    if (!hasLog(target)) return null;
    throw new RestoreRejected(`${target}-wal belongs to a database that is gone; move it away first`);
  }
  const former = openOrReject(target);
  if (former === null)
    throw new RestoreRejected(`${target} is open in another process; stop the service first`);
  return former;
}

function openOrReject(target: string): Sqlite.Database | null {
  try {
    return openAlone(target);
  } catch (error) {
    const reason = messageOf(error);
    const files = `${target}, ${target}-wal and ${target}-shm`;
    throw new RestoreRejected(
      `${target} cannot be read (${reason}); stop the service, move ${files} away, and restore again`,
    );
  }
}

async function copyWithProgress(file: string, partial: string, bar: Restore['bar']): Promise<void> {
  const { size } = await stat(file);
  const timer = setInterval(() => {
    stat(partial).then(
      (written) => bar.draw(written.size, size),
      () => {},
    );
  }, PROGRESS_INTERVAL_MS);
  try {
    await copyFile(file, partial);
    // The copy has taken over the mode of the backup.
    await chmod(partial, PRIVATE_FILE);
  } finally {
    clearInterval(timer);
    bar.end();
  }
}
