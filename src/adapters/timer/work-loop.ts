import { clearInterval, setImmediate, setInterval, setTimeout } from 'node:timers';
import { LEASED_JOBS_MAX, type RelayJobs } from '../../application/jobs/relay-jobs.ts';
import type { RecordReceipts } from '../../application/messages/record-receipts.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { ProviderEvent, ProviderEventSource } from '../../application/ports/provider-events.ts';
import type { AcceptInbound } from '../../application/webhooks/accept-inbound.ts';
import { AdaptivePolling } from './adaptive-polling.ts';
import type { LocalWakeSignal } from './local-wake-signal.ts';

/** How late work that came due by the clock alone may be noticed. */
export const POLL_MS = 100;

/** News from a carrier that could not be recorded is tried again after this time. */
const NEWS_RETRY_MS = 1_000;

interface WorkLoopOptions {
  readonly localWakeSignal: LocalWakeSignal;
  readonly relayJobs: RelayJobs;
  readonly recordReceipts: RecordReceipts;
  readonly acceptInbound: AcceptInbound;
  readonly providerEvents: ProviderEventSource;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the clock moves by itself and is to be watched; a moved clock calls `wake` instead. */
  readonly polls: boolean;
}

/**
 * Looks for due work: at once when woken, and now and then for what came due by the clock. One look at a time;
 * a wake during a look makes it look again.
 */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  #timer: NodeJS.Timeout | null = null;
  #isStarted = false;
  #isScheduled = false;
  #wakes = 0;
  #pauseMs = 0;
  #signals = 0;
  #isFailing = false;
  readonly #pace = new AdaptivePolling();
  #scheduled: Promise<void> = Promise.resolve();
  #looking: Promise<void> = Promise.resolve();

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
      const look = () => {
        this.#lookNext();
        resolve();
      };
      if (this.#pauseMs > 0) setTimeout(look, this.#pauseMs);
      else setImmediate(look);
    });
  }

  /** How many looks were asked for so far. */
  get wakes(): number {
    return this.#wakes;
  }

  /** Resolves when no look is under way or asked for. */
  async idle(): Promise<void> {
    await this.#scheduled;
    await this.#looking;
    if (this.#isScheduled) await this.idle();
  }

  /** Stops looking; resolves when the last look is over. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.idle();
  }

  #lookNext(): void {
    this.#looking = this.#looking.then(() => {
      this.#isScheduled = false;
      return this.#isStarted ? this.#look() : undefined;
    });
  }

  async #look(): Promise<void> {
    const { relayJobs, logger } = this.#options;
    try {
      const heard = await this.#applyMessageEvents();
      const relayed = await relayJobs.execute();
      this.#setPause(relayed + heard > 0, relayed === LEASED_JOBS_MAX);
      if (relayed > 0) this.wake();
      if (this.#isFailing) logger.info('work_loop_recovered');
      this.#isFailing = false;
    } catch (error) {
      // Once per outage: it is looked for again many times a second.
      if (!this.#isFailing) logger.error('work_loop_failed', error);
      this.#isFailing = true;
    }
  }

  /** With a clock that is moved by hand nothing may wait for time to pass. */
  #setPause(foundWork: boolean, hasMore: boolean): void {
    if (!this.#options.polls) return;
    this.#pauseMs = this.#pace.nextDelay({ foundWork, hasMore, signals: this.#signals });
    this.#signals = 0;
  }

  /** News that cannot be recorded is put back, and must not keep due work from being done. */
  async #applyMessageEvents(): Promise<number> {
    const { providerEvents, clock, logger } = this.#options;
    const news = providerEvents.takeDue(clock.now());
    const outcomes = await Promise.allSettled(news.map((each) => this.#record(each)));
    const failed = news.filter((_, index) => outcomes[index]?.status === 'rejected');
    if (failed.length > 0) {
      providerEvents.putBack(failed, clock.now() + NEWS_RETRY_MS);
      const first = outcomes.find((outcome) => outcome.status === 'rejected');
      logger.error('provider_event_failed', first?.reason, { count: failed.length });
    }
    return news.length - failed.length;
  }

  #record(news: ProviderEvent): Promise<void> {
    const { recordReceipts, acceptInbound } = this.#options;
    switch (news.kind) {
      case 'receipt':
        return recordReceipts.execute([news.receipt]);
      case 'inbound':
        return acceptInbound.execute([news.arrival]);
      default:
        return news satisfies never;
    }
  }
}
