import type { Stores } from './stores.ts';

/**
 * `full`: nothing that was promised is lost when the machine dies. `eventual`: a dying machine may take the last
 * moments back, in order; a dying process may not. Only for what loses nothing by being undone.
 */
export type Durability = 'full' | 'eventual';

/** The only road to the stores. */
export interface UnitOfWork {
  /**
   * Runs `work` in one transaction: all of it is durable when the promise resolves, none of it happened when
   * it rejects. Stores must not be used after `work` returned. Rejects with whatever `work` threw, or with the
   * database's error, which is `StorageUnavailable` when it cannot be reached; a conflict the database can
   * resolve by repetition is repeated, so `work` must have no effect but on the stores. The durability is full
   * unless told otherwise.
   */
  run<T>(work: (stores: Stores) => Promise<T>, durability?: Durability): Promise<T>;
  /** Runs `work` without a transaction, for reads that need none. */
  read<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
  /** Resolves when the database answers; rejects when it does not. */
  ping(): Promise<void>;
}
