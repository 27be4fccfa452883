import { closeSync, fdatasync, openSync, realpathSync } from 'node:fs';
import { invariant } from '../../../../domain/shared/invariant.ts';

/** The disk did not keep what it was given. What was committed since the last sync may be lost with the power. */
export class WalNotSynced extends Error {
  override readonly name = 'WalNotSynced';

  constructor(cause: unknown) {
    super('The log of the database was not synced', { cause });
  }
}

/** Calls `done` when everything that was written to the file is on the disk. */
export type SyncFile = (file: number, done: (error: Error | null) => void) => void;

type Waiting = (failure: WalNotSynced | null) => void;

/**
 * Syncs the write-ahead log (WAL) of a SQLite file: one sync for all commits that wait. It runs outside of the event loop, which
 * a slow disk would hold up otherwise, and other transactions go on meanwhile. SQLite itself syncs the log when it moves pages
 * into the file, and its header when the log begins anew, which takes the event loop.
 */
export class WalSync {
  readonly #filename: string;
  readonly #syncFile: SyncFile;
  #log: number | null = null;
  /** The commits that the running sync is for; null when none runs. */
  #inSync: Waiting[] | null = null;
  /** The commits that wait for the next sync. */
  #forNextSync: Waiting[] = [];
  #failure: WalNotSynced | null = null;

  constructor(filename: string, syncFile: SyncFile = fdatasync) {
    this.#filename = filename;
    this.#syncFile = syncFile;
  }

  /**
   * Called in every transaction, when SQLite has made the log. Throws when a sync has failed: a later one may succeed, and yet
   * what the first was for is lost.
   */
  prepare(): void {
    if (this.#failure !== null) throw this.#failure;
    // Beside the file that a link leads to.
    this.#log ??= openSync(`${realpathSync(this.#filename)}-wal`, 'r+');
  }

  /** Resolves when everything that is committed by now survives the crash of the machine. Rejects with `WalNotSynced`. */
  sync(): Promise<void> {
    // One that runs may have begun before the last commit.
    const synced = joined(this.#forNextSync);
    if (this.#inSync === null) this.#run();
    return synced;
  }

  /**
   * Resolves when everything is synced that others wait for now; null when nobody waits. Rejects with `WalNotSynced`, also after
   * it.
   */
  settled(): Promise<void> | null {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#inSync === null) return null;
    return joined(this.#forNextSync.length === 0 ? this.#inSync : this.#forNextSync);
  }

  /** Resolves when nobody waits any more. */
  async close(): Promise<void> {
    await this.settled()?.catch(() => undefined);
    if (this.#log !== null) closeSync(this.#log);
    this.#log = null;
  }

  #run(): void {
    const inSync = this.#forNextSync;
    this.#inSync = inSync;
    this.#forNextSync = [];
    const log = this.#log;
    invariant(log !== null, 'a transaction was prepared');
    this.#syncFile(log, (error) => {
      if (error !== null) this.#failure ??= new WalNotSynced(error);
      if (this.#forNextSync.length === 0) this.#inSync = null;
      else this.#run();
      for (const each of inSync) each(this.#failure);
    });
  }
}

/** A promise of one who waits from now on. */
function joined(waiting: Waiting[]): Promise<void> {
  return new Promise((resolve, reject) => {
    waiting.push((failure) => (failure === null ? resolve() : reject(failure)));
  });
}
