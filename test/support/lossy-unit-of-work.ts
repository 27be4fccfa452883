import { StorageUnavailable } from '../../src/application/errors/storage-unavailable.ts';
import type { Stores } from '../../src/application/ports/stores.ts';
import type { Durability, LockWait, UnitOfWork } from '../../src/application/ports/unit-of-work.ts';

/** Where the database is lost in a unit of work, on either side of its commit; null leaves the unit alone. */
export type Loss = 'before-commit' | 'after-commit' | null;

/** A unit of work whose database is lost or slow on demand: each transaction takes the next entry of `losses`. */
export class LossyUnitOfWork implements UnitOfWork {
  losses: Loss[] = [];
  /** While true, nothing can be read. */
  areReadsLost = false;
  /** What a read found is given only after this, so that a test can change what was read. */
  readsEndAfter: Promise<unknown> = Promise.resolve();
  /** A transaction that is committed says so only after this. */
  transactionsEndAfter: Promise<unknown> = Promise.resolve();
  /** Transactions begun so far. */
  transactions = 0;
  readonly #unitOfWork: UnitOfWork;

  constructor(unitOfWork: UnitOfWork) {
    this.#unitOfWork = unitOfWork;
  }

  async run<T>(
    work: (stores: Stores) => Promise<T>,
    durability?: Durability,
    lockWait?: LockWait,
  ): Promise<T> {
    this.transactions += 1;
    const loss = this.losses.shift() ?? null;
    const result = await this.#unitOfWork.run(
      async (stores) => {
        const written = await work(stores);
        if (loss === 'before-commit') throw new StorageUnavailable(new Error('lost before the commit'));
        return written;
      },
      durability,
      lockWait,
    );
    await this.transactionsEndAfter;
    if (loss === 'after-commit') throw new StorageUnavailable(new Error('lost after the commit'));
    return result;
  }

  async read<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    if (this.areReadsLost) throw new StorageUnavailable(new Error('lost before the read'));
    const found = await this.#unitOfWork.read(work);
    await this.readsEndAfter;
    return found;
  }

  ping(): Promise<void> {
    return this.#unitOfWork.ping();
  }
}
