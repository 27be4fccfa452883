import { setImmediate } from 'node:timers';
import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import type { LeasedJob } from '../../application/jobs.ts';
import type { JobHandler } from '../../application/ports/job-queue.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { withDeadline } from './deadline.ts';
import { decodeJob } from './job-envelope.ts';
import { RabbitLink } from './link.ts';
import { declareTopology, type Topology } from './topology.ts';

/** Batches the broker may hand over ahead: one at work and one that fills. */
export const PREFETCH_BATCHES = 2;

/** Time for an answer about the queue; a broker that gives none has nothing to hand over. */
export const ANSWER_TIMEOUT_MS = 2_000;

export interface RabbitConsumerOptions {
  readonly url: string;
  readonly name: string;
  readonly topology: Topology;
  /** Jobs handed over at once. */
  readonly batchMax: number;
  readonly handler: JobHandler;
  readonly logger: Logger;
}

interface Delivery {
  readonly message: ConsumeMessage;
  readonly job: LeasedJob;
}

/**
 * Takes jobs from the broker's queue and hands them over in batches, one at a time and in order of arrival, so
 * that one acknowledgement settles a batch.
 */
export class RabbitConsumer {
  readonly #options: RabbitConsumerOptions;
  readonly #link: RabbitLink;
  readonly #inHand: Delivery[] = [];
  #channel: ConfirmChannel | null = null;
  #consumerTag: string | null = null;
  #isRunning = false;
  #isScheduled = false;
  #isStopping = false;
  #settledWaiters: (() => void)[] = [];

  constructor(options: RabbitConsumerOptions) {
    const { url, name, logger } = options;
    this.#options = options;
    this.#link = new RabbitLink({
      url,
      name,
      logger,
      prepare: (channel) => this.#prepare(channel),
      lost: () => this.#lost(),
    });
  }

  /** Begins to connect in the background. */
  start(): void {
    this.#link.start();
  }

  /** Resolves once jobs are received; rejects when closed before. */
  ready(): Promise<void> {
    return this.#link.ready();
  }

  /** Why jobs are not received, or null when they are. */
  unavailableReason(): string | null {
    return this.#link.unavailableReason();
  }

  /** Resolves when nothing is in hand and the broker has nothing more to hand over, or is away. */
  async idle(): Promise<void> {
    do {
      await this.#settled();
      // Deliveries come before the answer on the same channel: none is on its way once it is here.
    } while ((await this.#countReady()) > 0 || !this.#isSettled());
  }

  /** Takes no further jobs, finishes those in hand, acknowledges them, lets go of the connection. */
  async close(): Promise<void> {
    this.#isStopping = true;
    if (this.#channel !== null && this.#consumerTag !== null) {
      const cancelled = this.#channel.cancel(this.#consumerTag);
      await withDeadline(cancelled, ANSWER_TIMEOUT_MS, 'no answer').catch(() => undefined);
    }
    await this.#settled();
    await this.#link.close();
  }

  async #prepare(channel: ConfirmChannel): Promise<void> {
    const { topology, batchMax } = this.#options;
    await declareTopology(channel, topology);
    if (this.#isStopping) return;
    await channel.prefetch(batchMax * PREFETCH_BATCHES);
    this.#channel = channel;
    await this.#subscribe(channel);
  }

  async #subscribe(channel: ConfirmChannel): Promise<void> {
    const { consumerTag } = await channel.consume(this.#options.topology.queue, (message) => {
      if (message === null) this.#resubscribe(channel);
      else this.#receive(channel, message);
    });
    this.#consumerTag = consumerTag;
  }

  /** The broker ends a subscription when its queue is deleted or moves. */
  #resubscribe(channel: ConfirmChannel): void {
    this.#consumerTag = null;
    if (this.#isStopping) return;
    this.#options.logger.warn('queue_cancelled');
    declareTopology(channel, this.#options.topology)
      .then(() => this.#subscribe(channel))
      .catch((error: Error) => this.#link.restart(error));
  }

  #receive(channel: ConfirmChannel, message: ConsumeMessage): void {
    const job = decodeJob(message.content);
    if (job === null) {
      this.#options.logger.warn('queue_message_invalid', { bytes: message.content.length });
      channel.nack(message, false, false);
      return;
    }
    this.#inHand.push({ message, job });
    this.#schedule();
  }

  /** Unacknowledged jobs are handed out again by the broker, perhaps to others. */
  #lost(): void {
    this.#channel = null;
    this.#consumerTag = null;
    this.#inHand.length = 0;
    this.#tellSettled();
  }

  /** Waits for the end of the current turn, so that everything received in it makes one batch. */
  #schedule(): void {
    if (this.#isRunning || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#isRunning = true;
    while (this.#inHand.length > 0) {
      const batch = this.#inHand.splice(0, this.#options.batchMax);
      const channel = this.#channel;
      const isDone = await this.#handle(batch.map(({ job }) => job));
      if (channel === this.#channel) this.#settle(batch, isDone);
    }
    this.#isRunning = false;
    this.#tellSettled();
  }

  async #handle(jobs: readonly LeasedJob[]): Promise<boolean> {
    try {
      await this.#options.handler(jobs);
      return true;
    } catch (error) {
      this.#options.logger.error('queue_batch_failed', error, { jobs: jobs.length });
      return false;
    }
  }

  /** Answers for the batch's last message and, with it, for all before. Those that failed count as redelivered. */
  #settle(batch: readonly Delivery[], isDone: boolean): void {
    const last = batch.at(-1);
    if (last === undefined || this.#channel === null) return;
    try {
      if (isDone) this.#channel.ack(last.message, true);
      else this.#channel.nack(last.message, true, true);
    } catch {
      // The channel ended a moment ago: the broker hands the jobs out again.
    }
  }

  async #countReady(): Promise<number> {
    if (this.#channel === null) return 0;
    const counting = this.#channel.checkQueue(this.#options.topology.queue);
    const counted = await withDeadline(counting, ANSWER_TIMEOUT_MS, 'no answer').catch(() => null);
    return counted?.messageCount ?? 0;
  }

  #isSettled(): boolean {
    return this.#inHand.length === 0 && !this.#isRunning;
  }

  async #settled(): Promise<void> {
    if (this.#isSettled()) return;
    await new Promise<void>((resolve) => this.#settledWaiters.push(resolve));
  }

  #tellSettled(): void {
    if (!this.#isSettled()) return;
    for (const resolve of this.#settledWaiters.splice(0)) resolve();
  }
}
