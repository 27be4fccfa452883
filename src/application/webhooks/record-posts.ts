import { HEALTHY, recordPost } from '../../domain/webhooks/endpoint-health.ts';
import { isAboutEndpoint, isSuccess, type PostResult } from '../../domain/webhooks/post-result.ts';
import { afterAttempt, isOpen, type WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { Batcher } from '../batcher.ts';
import type { Job, LeasedJob, WebhookWork } from '../jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Pause } from '../ports/pause.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WorkSignal } from '../ports/work-signal.ts';
import { moveLine, postJobOf } from './queue-webhooks.ts';

interface RecordPorts {
  readonly unitOfWork: UnitOfWork;
  /** Posts that end during it are recorded together: a transaction for each would cost more than the posts. */
  readonly recordingPause: Pause;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly workSignal: WorkSignal;
}

/** A post that came to an end. Instants are milliseconds since 1970. */
export interface EndedPost {
  readonly job: LeasedJob<WebhookWork>;
  readonly event: WebhookEvent;
  readonly result: PostResult;
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * Records what came of posts: the job is completed in the transaction that records the outcome, so a crash in
 * between means that the event is posted again, and the outcome of a lease that ran out changes nothing.
 */
export class RecordPosts {
  readonly #ports: RecordPorts;
  readonly #batcher: Batcher<EndedPost, null>;

  constructor(ports: RecordPorts) {
    this.#ports = ports;
    this.#batcher = new Batcher((ended) => this.#recordAll(ended), {
      clock: ports.clock,
      pause: ports.recordingPause,
    });
  }

  /** Resolves when the outcome is committed. */
  async execute(ended: EndedPost): Promise<void> {
    await this.#batcher.submit(ended);
  }

  async #recordAll(ended: readonly EndedPost[]): Promise<readonly null[]> {
    const { unitOfWork, workSignal } = this.#ports;
    // Undone by a dying machine, an outcome means that the event is posted again, as specification 6.1 allows.
    await unitOfWork.run((stores) => this.#record(stores, ended), 'eventual');
    workSignal.wake();
    return ended.map(() => null);
  }

  async #record(stores: Stores, ended: readonly EndedPost[]): Promise<void> {
    const mine = new Set(await stores.jobs.complete(ended.map(({ job }) => job)));
    const tried = new Map<string, WebhookEvent>();
    for (const { job, event, ...attempt } of ended) {
      if (!mine.has(job)) continue;
      tried.set(event.subject, afterAttempt(event, { ...attempt, jitter: this.#ports.ids.fraction() }));
    }
    // Saving locks the events: what others add behind them is there from here on, or finds them changed.
    await stores.webhookEvents.save([...tried.values()]);
    const lines = bySubject(await stores.webhookEvents.lockOpen([...tried.keys()]));
    const moved: WebhookEvent[] = [];
    const jobs: Job[] = [];
    for (const [subject, event] of tried) {
      const { head, next } = moveLine(event, lines.get(subject) ?? [], this.#ports.clock.now());
      if (isOpen(head)) jobs.push(postJobOf(head));
      if (next === null) continue;
      moved.push(head, next);
      jobs.push(postJobOf(next));
    }
    await stores.webhookEvents.save(moved);
    await stores.jobs.add(jobs);
    await this.#recordHealth(
      stores,
      ended.filter(({ job }) => mine.has(job)),
    );
  }

  async #recordHealth(stores: Stores, ended: readonly EndedPost[]): Promise<void> {
    const posted = ended.filter(({ result }) => isAboutEndpoint(result));
    if (posted.length === 0) return;
    const now = this.#ports.clock.now();
    const endpoints = [...new Set(posted.map(({ event }) => event.endpoint))];
    const health = new Map(await stores.webhookEndpoints.lock(endpoints, now));
    for (const { event, result, endedAt } of posted) {
      const succeeded = result.kind === 'answered' && isSuccess(result.status);
      health.set(event.endpoint, recordPost(health.get(event.endpoint) ?? HEALTHY, succeeded, endedAt));
    }
    await stores.webhookEndpoints.save(health, now);
  }
}

function bySubject(events: readonly WebhookEvent[]): ReadonlyMap<string, readonly WebhookEvent[]> {
  const lines = new Map<string, WebhookEvent[]>();
  for (const event of events) {
    const line = lines.get(event.subject);
    if (line === undefined) lines.set(event.subject, [event]);
    else line.push(event);
  }
  return lines;
}
