import { type ConfirmedLease, type LeasedJob, RENEW_EVERY_MS } from '../../domain/jobs/job.ts';
import type { DeliveryResult } from '../../domain/webhooks/delivery-result.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import { isHeld } from '../jobs/keep-lease.ts';
import type { RenewLeases } from '../jobs/renew-leases.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import type { WorkerHeartbeat } from '../jobs/worker-heartbeat.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { AttemptDelivery } from './attempt-delivery.ts';
import { DeliveryCapacity } from './delivery-capacity.ts';
import { DeliveryLimiter } from './delivery-limiter.ts';
import { DELIVERY_LIMITS } from './delivery-limits.ts';
import type { FetchDueEvents } from './fetch-due-events.ts';
import { LeasedDestination } from './leased-destination.ts';
import type { RecordDeliveries } from './record-deliveries.ts';
import type { ReleaseJobs } from './release-jobs.ts';

/** How late an event may be found that comes due while others of its destination are in flight, in milliseconds. */
export const FETCH_INTERVAL_MS = 100;

interface DeliverPorts {
  readonly fetchDueEvents: FetchDueEvents;
  readonly attemptDelivery: AttemptDelivery;
  readonly recordDeliveries: RecordDeliveries;
  readonly renewLeases: RenewLeases;
  readonly releaseJobs: ReleaseJobs;
  readonly background: BackgroundWork;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workerHeartbeat: Pick<WorkerHeartbeat, 'keepsLease'>;
  /** While this process has destinations, some of them are polled for more events this often. */
  readonly fetchInterval: Timeout;
}

/** A destination has no more to do: its job is released, and is not due before this instant. */
interface Ended {
  readonly notBefore: number;
}

const DUE_AT_ONCE: Ended = { notBefore: 0 };

/** The most destinations that are polled at a time: one query, however many destinations hang. */
const POLLED_DESTINATIONS_MAX = 250;

/**
 * Specification 6.1 and 6.2: delivers events to customers. While this process has the job of a destination, it fetches the due
 * events, attempts each of them, and records the results, until nothing more is due. Then it releases the job. Events and jobs
 * that cannot be recorded or released stay leased, and come again when the lease ends. After a crash another worker takes over.
 */
export class DeliverWebhooks {
  readonly #ports: DeliverPorts;
  readonly #limiter = new DeliveryLimiter(DELIVERY_LIMITS);
  readonly #capacity = new DeliveryCapacity(DELIVERY_LIMITS);
  /** By job id. The destination that was polled longest ago comes first. */
  readonly #destinations = new Map<string, LeasedDestination>();
  #isIntervalRunning = false;
  #isFetchFailing = false;
  #renewedAt = 0;

