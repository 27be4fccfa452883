import type { AttemptResult } from '../../domain/webhooks/attempt-result.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { BackgroundWork } from '../background-work.ts';
import { LEASE_MS, type LeasedJob, RENEW_EVERY_MS } from '../jobs/job.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import type { WorkerHeartbeat } from '../jobs/worker-heartbeat.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';
import type { Logger } from '../ports/logger.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { DuePosition } from '../ports/webhook-stores.ts';
import type { AttemptDelivery } from './attempt-delivery.ts';
import { AttemptLimiter } from './attempt-limiter.ts';
import { DELIVERY_LIMITS } from './delivery-limits.ts';
import { type ConfirmedLease, Destination, type InHand } from './destination.ts';
import type { FetchDueEvents } from './fetch-due-events.ts';
import type { RecordAttempts } from './record-attempts.ts';
import type { ReleaseJobs } from './release-jobs.ts';

interface DeliverPorts {
  readonly unitOfWork: UnitOfWork;
  readonly fetchDueEvents: FetchDueEvents;
  readonly attemptDelivery: AttemptDelivery;
  readonly recordAttempts: RecordAttempts;
  readonly releaseJobs: ReleaseJobs;
  readonly background: BackgroundWork;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workerId: string;
  readonly workerHeartbeat: Pick<WorkerHeartbeat, 'keepsLease'>;
  /** While this process has destinations, some of them are polled for more events this often, and leases are renewed. */
  readonly fetchInterval: Delay;
}

/** A job whose destination is one too many for this process is due again after this time. */
const SURPLUS_JOB_DELAY_MS = 2_000;

/** So many are polled at a time: one query, however many destinations hang. */
const POLLED_DESTINATIONS_MAX = 250;

/**
 * Specification 6.1 and 6.2: delivers events to customers. While this process has the job of a destination, it fetches
 * the due events, attempts each of them, and records the results, until nothing more is due; then it releases the job.
 * What cannot be recorded or released stays leased, and comes again when the lease runs out. After a crash another worker
 * takes over.
 */
export class DeliverWebhooks {
  readonly #ports: DeliverPorts;
  readonly #limiter = new AttemptLimiter(DELIVERY_LIMITS);
  /** By job id. The destination that was polled longest ago comes first. */
  readonly #destinations = new Map<string, Destination>();
  readonly #projects = new Map<string, InHand>();
  readonly #all: InHand = { destinations: 0, fetched: 0 };
  #isStopping = false;
  #isIntervalRunning = false;
  #isFetchFailing = false;
  #renewedAt = 0;

  constructor(ports: DeliverPorts) {
    this.#ports = ports;
  }

