import { CLOSED_CIRCUIT, circuitAt, halfOpened } from '../../domain/webhooks/circuit-breaker.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { LEASE_LEFT_MS } from '../jobs/job.ts';
import { destinationKey } from '../jobs/webhook-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { Fetch } from './delivery-scheduler.ts';

/** What is due at one destination, and may be attempted. */
export interface DueEvents {
  readonly fetch: Fetch;
  /** The lease lasts at least until this instant; null when it is over or nearly so. */
  readonly leasedUntil: number | null;
  /** The longest due first: none while the circuit is open, one when it is half-open. */
  readonly events: readonly WebhookEvent[];
  /** While the circuit is open, the instant until which it is; else 0. */
  readonly notBefore: number;
}

/** Reads what is due at many destinations at once, as far as their circuits allow (specification 6.1). */
export class FetchDueEvents {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock };

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#ports = ports;
  }

  /** In the order of the fetches. */
  async execute(fetches: readonly Fetch[]): Promise<readonly DueEvents[]> {
    const halfOpen: string[] = [];
    const found = await this.#ports.unitOfWork.read((stores) => this.#read(stores, fetches, halfOpen));
    await this.#storeHalfOpen(halfOpen);
    return found;
  }

  async #read(stores: Stores, fetches: readonly Fetch[], halfOpen: string[]): Promise<readonly DueEvents[]> {
    const now = this.#ports.clock.now();
    const jobs = fetches.map(({ destination }) => destination.job);
    const leased = new Set(await stores.jobs.stillLeased(jobs, now + LEASE_LEFT_MS));
    const breakers = await stores.circuitBreakers.read(jobs.map(({ work }) => destinationKey(work)));
    const due = await stores.webhookEvents.due(
      fetches.map(({ destination, limit }) => ({ ...destination.job.work, now, limit })),
    );
    return fetches.map((fetch, index): DueEvents => {
      const { job } = fetch.destination;
      const events = due[index] ?? [];
      const leasedUntil = leased.has(job) ? now + LEASE_LEFT_MS : null;
      const circuit = circuitAt(breakers.get(destinationKey(job.work)) ?? CLOSED_CIRCUIT, now);
      switch (circuit.state) {
        case 'closed':
          return { fetch, leasedUntil, events, notBefore: 0 };
        case 'open':
          return { fetch, leasedUntil, events: [], notBefore: circuit.until };
        case 'half-open':
          if (leasedUntil !== null && events.length > 0) halfOpen.push(destinationKey(job.work));
          return { fetch, leasedUntil, events: events.slice(0, 1), notBefore: 0 };
        default:
          return circuit satisfies never;
      }
    });
  }

  /** Stored before the one event is attempted. Their jobs are leased, so that no other process attempts any. */
  async #storeHalfOpen(destinationKeys: readonly string[]): Promise<void> {
    if (destinationKeys.length === 0) return;
    await this.#ports.unitOfWork.run(async (stores) => {
      const now = this.#ports.clock.now();
      const breakers = await stores.circuitBreakers.lock(destinationKeys, now);
      // A late success may have closed a circuit meanwhile.
      const halfOpen = [...breakers]
        .filter(([, breaker]) => circuitAt(breaker, now).state === 'half-open')
        .map(([key, breaker]) => [key, halfOpened(breaker, now)] as const);
      await stores.circuitBreakers.save(new Map(halfOpen), now);
    });
  }
}
