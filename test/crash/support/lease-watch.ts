import { setTimeout as sleep } from 'node:timers/promises';
import { LEASE_MS } from '../../../src/domain/jobs/job.ts';
import type { Installation } from './installation.ts';
import type { Query } from './ledger-check.ts';

const POLL_MS = 200;

/**
 * Reads the leased jobs every so often and keeps the longest time since any lease began or was renewed. A process
 * that dies or freezes leaves its jobs leased until another process takes them over.
 */
export class LeaseWatch {
  longestMs = 0;
  readonly #installation: Installation;
  readonly #running: Promise<void>;
  #isStopping = false;

  constructor(installation: Installation) {
    this.#installation = installation;
    this.#running = this.#watch();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #watch(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.#installation.withDatabase((query) => this.#readLeases(query));
      } catch {
        // The database is away: nobody holds a lease meanwhile.
        await sleep(POLL_MS);
      }
    }
  }

  async #readLeases(query: Query): Promise<void> {
    while (!this.#isStopping) {
      const now = this.#installation.now();
      const [row] = await query(
        'SELECT MIN(due_at) AS earliest FROM jobs WHERE leased_by IS NOT NULL AND due_at <= $1',
        [now + LEASE_MS],
      );
      const earliest = row?.earliest ?? null;
      // A lease moves the due time of its job to its own end.
      if (earliest !== null) this.longestMs = Math.max(this.longestMs, now - (Number(earliest) - LEASE_MS));
      await sleep(POLL_MS);
    }
  }
}
