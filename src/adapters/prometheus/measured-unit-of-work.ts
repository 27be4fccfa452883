import type { Stores } from '../../application/ports/stores.ts';
import type { Durability, LockWait, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import { MessageTally } from './message-tally.ts';
import type { Metrics } from './metrics.ts';
import { timed } from './timed.ts';

/** Times units of work and reads, and counts what committed units did to messages and money. */
export class MeasuredUnitOfWork implements UnitOfWork {
  readonly #inner: UnitOfWork;
  readonly #metrics: Metrics;

  constructor(inner: UnitOfWork, metrics: Metrics) {
    this.#inner = inner;
    this.#metrics = metrics;
  }

  async run<T>(
    work: (stores: Stores) => Promise<T>,
    durability?: Durability,
    lockWait?: LockWait,
  ): Promise<T> {
    let tally = new MessageTally();
    const watched = (stores: Stores): Promise<T> => {
      // Work that runs again after a conflict starts anew.
      tally = new MessageTally();
      return work(tally.watch(stores));
    };
    const result = await this.#timed('run', () => this.#inner.run(watched, durability, lockWait));
    tally.count(this.#metrics);
    return result;
  }

  read<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    return this.#timed('read', () => this.#inner.read(work));
  }

  ping(): Promise<void> {
    return this.#inner.ping();
  }

  #timed<T>(kind: 'run' | 'read', work: () => Promise<T>): Promise<T> {
    return timed(work, (seconds, error) =>
      this.#metrics.unitsOfWork.observe({ kind, outcome: error === null ? 'ok' : 'failed' }, seconds),
    );
  }
}
