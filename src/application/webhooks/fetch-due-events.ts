import { LEASE_LEFT_MS, type LeasedJob } from '../../domain/jobs/job.ts';
import { CLOSED_CIRCUIT, circuitAt, halfOpened } from '../../domain/shared/circuit-breaker.ts';
import { DESTINATION_OPEN_WINDOWS_MS, destinationKey } from '../../domain/webhooks/destination.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { Batcher } from '../batching/batcher.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { DuePlace } from '../ports/stores/webhook-stores.ts';
import type { Stores } from '../ports/stores.ts';
import type { LockWait, UnitOfWork } from '../ports/unit-of-work.ts';

/** At most `limit` due events of the destination whose job is leased, behind `after`. */
export interface Fetch {
  readonly job: LeasedJob<WebhookWork>;
  readonly after: DuePlace | null;
  readonly limit: number;
}

/** What is due at one destination, and may be attempted. */
export interface DueEvents {
  /** The lease lasts at least until this instant; null when it is over or nearly so. */
  readonly leasedUntil: number | null;
  /** The longest due first: none while the circuit is open, one when it is half-open. */
  readonly events: readonly WebhookEvent[];
  /** While the circuit is open, the instant until which it is; else 0. */
  readonly notBefore: number;
}

/** Reads what is due, as far as the circuits allow (specification 6.1): one query for many destinations. */
export class FetchDueEvents {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock };
  readonly #batcher: Batcher<Fetch, DueEvents>;

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#ports = ports;
    this.#batcher = new Batcher((fetches, { lockWait }) => this.#fetchAll(fetches, lockWait), {
      clock: ports.clock,
      projectsOf: async (fetches) => fetches.map(({ job }) => job.work.projectId),
    });
  }

  execute(fetch: Fetch): Promise<DueEvents> {
    return this.#batcher.submit(fetch);
  }

  async #fetchAll(fetches: readonly Fetch[], lockWait: LockWait): Promise<readonly DueEvents[]> {
    const halfOpen: string[] = [];
    const found = await this.#ports.unitOfWork.read((stores) => this.#read(stores, fetches, halfOpen));
    await this.#storeHalfOpen(halfOpen, lockWait);
    return found;
  }

  async #read(stores: Stores, fetches: readonly Fetch[], halfOpen: string[]): Promise<readonly DueEvents[]> {
    const now = this.#ports.clock.now();
    const jobs = fetches.map(({ job }) => job);
    const [stillLeased, breakers, due] = await Promise.all([
      stores.jobs.stillLeased(jobs, now + LEASE_LEFT_MS),
      stores.circuitBreakers.read(jobs.map(({ work }) => destinationKey(work))),
      stores.webhookEvents.due(fetches.map(({ job, after, limit }) => ({ ...job.work, now, after, limit }))),
    ]);
    const leased = new Set(stillLeased);
    return jobs.map((job, index): DueEvents => {
      const events = due[index] ?? [];
      const leasedUntil = leased.has(job) ? now + LEASE_LEFT_MS : null;
      const circuit = circuitAt(
        breakers.get(destinationKey(job.work)) ?? CLOSED_CIRCUIT,
        now,
        DESTINATION_OPEN_WINDOWS_MS,
      );
      switch (circuit.state) {
        case 'closed':
          return { leasedUntil, events, notBefore: 0 };
        case 'open':
          return { leasedUntil, events: [], notBefore: circuit.until };
        case 'half-open':
          if (leasedUntil !== null && events.length > 0) halfOpen.push(destinationKey(job.work));
          return { leasedUntil, events: events.slice(0, 1), notBefore: 0 };
        default:
          return circuit satisfies never;
      }
    });
  }

  /** Stored before the one event of each circuit is attempted. The jobs are leased, so that no other process attempts any. */
  async #storeHalfOpen(destinationKeys: readonly string[], lockWait: LockWait): Promise<void> {
    if (destinationKeys.length === 0) return;
    const store = async (stores: Stores): Promise<void> => {
      const now = this.#ports.clock.now();
      const breakers = await stores.circuitBreakers.lock(destinationKeys, now);
      // A late success may have closed a circuit meanwhile.
      const halfOpen = [...breakers]
        .filter(([, breaker]) => circuitAt(breaker, now, DESTINATION_OPEN_WINDOWS_MS).state === 'half-open')
        .map(([key, breaker]) => [key, halfOpened(breaker, now)] as const);
      await stores.circuitBreakers.save(new Map(halfOpen), now);
    };
    await this.#ports.unitOfWork.run(store, 'full', lockWait);
  }
}
