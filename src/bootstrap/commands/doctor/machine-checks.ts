import { closeSync, existsSync, openSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { sqliteFileOf } from '../../../adapters/knex/sqlite/file/sqlite-file.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, reasonIn, well, wrong } from './finding.ts';

/** With less space the log of the database soon fills the disk. */
const SPACE_BYTES_MIN = 1024 ** 3;

/** What the service opens at a time while few clients are connected. */
const OPEN_FILES_MIN = 1_024;

/** Space beside the SQLite file; a database server has a disk of its own. */
export async function examineDisk({ database }: Config): Promise<readonly Finding[]> {
  const file = sqliteFileOf(database);
  if (file === null) return [];
  try {
    const { bavail, bsize } = await statfs(existingFolder(file));
    const free = bavail * bsize;
    const detail = `${(free / SPACE_BYTES_MIN).toFixed(1)} GiB free beside the database`;
    return [
      free >= SPACE_BYTES_MIN ? well('disk', detail) : wrong('disk', detail, 'make space: at least 1 GiB'),
    ];
  } catch (error) {
    return [
      wrong(
        'disk',
        `the folder of the database: ${reasonIn(error)}`,
        'make the folder, or change DATABASE_URL',
      ),
    ];
  }
}

/** The folder of a file; the first start makes those that are missing, on the disk of the one above them. */
function existingFolder(file: string): string {
  let folder = dirname(resolve(file));
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

/** Whether this process may have as many files open as the service needs. */
export function examineOpenFiles(): Finding {
  const opened: number[] = [];
  try {
    while (opened.length < OPEN_FILES_MIN) opened.push(openSync(import.meta.filename, 'r'));
    return well('open files', `at least ${OPEN_FILES_MIN} at a time`);
  } catch (error) {
    return wrong('open files', `only ${opened.length} at a time (${reasonIn(error)})`, 'ulimit -n 16384');
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
