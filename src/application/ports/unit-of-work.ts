import type { Stores } from './stores.ts';

/**
 * `full`: a committed unit survives the crash of the machine. `eventual`: it survives the crash of the process; the crash
 * of the machine may undo the last moments, the newest units first. Only for units that may be undone without harm.
 */
export type Durability = 'full' | 'eventual';

/** A long wait for locks, in milliseconds: by then a process that stopped has lost its own. */
export const LONG_LOCK_WAIT_MS = 10_000;

/**
 * How long a unit of work waits for rows that another transaction has locked. `long`: `LONG_LOCK_WAIT_MS`; it
 * tries again and again, and has no connection in between. `brief`: a quarter of a
 * second. A database that has only one lock for all waits alike for both.
 */
export type LockWait = 'brief' | 'long';

/** The only way to the stores. */
export interface UnitOfWork {
  /**
   * Runs `work` in one transaction: all of it is durable when the promise resolves, none of it happened when it rejects. One
   * exception: after a failed sync of the disk it rejects with `StorageUnwritable`, and yet is committed, and may be lost with
   * the power. Rejects with the error that `work` threw or with the database's own; with `StorageUnavailable` when nothing was
   * wrong with what was asked, and the database was away or could not do it; with `StorageUnwritable` when it stores nothing;
   * with `StorageLocked` when a lock was not released in time, or when each repeat met a conflict. After a conflict with other
   * transactions `work` runs again, so it must have no effect but on the stores. The stores must not be used after `work` has
   * ended. By default the durability is full and the wait for locks is long.
   */
  run<T>(work: (stores: Stores) => Promise<T>, durability?: Durability, lockWait?: LockWait): Promise<T>;
  /**
   * Runs `work` without a transaction, for reads that need none. Waits until units of full durability that it may have read are
   * durable, and rejects after a failed sync; with `StorageUnavailable` and `StorageLocked` as `run`.
   */
  read<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
  /**
   * Resolves when the database responds. Rejects when it does not, and with `StorageUnwritable` when it is read-only, and while
   * units of work fail because it stores nothing.
   */
  ping(): Promise<void>;
}
