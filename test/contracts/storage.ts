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
