import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { LeasedJob } from '../jobs/job.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import type { DuePosition } from '../ports/webhook-stores.ts';
import type { AttemptLimiter, AttemptQueue } from './attempt-limiter.ts';

/** What this process has in hand of one project, or of all: shared by the destinations that it counts. */
export interface InHand {
  destinations: number;
  /** Events that are fetched and not recorded yet, and those that fetches in flight may bring. */
  fetched: number;
}

/** The job was this process's at one instant, and is until the other unless another worker takes over. */
export interface ConfirmedLease {
  readonly at: number;
  readonly until: number;
}

/** The events of one project to one endpoint, while this process has their job. In memory only. */
export class Destination {
  job: LeasedJob<WebhookWork>;
  /** What the last fetch or renewal has found: nothing is attempted without it. */
  lease: ConfirmedLease | null = null;
  /** Another process has the job, or will have it: nothing more is attempted. */
  isLost = false;
  /** Whether the last fetch may have left due events behind. */
  hasMore = false;
  /** While there is more: the next fetch reads behind this event. Null: it reads all that is due. */
  readTo: DuePosition | null = null;
  /** How often reading began anew: a fetch in flight meanwhile has read to nowhere. */
  restarts = 0;
  /** The ids of the events that are fetched and not recorded yet. */
  readonly fetched = new Set<string>();
  readonly queue: AttemptQueue;
  readonly #inHand: readonly InHand[];
  #isFetchWanted = false;
  #goOn: (() => void) | null = null;

  constructor(
    job: LeasedJob<WebhookWork>,
    inHand: readonly InHand[],
    limiter: AttemptLimiter,
    isValid: (lease: ConfirmedLease) => boolean,
    attempt: (destination: Destination, event: WebhookEvent) => void,
  ) {
    this.job = job;
    this.#inHand = inHand;
    this.queue = limiter.open(
      job.work,
      () => !this.isLost && this.lease !== null && isValid(this.lease),
      (event) => attempt(this, event),
    );
  }

  /** Nothing is fetched, and no fetch is wanted. */
  get isIdle(): boolean {
    return this.fetched.size === 0 && !this.#isFetchWanted;
  }

  take(events: readonly WebhookEvent[], lease: ConfirmedLease): void {
    for (const { id } of events) this.fetched.add(id);
    for (const each of this.#inHand) each.fetched += events.length;
    // A fetch that took long must not replace what a renewal has found meanwhile.
    if (this.lease === null || lease.at >= this.lease.at) this.lease = lease;
    this.queue.add(events);
  }

  /** The results of these events are recorded, or they are to be fetched again. After the last one, a fetch is wanted. */
  forget(eventIds: readonly string[]): void {
    if (eventIds.length === 0) return;
    for (const id of eventIds) this.fetched.delete(id);
    for (const each of this.#inHand) each.fetched -= eventIds.length;
    if (this.fetched.size === 0) this.wantFetch();
  }

  /** Forgets the events that are not attempted yet: they stay due, and are fetched again. */
  drop(): void {
    this.readAnew();
    this.forget(this.queue.drop().map(({ id }) => id));
  }

  /** The next fetch reads all that is due. */
  readAnew(): void {
    this.readTo = null;
    this.restarts += 1;
  }

  renewed(lease: ConfirmedLease): void {
    this.lease = lease;
    this.queue.resume();
  }

  lose(): void {
    this.isLost = true;
    this.drop();
    this.wantFetch();
  }

  /** `fetchWanted` resolves, now or the next time it is called. */
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
