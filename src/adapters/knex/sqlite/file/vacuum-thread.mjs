// Plain JavaScript: a worker thread is started from this very file, from the sources and from the build.
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

/** Another process may be about to open the file, or to close it. */
const OPEN_TIMEOUT_MS = 5_000;

/** @type {{ source: string, target: string }} */
const { source, target } = workerData;
const database = new Sqlite(source, { readonly: true, fileMustExist: true, timeout: OPEN_TIMEOUT_MS });
try {
  database.prepare('VACUUM INTO ?').run(target);
} finally {
  database.close();
}
