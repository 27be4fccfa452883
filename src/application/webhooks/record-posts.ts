import { errorOf, isAboutEndpoint, isSuccess } from '../../domain/webhooks/attempt-result.ts';
import {
  beganToRest,
  countsForHealth,
  HEALTHY,
  hostOf,
  recordPost,
} from '../../domain/webhooks/circuit-breaker.ts';
import {
  afterAttempt,
  type FinishedAttempt,
  promoteNext,
  type WebhookEvent,
} from '../../domain/webhooks/webhook-event.ts';
import { Batcher } from '../batcher.ts';
import type { LeasedJob } from '../jobs/job.ts';
import { destinationKey, type WebhookWork } from '../jobs/webhook-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

interface RecordPorts {
  readonly unitOfWork: UnitOfWork;
  /** Posts that end during it are recorded together: a transaction for each would cost more than the posts. */
  readonly recordBatchWindow: Delay;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** Something an operator is told of once it is committed. */
interface Notice {
  readonly event: 'webhook_discarded' | 'webhook_circuit_opened';
  readonly fields: LogFields;
}

/** A post that came to an end, begun under a job. Instants are milliseconds since 1970. */
export interface FinishedDelivery extends Omit<FinishedAttempt, 'jitter'> {
  readonly job: LeasedJob<WebhookWork>;
  readonly event: WebhookEvent;
}

/**
 * Records what came of posts. A crash before that means that the event is posted again; the outcome of a lease that is
 * not the newest changes nothing, nor does that of an event that changed meanwhile.
 */
export class RecordPosts {
  readonly #ports: RecordPorts;
  readonly #batcher: Batcher<FinishedDelivery, null>;

  constructor(ports: RecordPorts) {
    this.#ports = ports;
    this.#batcher = new Batcher((ended) => this.#recordAll(ended), {
      clock: ports.clock,
      pause: ports.recordBatchWindow,
    });
  }

  /** Resolves when the outcome is committed. */
  execute(ended: FinishedDelivery): Promise<unknown> {
    return this.#batcher.submit(ended);
  }

  async #recordAll(ended: readonly FinishedDelivery[]): Promise<readonly null[]> {
    const { unitOfWork, logger } = this.#ports;
    // Undone by a dying machine, an outcome means that the event is posted again, as specification 6.1 allows.
    const notices = await unitOfWork.run((stores) => this.#record(stores, ended), 'eventual');
    for (const { event, fields } of notices) logger.warn(event, fields);
    return ended.map(() => null);
  }

  async #record(stores: Stores, ended: readonly FinishedDelivery[]): Promise<readonly Notice[]> {
    const jobs = [...new Set(ended.map(({ job }) => job))];
    const held = new Set(await stores.jobs.stillLeased(jobs));
    const mine = ended.filter(({ job }) => held.has(job));
    const tried = mine.map(({ event, result, startedAt, endedAt }) =>
      afterAttempt(event, { result, startedAt, endedAt, jitter: this.#ports.ids.fraction() }),
    );
    // Saving locks the events: what others add behind them is there from here on, or finds them changed.
    const saved = await stores.webhookEvents.save(tried);
    const lines = byOrderingKey(
      await stores.webhookEvents.lockOpen(saved.map(({ orderingKey }) => orderingKey)),
    );
    const moved = saved.flatMap((event) =>
      promoteNext(event, lines.get(event.orderingKey) ?? [], this.#ports.clock.now()),
    );
    await stores.webhookEvents.save(moved);
    const recorded = new Set(saved.map(({ id }) => id));
    const resting = await this.#recordHealth(
      stores,
      mine.filter(({ event }) => recorded.has(event.id)),
    );
    return [...saved.filter(({ state }) => state === 'discarded').map(noticeOfDiscard), ...resting];
  }

  async #recordHealth(stores: Stores, ended: readonly FinishedDelivery[]): Promise<readonly Notice[]> {
    const posts = ended.filter(({ result }) => isAboutEndpoint(result));
    if (posts.length === 0) return [];
    const lanes = new Map(
      [...new Set(posts.map(({ job }) => job))].map((job) => [job, destinationKey(job.work)]),
    );
    const now = this.#ports.clock.now();
    const health = new Map(await stores.circuitBreakers.lock([...new Set(lanes.values())], now));
    const resting: Notice[] = [];
    for (const post of posts) {
      const lane = lanes.get(post.job) as string;
      const before = health.get(lane) ?? HEALTHY;
      if (!countsForHealth(before, post.event.kind)) continue;
      const after = recordPost(before, isSuccess(post.result), post.endedAt);
      health.set(lane, after);
      const until = beganToRest(before, after);
      if (until !== null) resting.push(noticeOfRest(post, until));
    }
    await stores.circuitBreakers.save(health, now);
    return resting;
  }
}

function noticeOfDiscard({ id, projectId, endpoint, attempts, lastError }: WebhookEvent): Notice {
  const fields = { eventId: id, projectId, host: hostOf(endpoint), attempts, lastError };
  return { event: 'webhook_discarded', fields };
}

function noticeOfRest({ event: { projectId, endpoint }, result }: FinishedDelivery, until: number): Notice {
  const fields = {
    projectId,
    host: hostOf(endpoint),
    lastError: errorOf(result),
    until: new Date(until).toISOString(),
  };
  return { event: 'webhook_circuit_opened', fields };
}

function byOrderingKey(events: readonly WebhookEvent[]): ReadonlyMap<string, readonly WebhookEvent[]> {
  const lines = new Map<string, WebhookEvent[]>();
  for (const event of events) {
    const line = lines.get(event.orderingKey);
    if (line === undefined) lines.set(event.orderingKey, [event]);
    else line.push(event);
  }
  return lines;
}
