import type { AttemptResult } from '../../domain/webhooks/attempt-result.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { BackgroundWork } from '../background-work.ts';
import { type Job, LEASE_MS, type LeasedJob, RENEW_EVERY_MS } from '../jobs/job.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import { onNextTurn } from '../next-turn.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';
import type { Logger } from '../ports/logger.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import type { AttemptDelivery } from './attempt-delivery.ts';
import { DeliveryScheduler, type Destination, type Fetch } from './delivery-scheduler.ts';
import type { DueEvents, FetchDueEvents } from './fetch-due-events.ts';
import type { RecordAttempts } from './record-attempts.ts';

interface DeliverPorts {
  readonly unitOfWork: UnitOfWork;
  readonly fetchDueEvents: FetchDueEvents;
  readonly attemptDelivery: AttemptDelivery;
  readonly recordAttempts: RecordAttempts;
  readonly background: BackgroundWork;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly wakeSignal: WakeSignal;
  /** While attempts are in flight, their destinations are polled for more events this often. */
  readonly fetchInterval: Delay;
}

/** A job to give back. It is due again when its next event is, but not before this instant. */
interface Release {
  readonly job: LeasedJob<WebhookWork>;
  readonly notBefore: number;
}

/** A job whose destination is one too many for this process is due again after this time. */
const REFUSED_JOB_DELAY_MS = 2_000;

/**
 * Specification 6.1 and 6.2: delivers events to customers. While this process has the job of a destination, it fetches
 * the due events, attempts them, and records the results, until nothing more is due; then it releases the job. The
 * lease is renewed meanwhile. What cannot be recorded or released stays leased, and comes again when the lease runs out.
 */
export class DeliverWebhooks {
  readonly #ports: DeliverPorts;
  readonly #scheduler: DeliveryScheduler;
  #isRunning = false;
  #isStopping = false;
  #isIntervalRunning = false;
  #isFetchFailing = false;
  #renewAt = 0;
  /** While there is nothing to fetch: lets the loop go on. */
  #goOn: (() => void) | null = null;

