import type { Stores } from './stores.ts';

/** The only road to the stores. */
export interface UnitOfWork {
  /**
   * Runs `work` in one transaction: all of it is durable when the promise resolves, none of it happened when
   * it rejects. Stores must not be used after `work` returned. Rejects with whatever `work` threw, or with the
   * database's error; a conflict the database can resolve by repetition is repeated, so `work` must have no
   * effect but on the stores.
   */
  run<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
  /** Runs `work` without a transaction, for reads that need none. */
  read<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
  /** Resolves when the database answers; rejects when it does not. */
  ping(): Promise<void>;
}
