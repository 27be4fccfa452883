import type { ConfirmedLease, LeasedJob } from '../../domain/jobs/job.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import type { DestinationCapacity } from './delivery-capacity.ts';
import type { AttemptQueue, DeliveryLimiter } from './delivery-limiter.ts';
import { DueCursor } from './due-cursor.ts';

/** The events of one project to one endpoint, while this process has their job. In memory only. */
export class LeasedDestination {
  readonly cursor = new DueCursor();
  /** The ids of the events that are fetched and not recorded yet. */
  readonly fetched = new Set<string>();
  readonly capacity: DestinationCapacity;
  readonly queue: AttemptQueue;
  #job: LeasedJob<WebhookWork>;
  /** The lease that the last fetch or renewal has found: nothing is attempted without it. */
  #lease: ConfirmedLease | null = null;
  #isLost = false;
  #isFetchWanted = false;
  #goOn: (() => void) | null = null;

  constructor(
    job: LeasedJob<WebhookWork>,
    capacity: DestinationCapacity,
    limiter: DeliveryLimiter,
    isValid: (lease: ConfirmedLease) => boolean,
    attempt: (destination: LeasedDestination, event: WebhookEvent) => void,
  ) {
    this.#job = job;
    this.capacity = capacity;
    this.queue = limiter.open(
      job.work,
      () => !this.#isLost && this.#lease !== null && isValid(this.#lease),
      (event) => attempt(this, event),
    );
  }

  get job(): LeasedJob<WebhookWork> {
    return this.#job;
  }

  /** Whether another process has the job, or will have it: nothing more is attempted. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Nothing is fetched, and no fetch is wanted. */
  get isIdle(): boolean {
    return this.fetched.size === 0 && !this.#isFetchWanted;
  }

  /** Gets a newer lease of the job. Another process may have attempted what was fetched under the older one. */
  adopt(job: LeasedJob<WebhookWork>): void {
    this.drop();
    this.#job = job;
    this.#lease = null;
    this.#isLost = false;
    this.wantFetch();
  }

  take(events: readonly WebhookEvent[], lease: ConfirmedLease): void {
    for (const { id } of events) this.fetched.add(id);
    this.capacity.take(events.length);
    // A fetch that took long must not replace what a renewal has found meanwhile.
    if (this.#lease === null || lease.at >= this.#lease.at) this.#lease = lease;
    this.queue.add(events);
  }

  /** Forgets events whose results are recorded, or that are to be fetched again. After the last event a fetch is wanted. */
  forget(eventIds: readonly string[]): void {
    if (eventIds.length === 0) return;
    for (const id of eventIds) this.fetched.delete(id);
    this.capacity.release(eventIds.length);
    if (this.fetched.size === 0) this.wantFetch();
  }

  /** Forgets the events that are not attempted yet: they stay due, and are fetched again. */
  drop(): void {
    this.cursor.restart();
    this.forget(this.queue.drop().map(({ id }) => id));
  }

  renewed(lease: ConfirmedLease): void {
    this.#lease = lease;
    this.queue.resume();
  }

  lose(): void {
    this.#isLost = true;
    this.drop();
    this.wantFetch();
  }

  /** Lets `fetchWanted` resolve, now or the next time that it is called. */
  wantFetch(): void {
    this.#isFetchWanted = true;
    this.#goOn?.();
  }

  /** Wants a fetch while nothing else happens: events may have come due. */
  poll(): void {
    if (this.#goOn !== null) this.wantFetch();
  }

  async fetchWanted(): Promise<void> {
    if (!this.#isFetchWanted) {
      await new Promise<void>((resolve) => {
        this.#goOn = resolve;
      });
    }
    this.#goOn = null;
    this.#isFetchWanted = false;
  }
}