  constructor(ports: DeliverPorts) {
    this.#ports = ports;
    this.#scheduler = new DeliveryScheduler({
      clock: ports.clock,
      attempt: (destination, event) => void this.#attempt(destination, event),
      wake: () => this.#wake(),
    });
  }

  /** Resolves when every job is in hand or released; deliveries go on in the background. Never rejects. */
  async execute(jobs: readonly LeasedJob<WebhookWork>[]): Promise<void> {
    const { background, clock } = this.#ports;
    const refused = jobs.filter((job) => this.#isStopping || !this.#scheduler.add(job));
    if (!this.#scheduler.isEmpty && !this.#isRunning) {
      this.#isRunning = true;
      this.#renewAt = clock.now() + RENEW_EVERY_MS;
      background.start(() => this.#run());
    }
    const notBefore = this.#isStopping ? 0 : clock.now() + REFUSED_JOB_DELAY_MS;
    await this.#release(refused.map((job) => ({ job, notBefore })));
  }

  /** Nothing more is attempted; each job is released once its attempts in flight are recorded. */
  stop(): void {
    this.#isStopping = true;
    for (const destination of this.#scheduler.leased()) {
      this.#scheduler.drop(destination);
      this.#scheduler.requestFetch(destination);
    }
  }

  async #run(): Promise<void> {
    try {
      while (!this.#scheduler.isEmpty) {
        // What ends in this turn of the event loop makes room for one fetch.
        await new Promise<void>((resolve) => onNextTurn(resolve));
        await this.#renewInTime();
        const fetches = this.#scheduler.nextFetches();
        if (fetches.length > 0) await this.#fetch(fetches);
        else if (!this.#scheduler.isEmpty) await this.#somethingToFetch();
      }
    } finally {
      this.#isRunning = false;
    }
  }

  #somethingToFetch(): Promise<void> {
    if (!this.#isIntervalRunning) {
      this.#isIntervalRunning = true;
      this.#ports.fetchInterval(() => {
        this.#isIntervalRunning = false;
        this.#scheduler.poll();
        this.#wake();
      });
    }
    return new Promise((resolve) => {
      this.#goOn = resolve;
    });
  }

  #wake(): void {
    const goOn = this.#goOn;
    this.#goOn = null;
    goOn?.();
  }

  async #fetch(fetches: readonly Fetch[]): Promise<void> {
    const releases: Release[] = [];
    const expiring: Destination[] = [];
    try {
      for (const { fetch, leasedUntil, events, notBefore } of await this.#dueEvents(fetches)) {
        const { destination } = fetch;
        if (leasedUntil === null) {
          expiring.push(destination);
          continue;
        }
        this.#scheduler.fetched(fetch, this.#isStopping ? [] : events, leasedUntil);
        if (!this.#scheduler.isIdle(destination)) continue;
        this.#scheduler.remove(destination);
        releases.push({ job: destination.job, notBefore });
      }
      await this.#release(releases);
      await this.#renew(expiring);
      for (const destination of expiring) this.#scheduler.requestFetch(destination);
      this.#isFetchFailing = false;
    } catch (error) {
      // Once per outage: a fetch is tried many times a second.
      if (!this.#isFetchFailing) this.#ports.logger.error('webhook_fetch_failed', error);
      this.#isFetchFailing = true;
    }
  }

  /** A service that stops needs no database to release what is idle. */
  #dueEvents(fetches: readonly Fetch[]): Promise<readonly DueEvents[]> {
    if (!this.#isStopping) return this.#ports.fetchDueEvents.execute(fetches);
    return Promise.resolve(fetches.map((fetch) => ({ fetch, leasedUntil: 0, events: [], notBefore: 0 })));
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
        this.#scheduler.responded(destination);
      }
      const { job } = destination;
      const isOpened = await recordAttempts.execute({ job, event, result, startedAt, endedAt });
      if (isOpened) this.#scheduler.drop(destination);
    } catch (error) {
      // Once for each destination: a whole batch fails alike.
      if (!destination.isLost) logger.error('webhook_record_failed', error, { eventId: event.id });
      // Attempted again at once, the event might be attempted for ever.
      this.#scheduler.lose(destination);
    }
    this.#scheduler.recorded(destination, event.id);
  }

  async #renewInTime(): Promise<void> {
    const { clock, logger } = this.#ports;
    const now = clock.now();
    // A clock that was put back must not keep leases from being renewed.
    if (now < this.#renewAt && now >= this.#renewAt - RENEW_EVERY_MS) return;
    this.#renewAt = now + RENEW_EVERY_MS;
    try {
      await this.#renew(this.#scheduler.leased());
    } catch (error) {
      logger.error('webhook_renewal_failed', error);
    }
  }

  /** Extends the leases of the destinations; one whose job another process has by now is lost. */
  async #renew(destinations: readonly Destination[]): Promise<void> {
    if (destinations.length === 0) return;
    const { unitOfWork, clock } = this.#ports;
    const jobs = destinations.map(({ job }) => job);
    const until = clock.now() + LEASE_MS;
    const renewed = new Set(await unitOfWork.run((stores) => stores.jobs.renew(jobs, until), 'eventual'));
    for (const [index, destination] of destinations.entries()) {
      const { job } = destination;
      // A newer lease may have come meanwhile.
      if (job !== jobs[index]) continue;
      if (renewed.has(job)) this.#scheduler.renewed(destination, until);
      else this.#scheduler.lose(destination);
    }
  }

  /** Never rejects. Those who add events lock the job, too: what is not found here brings it forward after this. */
  async #release(releases: readonly Release[]): Promise<void> {
    if (releases.length === 0) return;
    const { unitOfWork, clock, logger, wakeSignal } = this.#ports;
    const notBefore = new Map(releases.map((release) => [release.job.id, release.notBefore]));
    try {
      const again = await unitOfWork.run(async (stores) => {
        const leased = await stores.jobs.lockLeased(releases.map(({ job }) => job));
        const next = await stores.webhookEvents.nextDueAt(leased.map(({ work }) => work));
        const due = leased.flatMap(({ id, work }, index): Job[] => {
          const dueAt = next[index] ?? null;
          return dueAt === null ? [] : [{ id, work, dueAt: Math.max(dueAt, notBefore.get(id) ?? 0) }];
        });
        await stores.jobs.complete(leased.filter((_, index) => (next[index] ?? null) === null));
        await stores.jobs.add(due);
        return due;
      }, 'eventual');
      if (again.some(({ dueAt }) => dueAt <= clock.now())) wakeSignal.wake();
    } catch (error) {
      logger.error('webhook_release_failed', error);
    }
  }
}
