import { once } from 'node:events';
import type { ConfirmChannel, Message } from 'amqplib';
import { QueueBlocked } from '../../application/errors/queue-blocked.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { LeasedJob } from '../../domain/jobs/job.ts';
import { withDeadline } from './deadline.ts';
import { encodeJob } from './job-envelope.ts';
import { CLOSE_TIMEOUT_MS } from './open-channel.ts';
import { QueueDepth } from './queue-depth.ts';
import { ReconnectingChannel } from './reconnecting-channel.ts';
import { declareTopology, type Topology } from './topology.ts';

/** Time for the broker to confirm what was published. Shorter than a lease, so that the result is of use. */
const CONFIRM_TIMEOUT_MS = 10_000;

export interface RabbitPublisherOptions {
  readonly url: string;
  readonly name: string;
  readonly topology: Topology;
  /** Jobs that may wait at the broker before `availableCapacity` is 0. */
  readonly readyMax: number;
  readonly logger: Logger;
}

/** The callbacks of each message of a publish. */
interface Confirms {
  readonly confirmed: () => void;
  readonly failed: (error: Error) => void;
}

/**
 * Puts jobs into the broker's queue. It has a connection of its own, because a broker short of memory stops
 * reading from connections that publish, and consumers must be able to acknowledge meanwhile.
 */
export class RabbitPublisher {
  readonly #topology: Topology;
  readonly #logger: Logger;
  readonly #connection: ReconnectingChannel;
  readonly #depth: QueueDepth;
  readonly #publishing = new Set<Promise<void>>();
  /** The callbacks of what is being published. */
  readonly #confirms = new Set<Confirms>();
  readonly #returned = new Set<string>();
  #repairing: Promise<void> | null = null;
  #messages = 0;

  constructor(options: RabbitPublisherOptions) {
    const { url, name, topology, readyMax, logger } = options;
    this.#topology = topology;
    this.#logger = logger;
    this.#depth = new QueueDepth(topology.queue, readyMax);
    this.#connection = new ReconnectingChannel({
      url,
      name,
      logger,
      prepare: (channel) => this.#prepare(channel),
      onBlocked: (reason) => this.#failAll(new QueueBlocked(reason)),
    });
  }

  /** Begins to connect in the background. */
  start(): void {
    this.#connection.start();
  }

  /** Resolves once connected; rejects when closed before. */
  ready(): Promise<void> {
    return this.#connection.ready();
  }

  /**
   * Resolves when the broker has confirmed every job. Rejects when one is rejected, unroutable or uncertain. Rejects as
   * `QueueBlocked` when the broker takes no more messages, of which it tells only those who publish.
   */
  async publish(jobs: readonly LeasedJob[]): Promise<void> {
    const channel = this.#connection.channel();
    if (channel === null)
      throw new Error(`Not published: ${this.#connection.unavailableReason() ?? 'no connection'}`);
    if (jobs.length === 0) return;
    this.#depth.published(jobs.length);
    const reason = 'The broker did not confirm in time';
    const publishing = withDeadline(this.#send(channel, jobs), CONFIRM_TIMEOUT_MS, reason);
    this.#publishing.add(publishing);
    try {
      await publishing;
    } finally {
      this.#publishing.delete(publishing);
    }
  }

  /** How many more jobs may wait at the broker, 0 when it is away, blocked or silent. Never rejects. */
  async availableCapacity(): Promise<number> {
    const channel = this.#connection.channel();
    return channel === null || this.#connection.unavailableReason() !== null
      ? 0
      : await this.#depth.availableCapacity(channel);
  }

  /** Why jobs cannot be published, or null when they can. */
  unavailableReason(): string | null {
    return (
      this.#connection.unavailableReason() ?? (this.#depth.isSilent() ? 'The broker does not respond' : null)
    );
  }

  /** Waits a moment for what is being published, then lets go of the connection. */
  async close(): Promise<void> {
    const settled = Promise.allSettled(this.#publishing);
    await withDeadline(settled, CLOSE_TIMEOUT_MS, 'The broker does not respond').catch(() => undefined);
    await this.#connection.close();
  }

  async #prepare(channel: ConfirmChannel): Promise<void> {
    this.#returned.clear();
    channel.on('return', (message) => this.#takeBack(channel, message));
    await declareTopology(channel, this.#topology);
  }

  async #send(channel: ConfirmChannel, jobs: readonly LeasedJob[]): Promise<void> {
    const { all, ...confirms } = confirmsOf(jobs.length);
    this.#confirms.add(confirms);
    try {
      for (const job of jobs) {
        const takesMore = this.#sendOne(channel, job, confirms);
        if (!takesMore) await Promise.race([once(channel, 'drain'), all]);
      }
      await all;
    } finally {
      this.#confirms.delete(confirms);
    }
  }

  #failAll(error: Error): void {
    for (const { failed } of this.#confirms) failed(error);
  }

  #sendOne(channel: ConfirmChannel, job: LeasedJob, { confirmed, failed }: Confirms): boolean {
    this.#messages += 1;
    const messageId = String(this.#messages);
    const { exchange, routingKey } = this.#topology;
    const options = { persistent: true, mandatory: true, contentType: 'application/json', messageId };
    return channel.publish(exchange, routingKey, encodeJob(job), options, (error: unknown) => {
      if (error !== null) failed(new Error('The broker did not take a job', { cause: error }));
      else if (this.#returned.delete(messageId)) failed(new Error('The broker has no queue for a job'));
      else confirmed();
    });
  }

  /** A message that has no queue comes back just before its confirmation: the queue was deleted. */
  #takeBack(channel: ConfirmChannel, message: Message): void {
    this.#returned.add(String(message.properties.messageId));
    this.#repairing ??= this.#repair(channel);
  }

  async #repair(channel: ConfirmChannel): Promise<void> {
    this.#logger.warn('queue_returned');
    try {
      await declareTopology(channel, this.#topology);
    } catch {
      this.#connection.restart(new Error('The queue could not be made again'));
    }
    this.#repairing = null;
  }
}

/** `all` resolves after `count` confirmations and rejects at the first failure. */
function confirmsOf(count: number): Confirms & { readonly all: Promise<void> } {
  let missing = count;
  let resolveAll: () => void = () => {};
  let failed: (error: Error) => void = () => {};
  const all = new Promise<void>((resolve, reject) => {
    resolveAll = resolve;
    failed = reject;
  });
  // A failure may come while nobody waits yet.
  all.catch(() => undefined);
  const confirmed = (): void => {
    missing -= 1;
    if (missing === 0) resolveAll();
  };
  return { all, confirmed, failed };
}