  /** Resolves when every job is in hand or released; deliveries go on in the background. Never rejects. */
  async execute(jobs: readonly LeasedJob<WebhookWork>[]): Promise<void> {
    const surplus = jobs.filter((job) => !this.#add(job));
    const notBefore = this.#isStopping ? 0 : this.#ports.clock.now() + SURPLUS_JOB_DELAY_MS;
    await Promise.all(surplus.map((job) => this.#release(job, notBefore)));
  }

  /** Nothing more is attempted; each job is released once its attempts in flight are recorded. */
  stop(): void {
    this.#isStopping = true;
    for (const destination of this.#destinations.values()) {
      destination.drop();
      destination.wantFetch();
    }
  }

  /** Begins with the destination of a job, or gives a known one the newer lease; false when there are too many. */
  #add(job: LeasedJob<WebhookWork>): boolean {
    if (this.#isStopping) return false;
    const known = this.#destinations.get(job.id);
    if (known === undefined) return this.#addNew(job);
    if (job.fencingToken <= known.job.fencingToken) return true;
    // Another process may have attempted what was fetched under the older lease.
    known.drop();
    known.job = job;
    known.lease = null;
    known.isLost = false;
    known.wantFetch();
    return true;
  }

  #addNew(job: LeasedJob<WebhookWork>): boolean {
    const { background, clock, workerHeartbeat } = this.#ports;
    const { projectId } = job.work;
    const project = this.#projects.get(projectId) ?? { destinations: 0, fetched: 0 };
    if (project.destinations >= DELIVERY_LIMITS.destinationsPerProject) return false;
    if (this.#all.destinations >= DELIVERY_LIMITS.destinations) return false;
    const inHand = [project, this.#all];
    for (const each of inHand) each.destinations += 1;
    if (this.#destinations.size === 0) this.#renewedAt = clock.now();
    const attempt = (to: Destination, event: WebhookEvent) => void this.#attempt(to, event);
    const isValid = ({ at, until }: ConfirmedLease) => clock.now() < until && workerHeartbeat.keepsLease(at);
    const destination = new Destination(job, inHand, this.#limiter, isValid, attempt);
    this.#projects.set(projectId, project);
    this.#destinations.set(job.id, destination);
    destination.wantFetch();
    background.start(() => this.#deliver(destination, project));
    this.#startInterval();
    return true;
  }

  async #deliver(destination: Destination, project: InHand): Promise<void> {
    let nothingBefore: number | null;
    do {
      await destination.fetchWanted();
      nothingBefore = await this.#fetchAndAttempt(destination, project);
    } while (nothingBefore === null);
    this.#remove(destination, project);
    if (!destination.isLost) await this.#release(destination.job, nothingBefore);
  }

  /** Resolves with null while there is more to do, else with the instant before which nothing may be attempted. */
  async #fetchAndAttempt(destination: Destination, project: InHand): Promise<number | null> {
    const { job } = destination;
    if (destination.isLost || this.#isStopping) return destination.isIdle ? 0 : null;
    const capacity = this.#capacityFor(destination, project);
    if (capacity === 0) return null;
    // What is in hand is due, too, until it is recorded: it must not be in the way of what is new.
    const known = new Set(destination.fetched);
    const { readTo: after, restarts } = destination;
    const limit = after === null ? capacity + known.size : capacity;
    // Kept free, so that fetches at the same time do not each take all that is left.
    const inHand = [project, this.#all];
    for (const each of inHand) each.fetched += capacity;
    try {
      const at = this.#ports.clock.now();
      const due = await this.#ports.fetchDueEvents.execute({ job, after, limit });
      this.#isFetchFailing = false;
      if (due.leasedUntil === null) await this.#renew([destination]);
      if (due.leasedUntil === null || this.#isStopping || destination.job !== job) {
        destination.wantFetch();
        return null;
      }
      const added = due.events.filter(({ id }) => !known.has(id)).slice(0, capacity);
      destination.hasMore = due.events.length === limit;
      destination.readTo =
        destination.hasMore && destination.restarts === restarts ? positionOf(added.at(-1)) : null;
      destination.take(added, { at, until: due.leasedUntil });
      this.#fetchAhead(destination);
      if (due.events.length > 0 || !destination.isIdle) return null;
      if (after === null) return due.notBefore;
      // Only a fetch of all that is due can tell that nothing is.
      destination.wantFetch();
      return null;
    } catch (error) {
      // Once per outage: a fetch is tried many times a second.
      if (!this.#isFetchFailing) this.#ports.logger.error('webhook_fetch_failed', error);
      this.#isFetchFailing = true;
      return null;
    } finally {
      for (const each of inHand) each.fetched -= capacity;
    }
  }

  async #attempt(destination: Destination, event: WebhookEvent): Promise<void> {
    const { attemptDelivery, recordAttempts, clock, logger } = this.#ports;
    try {
      const startedAt = clock.now();
      let result: AttemptResult;
      let endedAt: number;
      try {
        result = await attemptDelivery.execute(event, startedAt);
      } finally {
        endedAt = clock.now();
        destination.queue.ended();
        this.#fetchAhead(destination);
      }
      const { job } = destination;
      const isOpened = await recordAttempts.execute({ job, event, result, startedAt, endedAt });
      if (isOpened) destination.drop();
    } catch (error) {
      // Once for each destination: a whole batch fails alike.
      if (!destination.isLost) logger.error('webhook_record_failed', error, { eventId: event.id });
      // Attempted again at once, the event might be attempted for ever.
      destination.lose();
    }
    destination.forget([event.id]);
  }

  /** Fetches the next events before the last ones are attempted, so that no connection is idle meanwhile. */
  #fetchAhead(destination: Destination): void {
    const { hasMore, queue } = destination;
    if (hasMore && queue.size <= DELIVERY_LIMITS.fetchedPerDestination / 2) destination.wantFetch();
  }

  /** How many new events to fetch. A fetch reads what is in hand once more, so that a small one is not worth it. */
  #capacityFor({ queue, fetched }: Destination, project: InHand): number {
    const limits = DELIVERY_LIMITS;
    const capacity = Math.min(
      limits.fetchedPerDestination - queue.size,
      limits.fetchedPerProject - project.fetched,
      limits.fetched - this.#all.fetched,
    );
    if (capacity >= limits.fetchedMin) return capacity;
    return fetched.size === 0 ? limits.fetchedMin : 0;
  }

  #remove(destination: Destination, project: InHand): void {
    const { id, work } = destination.job;
    this.#destinations.delete(id);
    this.#limiter.close(destination.queue);
    for (const each of [project, this.#all]) each.destinations -= 1;
    if (project.destinations === 0) this.#projects.delete(work.projectId);
  }

  /** Now and then leases are renewed, and the destinations that were polled longest ago are fetched for. */
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
    // An event that was committed late may lie before what was read.
    for (const destination of this.#destinations.values()) destination.readAnew();
    try {
      await this.#renew([...this.#destinations.values()].filter(({ isLost }) => !isLost));
    } catch (error) {
      logger.error('webhook_renewal_failed', error);
    }
  }

  /** Extends the leases of the destinations; one whose job another process has by now is lost. */
  async #renew(destinations: readonly Destination[]): Promise<void> {
    const { unitOfWork, clock, workerId } = this.#ports;
    const jobs = destinations.map(({ job }) => job);
    const at = clock.now();
    const until = at + LEASE_MS;
    const renewed = new Set(
      await unitOfWork.run((stores) => stores.jobs.renew(jobs, until, workerId), 'eventual'),
    );
    for (const [index, destination] of destinations.entries()) {
      const { job } = destination;
      // A newer lease may have come meanwhile.
      if (job !== jobs[index]) continue;
      if (renewed.has(job)) destination.renewed({ at, until });
      else destination.lose();
    }
  }

  async #release(job: LeasedJob<WebhookWork>, notBefore: number): Promise<void> {
    try {
      await this.#ports.releaseJobs.execute({ job, notBefore });
    } catch (error) {
      this.#ports.logger.error('webhook_release_failed', error);
    }
  }
}

function positionOf(event: WebhookEvent | undefined): DuePosition | null {
  if (event === undefined || event.nextAttemptAt === null) return null;
  return { nextAttemptAt: event.nextAttemptAt, id: event.id };
}