  constructor(ports: DeliverPorts) {
    this.#ports = ports;
    ports.background.whenStopping(() => this.#stop());
  }

  /** Resolves when every job is in hand, released, or held up by a lock; deliveries go on in the background. Never rejects. */
  async execute(jobs: readonly LeasedJob<WebhookWork>[]): Promise<void> {
    const held = await this.#held(jobs);
    const surplus = held.filter((job) => !this.#add(job));
    const now = this.#ports.clock.now();
    await this.#ports.releaseJobs.releaseUnbegun(
      surplus.map((job) => ({ job, notBefore: this.#capacity.surplusDueAt(job.work.projectId, now) })),
      (error) => this.#noteUnreleased(error),
    );
  }

  /**
   * The jobs that are new here and that this process has. Anybody at the broker can make a message of a job: one with a newer
   * lease would take the destination from the job that has it, which would wait until its lease ends.
   */
  async #held(jobs: readonly LeasedJob<WebhookWork>[]): Promise<readonly LeasedJob<WebhookWork>[]> {
    const held = await Promise.all(
      jobs.map(async (job) => {
        if (job.fencingToken <= (this.#destinations.get(job.id)?.job.fencingToken ?? 0)) return [];
        return (await isHeld(this.#ports.renewLeases, job)) ? [job] : [];
      }),
    );
    return held.flat();
  }

  /** Begins with the destination of a job, or gives a known one the newer lease. Returns false when there are too many. */
  #add(job: LeasedJob<WebhookWork>): boolean {
    const known = this.#destinations.get(job.id);
    if (known === undefined) return this.#addNew(job);
    if (job.fencingToken <= known.job.fencingToken) return true;
    known.adopt(job);
    return true;
  }

  #addNew(job: LeasedJob<WebhookWork>): boolean {
    const { background, clock, workerHeartbeat } = this.#ports;
    const capacity = this.#capacity.open(job.work.projectId);
    if (capacity === null) return false;
    if (this.#destinations.size === 0) this.#renewedAt = clock.now();
    const attempt = (to: LeasedDestination, event: WebhookEvent) => void this.#attempt(to, event);
    const isValid = ({ at, until }: ConfirmedLease) => clock.now() < until && workerHeartbeat.keepsLease(at);
    const destination = new LeasedDestination(job, capacity, this.#limiter, isValid, attempt);
    this.#destinations.set(job.id, destination);
    destination.wantFetch();
    background.start(() => this.#deliver(destination));
    this.#startInterval();
    return true;
  }

  get #isStopping(): boolean {
    return this.#ports.background.isStopping;
  }

  /** Nothing more is attempted; each job is released once its attempts in flight are recorded. */
  #stop(): void {
    for (const destination of this.#destinations.values()) {
      destination.drop();
      destination.wantFetch();
    }
  }

  async #deliver(destination: LeasedDestination): Promise<void> {
    let ended: Ended | null;
    do {
      await destination.fetchWanted();
      ended = await this.#fetchAndAttempt(destination);
    } while (ended === null);
    this.#remove(destination);
    if (!destination.isLost) await this.#release(destination.job, ended.notBefore);
  }

  /** Resolves with null while there is more to do. */
  async #fetchAndAttempt(destination: LeasedDestination): Promise<Ended | null> {
    const { job, cursor, capacity, queue, fetched } = destination;
    if (destination.isLost || this.#isStopping) return destination.isIdle ? DUE_AT_ONCE : null;
    const wanted = capacity.left(queue.size, fetched.size);
    if (wanted === 0) return null;
    const after = cursor.begin();
    // Events in hand are due, too, until they are recorded: they must not take the places of new ones.
    const known = new Set(fetched);
    const limit = after === null ? wanted + known.size : wanted;
    // Taken before the fetch, so that fetches at the same time do not each take all that is left.
    capacity.take(wanted);
    try {
      const at = this.#ports.clock.now();
      const due = await this.#ports.fetchDueEvents.execute({ job, after, limit });
      this.#isFetchFailing = false;
      if (due.leasedUntil === null) await this.#renew(destination);
      const isChanged = destination.isLost || destination.job !== job || this.#isStopping;
      if (due.leasedUntil === null || isChanged) {
        destination.wantFetch();
        return null;
      }
      const added = due.events.filter(({ id }) => !known.has(id)).slice(0, wanted);
      cursor.advance(added, due.events.length === limit);
      destination.take(added, { at, until: due.leasedUntil });
      this.#fetchAhead(destination);
      if (!destination.isIdle) return null;
      if (after === null) return { notBefore: due.notBefore };
      // Only a fetch of all that is due can tell that nothing is.
      destination.wantFetch();
      return null;
    } catch (error) {
      // Once per outage: a fetch is tried many times a second.
      if (!this.#isFetchFailing) this.#ports.logger.error('webhook_fetch_failed', error);
      this.#isFetchFailing = true;
      return null;
    } finally {
      capacity.release(wanted);
    }
  }

  async #attempt(destination: LeasedDestination, event: WebhookEvent): Promise<void> {
    const { attemptDelivery, recordDeliveries, clock, logger } = this.#ports;
    try {
      const startedAt = clock.now();
      let result: DeliveryResult;
      let endedAt: number;
      try {
        result = await attemptDelivery.execute(event, startedAt);
      } finally {
        endedAt = clock.now();
        destination.queue.ended();
        this.#fetchAhead(destination);
      }
      const { job } = destination;
      const isOpened = await recordDeliveries.execute({ job, event, result, startedAt, endedAt });
      if (isOpened) destination.drop();
    } catch (error) {
      // Once for each destination: a whole batch fails alike.
      if (!destination.isLost) logger.error('webhook_record_failed', error, { eventId: event.id });
      // An event that was attempted again at once might be attempted for ever.
      destination.lose();
    }
    destination.forget([event.id]);
  }

  /** Fetches the next events before the last ones are attempted, so that no connection is idle meanwhile. */
  #fetchAhead(destination: LeasedDestination): void {
    const { cursor, queue } = destination;
    if (cursor.hasMore && queue.size <= DELIVERY_LIMITS.fetchedPerDestination / 2) destination.wantFetch();
  }

  #remove({ job, queue, capacity }: LeasedDestination): void {
    this.#destinations.delete(job.id);
    this.#limiter.close(queue);
    this.#capacity.close(capacity, this.#ports.clock.now());
  }

  /** Renews leases now and then, and polls the destinations that were polled longest ago. */
  #startInterval(): void {
    if (this.#isIntervalRunning) return;
    this.#isIntervalRunning = true;
    this.#ports.fetchInterval(() => {
      this.#isIntervalRunning = false;
      if (this.#destinations.size === 0) return;
      void this.#renewInTime();
      for (const [id, destination] of [...this.#destinations].slice(0, POLLED_DESTINATIONS_MAX)) {
        this.#destinations.delete(id);
        this.#destinations.set(id, destination);
        destination.poll();
      }
      this.#startInterval();
    });
  }

  async #renewInTime(): Promise<void> {
    const { clock, logger } = this.#ports;
    const now = clock.now();
    // A clock that was put back must not keep leases from being renewed.
    if (now >= this.#renewedAt && now < this.#renewedAt + RENEW_EVERY_MS) return;
    this.#renewedAt = now;
    // An event that was committed late may stand before the last one that was read.
    for (const { cursor } of this.#destinations.values()) cursor.restart();
    try {
      const held = [...this.#destinations.values()].filter(({ isLost }) => !isLost);
      await Promise.all(held.map((destination) => this.#renew(destination)));
    } catch (error) {
      logger.error('webhook_renewal_failed', error);
    }
  }

  /** Renews the lease of a destination. The destination is lost when another process has its job by now. */
  async #renew(destination: LeasedDestination): Promise<void> {
    const { job } = destination;
    const lease = await this.#ports.renewLeases.execute(job);
    // A newer lease may have come meanwhile.
    if (destination.job !== job) return;
    if (lease === null) destination.lose();
    else destination.renewed(lease);
  }

  async #release(job: LeasedJob<WebhookWork>, notBefore: number): Promise<void> {
    try {
      await this.#ports.releaseJobs.execute({ job, notBefore });
    } catch (error) {
      this.#noteUnreleased(error);
    }
  }

  #noteUnreleased(error: unknown): void {
    this.#ports.logger.error('webhook_release_failed', error);
  }
}
