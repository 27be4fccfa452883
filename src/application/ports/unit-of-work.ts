import type { Stores } from './stores.ts';

/**
 * `full`: a committed unit survives the crash of the machine. `eventual`: it survives the crash of the process; the crash
 * of the machine may undo the last moments, the newest units first. Only for units that may be undone without harm.
 */
export type Durability = 'full' | 'eventual';

/** The only way to the stores. */
export interface UnitOfWork {
  /**
   * Runs `work` in one transaction: all of it is durable when the promise resolves, none of it happened when it rejects.
   * Rejects with the error that `work` threw or with the database's own; with `StorageUnavailable` when the database
   * cannot be reached or was lost. After a conflict with other transactions `work` runs again, so it must have no effect
   * but on the stores. The stores must not be used after `work` has ended. The durability is full by default.
   */
  run<T>(work: (stores: Stores) => Promise<T>, durability?: Durability): Promise<T>;
  /** Runs `work` without a transaction, for reads that need none. */
  read<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
  /** Resolves when the database responds; rejects when it does not. */
  ping(): Promise<void>;
}
