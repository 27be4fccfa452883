import { setTimeout as sleep } from 'node:timers/promises';
import { LEASE_MS } from '../dist/application/jobs.js';

const POLL_MS = 200;

/**
 * Looks at the leased jobs again and again, and knows the longest time since any of them was leased or renewed: what a
 * process leaves behind that dies or freezes lies there until another takes it over.
 */
export class LeaseWatch {
  longestMs = 0;
  #installation;
  #isStopping = false;
  #running;

  constructor(installation) {
    this.#installation = installation;
    this.#running = this.#watch();
  }

  async stop() {
    this.#isStopping = true;
    await this.#running;
  }

  async #watch() {
    while (!this.#isStopping) {
      try {
        await this.#installation.withDatabase((query) => this.#look(query));
      } catch {
        // The database is away: nobody holds a lease on anything meanwhile.
        await sleep(POLL_MS);
      }
    }
  }

  async #look(query) {
    while (!this.#isStopping) {
      const now = this.#installation.now();
      const [{ earliest }] = await query(
        'SELECT MIN(due_at) AS earliest FROM jobs WHERE is_leased = 1 AND due_at <= $1',
        [now + LEASE_MS],
      );
      // A lease moves the due time of its job to its own end.
      if (earliest !== null) this.longestMs = Math.max(this.longestMs, now - (Number(earliest) - LEASE_MS));
      await sleep(POLL_MS);
    }
  }
}
