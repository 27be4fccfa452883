import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Stores } from '../../src/application/ports/stores.ts';
import type { UnitOfWork } from '../../src/application/ports/unit-of-work.ts';

/** A storage of its own for one suite. */
export interface Storage {
  readonly unitOfWork: UnitOfWork;
  /** How many units of work can be in flight at the same time. */
  readonly concurrency: number;
  /** Empties every table. */
  clear(): Promise<void>;
  dispose(): Promise<void>;
}

/** One storage for all tests of a suite, empty before each of them. To be asked for where the suite begins. */
export function storageOfSuite(open: () => Promise<Storage>) {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open();
  });
  beforeEach(() => storage.clear());
  afterAll(() => storage.dispose());
  return {
    get unitOfWork(): UnitOfWork {
      return storage.unitOfWork;
    },
    get concurrency(): number {
      return storage.concurrency;
    },
    run: <T>(work: (stores: Stores) => Promise<T>) => storage.unitOfWork.run(work),
    read: <T>(work: (stores: Stores) => Promise<T>) => storage.unitOfWork.read(work),
  };
}

/** A point that everyone who reaches it leaves together, once `expected` have. */
export class MeetingPoint {
  readonly #everyone: Promise<void>;
  #leave: () => void = () => {};
  #missing: number;

  constructor(expected: number) {
    this.#missing = expected;
    this.#everyone = new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  async meet(): Promise<void> {
    this.#missing -= 1;
    if (this.#missing <= 0) this.#leave();
    await this.#everyone;
  }
}
