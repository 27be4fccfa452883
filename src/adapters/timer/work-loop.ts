import { clearInterval, setImmediate, setInterval, setTimeout } from 'node:timers';
import { WaitGroup } from '../../application/concurrency/wait-group.ts';
import { LEASED_JOBS_MAX, type RelayJobs } from '../../application/jobs/relay-jobs.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { ProviderEventSource } from '../../application/ports/provider-events.ts';
import { AdaptivePolling, POLLING_DELAY_MS } from './adaptive-polling.ts';
import type { LocalWakeSignal } from './local-wake-signal.ts';

/** How late the loop may notice work that came due by the clock alone. */
const POLL_MS = 100;

interface WorkLoopOptions {
  readonly localWakeSignal: LocalWakeSignal;
  readonly relayJobs: RelayJobs;
  readonly providerEvents: ProviderEventSource;
  readonly logger: Logger;
  /** Whether the clock moves by itself, so that the loop has to poll; a clock moved by hand calls `wake` instead. */
  readonly polls: boolean;
}

/**
 * Relays due jobs and records the events of providers inside the process: at once when woken, and every `POLL_MS` for
 * work that came due by the clock. One poll at a time; a wake during a poll causes another, at the time that
 * `AdaptivePolling` decides. No poll waits for the commit of events: those of one project may wait for a lock.
 */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  #timer: NodeJS.Timeout | null = null;
  #isStarted = false;
  #isScheduled = false;
  #wakes = 0;
  #delayMs = 0;
  #signals = 0;
  #isFailing = false;
  readonly #polling = new AdaptivePolling();
  /** Counts calls of the provider that have not ended. */
  readonly #recording = new WaitGroup();
  /** Events that were committed since the last poll. */
  #recorded = 0;
  #scheduled: Promise<void> = Promise.resolve();
  #running: Promise<void> = Promise.resolve();

  constructor(options: WorkLoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStarted = true;
    this.#options.localWakeSignal.subscribe(() => this.wake());
    if (this.#options.polls) this.#timer = setInterval(() => this.wake(), POLL_MS);
    this.wake();
  }

  wake(): void {
    this.#signals += 1;
    if (!this.#isStarted || this.#isScheduled) return;
    this.#isScheduled = true;
    this.#wakes += 1;
    this.#scheduled = new Promise((resolve) => {
      const poll = () => {
        if (this.#options.polls && this.#polling.tryYield(this.#signals)) {
          setTimeout(poll, POLLING_DELAY_MS);
          return;
        }
        this.#pollNext();
        resolve();
      };
      if (this.#delayMs > 0) setTimeout(poll, this.#delayMs);
      else setImmediate(poll);
    });
  }

  /** How many polls were requested so far. */
  get wakes(): number {
    return this.#wakes;
  }

  /** Resolves when no poll is running or requested, and every event that was due is recorded or due again. */
  async idle(): Promise<void> {
    await this.#scheduled;
    await this.#running;
    await this.#recording.idle();
    if (this.#isScheduled) await this.idle();
  }

  /** Stops polling; resolves when the last poll has ended. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.idle();
  }

  #pollNext(): void {
    this.#running = this.#running.then(() => {
      this.#isScheduled = false;
      return this.#isStarted ? this.#poll() : undefined;
    });
  }

  async #poll(): Promise<void> {
    const { relayJobs, logger } = this.#options;
    try {
      const recorded = this.#recorded;
      this.#recorded = 0;
      this.#record();
      const relayed = await relayJobs.execute();
      this.#setDelay(relayed + recorded > 0, relayed === LEASED_JOBS_MAX);
      if (relayed > 0) this.wake();
      if (this.#isFailing) logger.info('work_loop_recovered');
      this.#isFailing = false;
    } catch (error) {
      // Once per outage: the loop polls many times a second.
      if (!this.#isFailing) logger.error('work_loop_failed', error);
      this.#isFailing = true;
    }
  }

  #record(): void {
    this.#recording.begin();
    void this.#options.providerEvents.deliverDue().then((recorded) => {
      this.#recorded += recorded;
      this.#recording.end();
    });
  }

  /** With a clock that is moved by hand nothing may wait for time to pass. */
  #setDelay(foundWork: boolean, hasMore: boolean): void {
    if (!this.#options.polls) return;
    this.#delayMs = this.#polling.nextDelay({ foundWork, hasMore });
    this.#signals = 0;
  }
}
