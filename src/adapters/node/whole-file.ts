import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { millisecondsInHour } from 'date-fns/constants';
import { PRIVATE_FILE } from './private-modes.ts';

const NAME_BYTES = 6;
/** A partial file that was last written so long ago is nobody's any more, in milliseconds. */
export const PARTIAL_ABANDONED_MS = millisecondsInHour;
/** What SQLite may have made beside a file. */
const COMPANIONS = ['-journal', '-wal', '-shm'] as const;

/** A new, empty file beside `target` that nobody else may read. Its name ends with `.partial-` and 12 hex digits. */
export function makePartial(target: string): string {
  const partial = `${target}.partial-${randomBytes(NAME_BYTES).toString('hex')}`;
  closeSync(openSync(partial, 'wx', PRIVATE_FILE));
  return partial;
}

/**
 * The partial files in the folder of `target` that nobody has written to for `PARTIAL_ABANDONED_MS`, also those of other targets:
 * a younger one may belong to another run. `now` is in milliseconds since 1970.
 */
export function abandonedPartials(target: string, now: number): readonly string[] {
  const folder = dirname(target);
  return readdirSync(folder)
    .filter((name) => /\.partial-[0-9a-f]{12}$/.test(name))
    .map((name) => join(folder, name))
    .filter((partial) => {
      const written = statSync(partial, { throwIfNoEntry: false });
      return written !== undefined && now - written.mtimeMs >= PARTIAL_ABANDONED_MS;
    });
}

/** Removes a partial file and what SQLite made beside it; one that is missing is fine. */
export function removePartial(partial: string): void {
  for (const name of [partial, ...COMPANIONS.map((end) => partial + end)]) rmSync(name, { force: true });
}

/**
 * Gives a partial file its name, readable by its owner alone; both are synced to the disk. After a crash the name is missing or
 * belongs to a whole file. Throws with the code `EEXIST` when the name is taken.
 */
export function placeNew(partial: string, target: string): void {
  // What wrote the file may have made it anew.
  chmodSync(partial, PRIVATE_FILE);
  sync(partial);
  linkSync(partial, target);
  removePartial(partial);
  sync(dirname(target));
}

/**
 * Puts a partial file, readable by its owner alone, in the place of another, which gets the name `aside` as well; all is synced
 * to the disk. After a crash `target` is the one or the other file, whole. Throws with the code `EEXIST` when `aside` is taken.
 */
export function replaceKeeping(partial: string, target: string, aside: string): void {
  // What wrote the file may have made it anew.
  chmodSync(partial, PRIVATE_FILE);
  sync(partial);
  linkSync(target, aside);
  sync(dirname(target));
  renameSync(partial, target);
  removePartial(partial);
  sync(dirname(target));
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
