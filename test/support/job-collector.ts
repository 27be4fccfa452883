import { startAttemptJob } from '../../src/application/jobs/attempt-jobs.ts';
import type { LeasedJob } from '../../src/domain/jobs/job.ts';
import { aMessage } from './builders.ts';

/** A leased job that can be told apart by its number. */
export function leasedJob(number: number, fencingToken = 1): LeasedJob {
  const { id, work } = startAttemptJob(aMessage({ smsId: `sms-${number}` }), 0, 0);
  return { id, fencingToken, work };
}

export function leasedJobs(from: number, to: number): LeasedJob[] {
  return Array.from({ length: to - from + 1 }, (_, index) => leasedJob(from + index));
}

/** A gate that handlers wait at until the test opens it. */
export class Gate {
  readonly opened: Promise<void>;
  #open: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }
}

/** Job handler that remembers its batches; `act` decides what becomes of each. */
export class JobCollector {
  readonly batches: (readonly LeasedJob[])[] = [];
  busyMax = 0;
  #busy = 0;
  readonly #act: (jobs: readonly LeasedJob[], call: number) => Promise<void> | void;
  #waiters: { readonly isMet: () => boolean; readonly resolve: () => void }[] = [];

  constructor(act: (jobs: readonly LeasedJob[], call: number) => Promise<void> | void = () => {}) {
    this.#act = act;
  }

  readonly handler = async (jobs: readonly LeasedJob[]): Promise<void> => {
    this.batches.push(jobs);
    this.#busy += 1;
    this.busyMax = Math.max(this.busyMax, this.#busy);
    this.#tell();
    try {
      await this.#act(jobs, this.batches.length);
    } finally {
      this.#busy -= 1;
    }
  };

  ids(): string[] {
    return this.batches.flat().map(({ id }) => id);
  }

  /** Resolves once the handler was called `calls` times. */
  called(calls: number): Promise<void> {
    return this.#until(() => this.batches.length >= calls);
  }

  /** Resolves once each of these jobs was handed over. */
  received(jobs: readonly LeasedJob[]): Promise<void> {
    return this.#until(() => {
      const ids = new Set(this.ids());
      return jobs.every(({ id }) => ids.has(id));
    });
  }

  async #until(isMet: () => boolean): Promise<void> {
    if (isMet()) return;
    await new Promise<void>((resolve) => this.#waiters.push({ isMet, resolve }));
  }

  #tell(): void {
    const met = this.#waiters.filter(({ isMet }) => isMet());
    this.#waiters = this.#waiters.filter((waiter) => !met.includes(waiter));
    for (const { resolve } of met) resolve();
  }
}
