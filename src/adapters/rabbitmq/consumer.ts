import { performance } from 'node:perf_hooks';
import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import { BatchDrain } from '../../application/batching/batch-drain.ts';
import { MinuteLog } from '../../application/minute-log.ts';
import type { JobHandler } from '../../application/ports/job-queue.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { LeasedJob } from '../../domain/jobs/job.ts';
import { withDeadline } from './deadline.ts';
import { decodeJob } from './job-envelope.ts';
import { ReconnectingChannel } from './reconnecting-channel.ts';
import { declareTopology, type Topology } from './topology.ts';

/** Batches the broker may hand over ahead: one that is being done and one that fills. */
const PREFETCH_BATCHES = 2;

/** Time for the broker to respond about the queue; a silent broker hands nothing over. */
const BROKER_RESPONSE_MS = 2_000;

/** A quorum queue may count a message as handed over shortly before it arrives, so one empty count proves nothing. */
const EMPTY_COUNTS = 2;

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

/** Takes jobs from the broker's queue and hands them over in batches of one kind. */
export class RabbitConsumer {
  readonly #options: RabbitConsumerOptions;
  readonly #connection: ReconnectingChannel;
  readonly #drain: BatchDrain<Delivery>;
  /** Delivery tags that are neither acknowledged nor rejected, in the order of arrival. */
  readonly #unsettled = new Set<number>();
  /** Anybody at the broker can send as many messages that are no jobs as they like. */
  readonly #log: MinuteLog;
  #channel: ConfirmChannel | null = null;
  #consumerTag: string | null = null;
  #isStopping = false;

  constructor(options: RabbitConsumerOptions) {
    const { url, name, logger } = options;
    this.#options = options;
    this.#log = new MinuteLog({ clock: performance, logger });
    this.#drain = new BatchDrain({
      batchMax: options.batchMax,
      groupOf: ({ job }) => job.work.kind,
      handle: (batch) => this.#handle(batch),
    });
    this.#connection = new ReconnectingChannel({
      url,
      name,
      logger,
      prepare: (channel) => this.#prepare(channel),
      lost: () => this.#lost(),
    });
  }

  /** Begins to connect in the background. */
  start(): void {
    this.#connection.start();
  }

  /** Resolves once jobs are received; rejects when closed before. */
  ready(): Promise<void> {
    return this.#connection.ready();
  }

  /** Why jobs are not received, or null when they are. */
  unavailableReason(): string | null {
    return this.#connection.unavailableReason();
  }

  /** Resolves when no job is in hand and the broker has no more to hand over, or is away. */
  async idle(): Promise<void> {
    for (let emptyCounts = 0; emptyCounts < EMPTY_COUNTS; ) {
      await this.#drain.idle();
      emptyCounts = (await this.#countReady()) === 0 && this.#drain.isIdle ? emptyCounts + 1 : 0;
    }
  }

  /** Takes no further jobs, finishes those in hand, acknowledges them, lets go of the connection. */
  async close(): Promise<void> {
    this.#isStopping = true;
    if (this.#channel !== null && this.#consumerTag !== null) {
      const cancelled = this.#channel.cancel(this.#consumerTag);
      await withDeadline(cancelled, BROKER_RESPONSE_MS, 'The broker does not respond').catch(() => undefined);
    }
    await this.#drain.idle();
    await this.#connection.close();
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
      .catch((error: Error) => this.#connection.restart(error));
  }

  #receive(channel: ConfirmChannel, message: ConsumeMessage): void {
    const job = decodeJob(message.content);
    if (job === null) {
      channel.nack(message, false, false);
      this.#log.warn('queue_message_invalid', { bytes: message.content.length });
      return;
    }
    this.#unsettled.add(message.fields.deliveryTag);
    this.#drain.push({ message, job });
  }

  /** Unacknowledged jobs are handed out again by the broker, perhaps to others. */
  #lost(): void {
    this.#channel = null;
    this.#consumerTag = null;
    this.#unsettled.clear();
    this.#drain.clear();
  }

  async #handle(batch: readonly Delivery[]): Promise<void> {
    const channel = this.#channel;
    const isDone = await this.#do(batch.map(({ job }) => job));
    if (channel === this.#channel) this.#settle(batch, isDone);
  }

  async #do(jobs: readonly LeasedJob[]): Promise<boolean> {
    try {
      await this.#options.handler(jobs);
      return true;
    } catch (error) {
      this.#options.logger.error('queue_batch_failed', error, { jobs: jobs.length });
      return false;
    }
  }

  /**
   * Acknowledges the messages of a batch, or gives them back to the broker, which counts them as redelivered. One frame
   * settles all of them that nothing unsettled came before.
   */
  #settle(batch: readonly Delivery[], isDone: boolean): void {
    const channel = this.#channel;
    if (channel === null) return;
    for (const { message } of batch) this.#unsettled.delete(message.fields.deliveryTag);
    const [oldest = Number.POSITIVE_INFINITY] = this.#unsettled;
    const isBehind = ({ message }: Delivery): boolean => message.fields.deliveryTag > oldest;
    const lastOfRun = batch.findLastIndex((delivery) => !isBehind(delivery));
    try {
      for (const [index, { message }] of batch.entries()) {
        if (index < lastOfRun) continue;
        const upTo = index === lastOfRun;
        if (isDone) channel.ack(message, upTo);
        else channel.nack(message, upTo, true);
      }
    } catch {
      // The channel ended a moment ago: the broker hands the jobs out again.
    }
  }

  async #countReady(): Promise<number> {
    if (this.#channel === null) return 0;
    const counting = this.#channel.checkQueue(this.#options.topology.queue);
    const counted = await withDeadline(counting, BROKER_RESPONSE_MS, 'The broker does not respond').catch(
      () => null,
    );
    return counted?.messageCount ?? 0;
  }
}
