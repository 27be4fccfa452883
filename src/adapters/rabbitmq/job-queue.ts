import type { JobHandler, JobQueue } from '../../application/ports/job-queue.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { LeasedJob } from '../../domain/jobs/job.ts';
import { RabbitConsumer } from './consumer.ts';
import { RabbitPublisher } from './publisher.ts';
import { type Topology, topologyOf } from './topology.ts';

/** Jobs that may wait at the broker: more would wait in the order of their leases, not in rotation. */
export const READY_JOBS_MAX = 1_000;

/** Jobs in one batch: one transaction's worth. */
const RABBIT_BATCH_JOBS_MAX = 500;

export interface RabbitJobQueueOptions {
  /** `amqp://` or `amqps://`. */
  readonly url: string;
  /** Begins the names at the broker, so that installations can share one. */
  readonly prefix: string;
  readonly logger: Logger;
  readonly batchMax?: number;
  readonly readyMax?: number;
}

/**
 * The queue of several processes, at a RabbitMQ broker. It connects in the background, as often as needed:
 * while the broker is away, `availableCapacity` is 0 and `unavailableReason` says why.
 */
export class RabbitJobQueue implements JobQueue {
  readonly #options: RabbitJobQueueOptions;
  readonly #topology: Topology;
  readonly #publisher: RabbitPublisher;
  #consumer: RabbitConsumer | null = null;
  #closed: Promise<void> | null = null;

  constructor(options: RabbitJobQueueOptions) {
    const { url, prefix, logger, readyMax = READY_JOBS_MAX } = options;
    this.#options = options;
    this.#topology = topologyOf(prefix);
    const name = `${prefix} publisher`;
    this.#publisher = new RabbitPublisher({ url, name, topology: this.#topology, readyMax, logger });
    this.#publisher.start();
  }

  publish(jobs: readonly LeasedJob[]): Promise<void> {
    return this.#publisher.publish(jobs);
  }

  async consume(handler: JobHandler): Promise<void> {
    if (this.#consumer !== null) throw new Error('The job queue has a consumer already');
    if (this.#closed !== null) throw new Error('The job queue is closed');
    const { url, prefix, logger, batchMax = RABBIT_BATCH_JOBS_MAX } = this.#options;
    const name = `${prefix} consumer`;
    const topology = this.#topology;
    this.#consumer = new RabbitConsumer({ url, name, topology, batchMax, handler, logger });
    this.#consumer.start();
  }

  /** Resolves once every connection this process needs is open; rejects when the queue is closed before. */
  async ready(): Promise<void> {
    await Promise.all([this.#publisher.ready(), this.#consumer?.ready()]);
  }

  availableCapacity(): Promise<number> {
    return this.#publisher.availableCapacity();
  }

  async idle(): Promise<void> {
    await this.#consumer?.idle();
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  unavailableReason(): string | null {
    return this.#publisher.unavailableReason() ?? this.#consumer?.unavailableReason() ?? null;
  }

  async #shutDown(): Promise<void> {
    await this.#consumer?.close();
    await this.#publisher.close();
  }
}
