import {
  deliveryHeaders,
  isSuccess,
  type PostResult,
  wasPosted,
} from '../../domain/webhooks/delivery-event.ts';
import {
  beginProbe,
  decide,
  type EndpointHealth,
  HEALTHY,
  record,
} from '../../domain/webhooks/endpoint-health.ts';
import { inboundHeaders } from '../../domain/webhooks/inbound-event.ts';
import type { Hmac } from '../../domain/webhooks/signer.ts';
import { afterAttempt, isOpen, scheduled, type WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { BackgroundWork } from '../background-work.ts';
import { Batcher } from '../batcher.ts';
import { type Job, type LeasedJob, postWebhookJob, type WebhookWork } from '../jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WebhookTransport } from '../ports/webhook-transport.ts';
import type { WorkSignal } from '../ports/work-signal.ts';
import { moveLine } from './queue-webhooks.ts';

interface DeliverPorts {
  readonly unitOfWork: UnitOfWork;
  readonly webhookTransport: WebhookTransport;
  readonly secretBox: SecretBox;
  readonly hmac: Hmac;
  readonly background: BackgroundWork;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly workSignal: WorkSignal;
}

type WebhookJob = LeasedJob<WebhookWork>;

interface Attempt {
  readonly job: WebhookJob;
  readonly event: WebhookEvent;
}

interface EndedPost extends Attempt {
  readonly result: PostResult;
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * A lease has to last this much longer for a post to begin: longer than the transport may take, so that nobody
 * else posts the event meanwhile.
 */
const LEASE_LEFT_MS = 22_000;

/** Posts to one endpoint that may be under way in one process; the rest waits where it is. */
const POSTS_PER_ENDPOINT_MAX = 100;
const ENDPOINT_FULL_WAIT_MS = 1_000;

/** What is posted and not answered, and the events that have to wait, by endpoint. */
interface Plan {
  readonly posts: readonly Attempt[];
  readonly waits: readonly { readonly attempt: Attempt; readonly until: number }[];
  readonly probes: ReadonlyMap<string, EndpointHealth>;
  readonly obsolete: readonly WebhookJob[];
}

/**
 * Specification 6.1 and 6.2: posts events to customers. A job stays leased while its event is posted and is
 * completed in the transaction that records the outcome: a crash in between means that the event is posted again.
 */
export class DeliverWebhooks {
  readonly #ports: DeliverPorts;
  readonly #outcomes: Batcher<EndedPost, null>;
  readonly #underWay = new Map<string, number>();

  constructor(ports: DeliverPorts) {
    this.#ports = ports;
    this.#outcomes = new Batcher((ended) => this.#recordAll(ended));
  }

  /** Resolves when every post has begun or was put off; the posts themselves go on in the background. */
  async execute(jobs: readonly WebhookJob[]): Promise<void> {
    const { unitOfWork, background } = this.#ports;
    let plan = await unitOfWork.read((stores) => this.#plan(stores, jobs));
    if (plan.waits.length + plan.probes.size + plan.obsolete.length > 0) {
      const probed = [...plan.probes.keys()];
      plan = await unitOfWork.run(async (stores) => {
        if (probed.length > 0) await stores.webhookEndpoints.lock(probed);
        const locked = await this.#plan(stores, jobs);
        await this.#putOff(stores, locked);
        return locked;
      });
    }
    for (const attempt of plan.posts) {
      this.#count(attempt.event.endpoint, 1);
      background.start(1, () => this.#post(attempt));
    }
    await background.room();
  }

  async #plan(stores: Stores, jobs: readonly WebhookJob[]): Promise<Plan> {
    const now = this.#ports.clock.now();
    const held = (await stores.jobs.held(jobs, now + LEASE_LEFT_MS)) as readonly WebhookJob[];
    const events = new Map(
      (await stores.webhookEvents.byIds(held.map(({ work }) => work.eventId))).map((event) => [
        event.id,
        event,
      ]),
    );
    const known = await stores.webhookEndpoints.read([
      ...new Set([...events.values()].map(({ endpoint }) => endpoint)),
    ]);
    const health = new Map(known);
    const probes = new Map<string, EndpointHealth>();
    const planned = new Map<string, number>();
    const posts: Attempt[] = [];
    const waits: { attempt: Attempt; until: number }[] = [];
    const obsolete: WebhookJob[] = [];
    for (const job of held) {
      const event = events.get(job.work.eventId);
      if (event === undefined || !isOpen(event)) {
        obsolete.push(job);
        continue;
      }
      const { endpoint } = event;
      const state = health.get(endpoint) ?? HEALTHY;
      const decision = decide(state, now);
      const before = (this.#underWay.get(endpoint) ?? 0) + (planned.get(endpoint) ?? 0);
      if (decision.kind === 'wait') {
        waits.push({ attempt: { job, event }, until: decision.until });
        continue;
      }
      if (decision.kind === 'post' && before >= POSTS_PER_ENDPOINT_MAX) {
        waits.push({ attempt: { job, event }, until: now + ENDPOINT_FULL_WAIT_MS });
        continue;
      }
      if (decision.kind === 'probe') {
        const probing = beginProbe(state, now);
        health.set(endpoint, probing);
        probes.set(endpoint, probing);
      }
      planned.set(endpoint, (planned.get(endpoint) ?? 0) + 1);
      posts.push({ job, event });
    }
    return { posts, waits, probes, obsolete };
  }

  /** Events that wait come back when their endpoint may be used again: none is dropped. */
  async #putOff(stores: Stores, { waits, probes, obsolete }: Plan): Promise<void> {
    const held = await stores.jobs.complete([...waits.map(({ attempt }) => attempt.job), ...obsolete]);
    const heldIds = new Set(held.map(({ id }) => id));
    const later = waits
      .filter(({ attempt }) => heldIds.has(attempt.job.id))
      .map(({ attempt, until }) => scheduled(attempt.event, until));
    await stores.webhookEvents.save(later);
    await stores.jobs.add(later.map(jobOf));
    await stores.webhookEndpoints.save(probes);
  }

  async #post(attempt: Attempt): Promise<void> {
    const { webhookTransport, clock } = this.#ports;
    const { event } = attempt;
    const startedAt = clock.now();
    try {
      const result = await webhookTransport.post({
        url: event.url,
        headers: this.#headers(event, startedAt),
        body: event.body,
      });
      await this.#outcomes.submit({ ...attempt, result, startedAt, endedAt: clock.now() });
    } finally {
      this.#count(event.endpoint, -1);
    }
  }

  #headers(event: WebhookEvent, now: number): Readonly<Record<string, string>> {
    const { hmac, secretBox } = this.#ports;
    const secret = event.secret === null ? null : secretBox.open(event.secret);
    const { id: eventId, body } = event;
    return event.kind === 'inbound'
      ? inboundHeaders(hmac, { eventId, body, secret: secret ?? '' }, event.attempts + 1, now)
      : deliveryHeaders(hmac, { eventId, now, body, webhookSecret: secret, signingSecret: secret });
  }

  async #recordAll(ended: readonly EndedPost[]): Promise<readonly null[]> {
    const { unitOfWork, workSignal } = this.#ports;
    await unitOfWork.run((stores) => this.#record(stores, ended));
    workSignal.wake();
    return ended.map(() => null);
  }

  async #record(stores: Stores, ended: readonly EndedPost[]): Promise<void> {
    const completed = new Set((await stores.jobs.complete(ended.map(({ job }) => job))).map(({ id }) => id));
    const mine = ended.filter(({ job }) => completed.has(job.id));
    const line = await stores.webhookEvents.lockOpen([...new Set(mine.map(({ event }) => event.subject))]);
    const current = new Map(line.map((event) => [event.id, event]));
    const saved: WebhookEvent[] = [];
    const jobs: Job[] = [];
    for (const { event, ...attempt } of mine) {
      const open = current.get(event.id);
      if (open === undefined) continue;
      const tried = afterAttempt(open, { ...attempt, jitter: this.#ports.ids.fraction() });
      const waiting = line.filter(({ subject }) => subject === open.subject);
      const { head, next } = moveLine(tried, waiting, attempt.endedAt);
      saved.push(head);
      if (isOpen(head)) jobs.push(jobOf(head));
      if (next === null) continue;
      saved.push(next);
      jobs.push(jobOf(next));
    }
    await stores.webhookEvents.save(saved);
    await stores.jobs.add(jobs);
    await this.#recordHealth(stores, ended);
  }

  async #recordHealth(stores: Stores, ended: readonly EndedPost[]): Promise<void> {
    const posted = ended.filter(({ result }) => wasPosted(result));
    if (posted.length === 0) return;
    const endpoints = [...new Set(posted.map(({ event }) => event.endpoint))];
    const health = new Map(await stores.webhookEndpoints.lock(endpoints));
    for (const { event, result, endedAt } of posted) {
      const succeeded = result.kind === 'answered' && isSuccess(result.status);
      health.set(event.endpoint, record(health.get(event.endpoint) ?? HEALTHY, succeeded, endedAt));
    }
    await stores.webhookEndpoints.save(health);
  }

  #count(endpoint: string, change: number): void {
    const count = (this.#underWay.get(endpoint) ?? 0) + change;
    if (count === 0) this.#underWay.delete(endpoint);
    else this.#underWay.set(endpoint, count);
  }
}

function jobOf(event: WebhookEvent): Job {
  return postWebhookJob(event.id, event.turn, event.nextAttemptAt ?? event.createdAt);
}
