import { stat } from 'node:fs/promises';
import { setInterval } from 'node:timers';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const PROGRESS_INTERVAL_MS = 200;

/** How much of a copy is written, in bytes; `total` is about what it will be in the end. */
export type CopyProgress = (written: number, total: number) => void;

/**
 * Copies the database at `source` into the empty or missing file `target`, as it was at one instant, while other processes
 * go on writing. It is one reading transaction: a copy page by page would begin again with every write of another process.
 * Rejects when SQLite cannot read the one file or write the other; then `target` holds nothing of use. The copy is not synced.
 */
export async function snapshotSqlite(
  source: string,
  target: string,
  onProgress: CopyProgress,
): Promise<void> {
  const total = usedBytes(source);
  const thread = new Worker(new URL('./vacuum-thread.mjs', import.meta.url), {
    workerData: { source, target },
  });
  const timer = setInterval(() => {
    stat(target).then(
      ({ size }) => onProgress(Math.min(size, total), total),
      () => {},
    );
  }, PROGRESS_INTERVAL_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      thread.once('error', reject);
      thread.once('exit', () => resolve());
    });
  } finally {
    clearInterval(timer);
  }
  onProgress(total, total);
}

function usedBytes(filename: string): number {
  const database = new Sqlite(filename, { readonly: true, fileMustExist: true });
  try {
    const read = (pragma: string) => Number(database.pragma(pragma, { simple: true }));
    return (read('page_count') - read('freelist_count')) * read('page_size');
  } finally {
    database.close();
  }
}
