import { deliveryHeaders } from '../../domain/webhooks/delivery-event.ts';
import {
  beginProbe,
  decidePost,
  type EndpointHealth,
  HEALTHY,
} from '../../domain/webhooks/endpoint-health.ts';
import { inboundHeaders } from '../../domain/webhooks/inbound-event.ts';
import type { PostResult } from '../../domain/webhooks/post-result.ts';
import type { Hmac } from '../../domain/webhooks/signer.ts';
import { isOpen, scheduled, type WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { BackgroundWork } from '../background-work.ts';
import type { LeasedJob, WebhookWork } from '../jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WebhookTransport } from '../ports/webhook-transport.ts';
import { type Laned, PostingLanes } from './posting-lanes.ts';
import { postJobOf } from './queue-webhooks.ts';
import type { RecordPosts } from './record-posts.ts';

interface DeliverPorts {
  readonly unitOfWork: UnitOfWork;
  readonly webhookTransport: WebhookTransport;
  readonly secretBox: SecretBox;
  readonly hmac: Hmac;
  readonly background: BackgroundWork;
  readonly clock: Clock;
  readonly recordPosts: RecordPosts;
}

type WebhookJob = LeasedJob<WebhookWork>;

/** An event in its lane, with the job it is held by. */
interface Attempt extends Laned {
  readonly job: WebhookJob;
  readonly event: WebhookEvent;
}

interface PutOff {
  readonly job: WebhookJob;
  readonly event: WebhookEvent;
  readonly until: number;
}

/** What is not posted now: events that have to wait, and jobs whose event needs none. */
interface Aside {
  readonly waits: readonly PutOff[];
  readonly obsolete: readonly WebhookJob[];
}

interface Plan {
  readonly posts: readonly Attempt[];
  readonly waits: readonly PutOff[];
  readonly probes: ReadonlyMap<string, EndpointHealth>;
}

/**
 * A lease has to last this much longer for a post to begin: longer than the transport may take, so that nobody
 * else posts the event meanwhile. An outcome that waits for a slow database until the lease has run out is void, and
 * the event is posted again.
 */
const LEASE_LEFT_MS = 22_000;

/**
 * Specification 6.1 and 6.2: posts events to customers. A job stays leased while its event waits and is posted,
 * and whatever ends or changes an event removes its job: an event whose job is held is as it was read.
 */
export class DeliverWebhooks {
  readonly #ports: DeliverPorts;
  readonly #lanes = new PostingLanes<Attempt>();
  #isBeginning = false;

  constructor(ports: DeliverPorts) {
    this.#ports = ports;
  }

  /** Resolves when every event waits for its turn or was put off; the posts go on in the background. */
  async execute(jobs: readonly WebhookJob[]): Promise<void> {
    const { unitOfWork } = this.#ports;
    const aside = await unitOfWork.read((stores) => this.#lineUp(stores, jobs));
    if (aside.waits.length + aside.obsolete.length > 0) {
      await unitOfWork.run((stores) => setAside(stores, aside));
    }
    this.#begin();
  }

  /** Lines events up, but for those whose endpoint rests or has too many in line. */
  async #lineUp(stores: Stores, jobs: readonly WebhookJob[]): Promise<Aside> {
    const now = this.#ports.clock.now();
    const found = await stores.webhookEvents.byIds(jobs.map(({ work }) => work.eventId));
    const events = new Map(found.map((event) => [event.id, event]));
    const health = await stores.webhookEndpoints.read([...new Set(found.map(({ endpoint }) => endpoint))]);
    const waits: PutOff[] = [];
    const obsolete: WebhookJob[] = [];
    for (const job of jobs) {
      const event = events.get(job.work.eventId);
      if (event === undefined || !isOpen(event)) {
        obsolete.push(job);
        continue;
      }
      const { endpoint, projectId } = event;
      const decision = decidePost(health.get(endpoint) ?? HEALTHY, now);
      if (decision.kind === 'wait') waits.push({ job, event, until: decision.until });
      else if (!this.#lanes.offer({ job, event, endpoint, projectId })) {
        waits.push({ job, event, until: this.#lanes.comesBackAt(projectId, now) });
      }
    }
    return { waits, obsolete };
  }

  /** Begins what fits, in batches, until nothing more does. Whoever makes room calls it again. */
  #begin(): void {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    this.#ports.background.start(1, async () => {
      try {
        for (;;) {
          // Whatever ends in this turn of the event loop makes room for one batch.
          await new Promise((resolve) => setImmediate(resolve));
          const taken = this.#lanes.take();
          if (taken.length === 0) return;
          await this.#beginAll(taken);
        }
      } finally {
        this.#isBeginning = false;
      }
    });
  }

  async #beginAll(taken: readonly Attempt[]): Promise<void> {
    const { unitOfWork, background, clock } = this.#ports;
    const ending = new Set(taken);
    try {
      let plan = await unitOfWork.read((stores) => this.#plan(stores, taken));
      if (plan.waits.length + plan.probes.size > 0) {
        plan = await unitOfWork.run(async (stores) => {
          const now = clock.now();
          if (plan.probes.size > 0) await stores.webhookEndpoints.lock([...plan.probes.keys()], now);
          const locked = await this.#plan(stores, taken);
          await setAside(stores, { waits: locked.waits, obsolete: [] });
          await stores.webhookEndpoints.save(locked.probes, now);
          return locked;
        });
      }
      for (const attempt of plan.posts) {
        ending.delete(attempt);
        background.start(1, () => this.#postAndRecord(attempt));
      }
    } finally {
      for (const attempt of ending) this.#lanes.end(attempt, clock.now());
    }
  }

  async #plan(stores: Stores, taken: readonly Attempt[]): Promise<Plan> {
    const now = this.#ports.clock.now();
    const health = await stores.webhookEndpoints.read([...new Set(taken.map(({ endpoint }) => endpoint))]);
    const held = new Set(
      await stores.jobs.held(
        taken.map(({ job }) => job),
        now + LEASE_LEFT_MS,
      ),
    );
    const probes = new Map<string, EndpointHealth>();
    const posts: Attempt[] = [];
    const waits: PutOff[] = [];
    for (const attempt of taken) {
      const { job, event, endpoint, projectId } = attempt;
      const state = probes.get(endpoint) ?? health.get(endpoint) ?? HEALTHY;
      const decision = decidePost(state, now);
      if (decision.kind === 'wait') {
        waits.push({ job, event, until: decision.until });
      } else if (!held.has(job)) {
        waits.push({ job, event, until: this.#lanes.comesBackAt(projectId, now) });
      } else {
        if (decision.kind === 'probe') probes.set(endpoint, beginProbe(state, now));
        posts.push(attempt);
      }
    }
    return { posts, waits, probes };
  }

  async #postAndRecord(attempt: Attempt): Promise<void> {
    const { clock } = this.#ports;
    const { job, event } = attempt;
    const startedAt = clock.now();
    const result = await this.#post(attempt, startedAt);
    try {
      await this.#ports.recordPosts.execute({ job, event, result, startedAt, endedAt: clock.now() });
    } finally {
      this.#lanes.recorded(attempt, clock.now());
      this.#begin();
    }
  }

  /** The lane is free with the answer: what waits to be recorded does not keep the connections idle. */
  async #post(attempt: Attempt, startedAt: number): Promise<PostResult> {
    const { webhookTransport, clock } = this.#ports;
    const { url, body } = attempt.event;
    try {
      const headers = this.#headers(attempt.event, startedAt);
      if (headers === null) return { kind: 'failed', reason: 'secret-unreadable' };
      return await webhookTransport.post({ url, headers, body });
    } finally {
      this.#lanes.answered(attempt, clock.now());
      this.#begin();
    }
  }

  #opened(sealed: string): string | null {
    try {
      return this.#ports.secretBox.open(sealed);
    } catch {
      return null;
    }
  }

  /** Null when the secret cannot be opened. */
  #headers(event: WebhookEvent, now: number): Readonly<Record<string, string>> | null {
    const { hmac } = this.#ports;
    const secret = event.secret === null ? null : this.#opened(event.secret);
    if (secret === null && event.secret !== null) return null;
    const { id: eventId, body } = event;
    return event.kind === 'inbound'
      ? inboundHeaders(hmac, { eventId, body, secret: secret ?? '' }, event.attempts + 1, now)
      : deliveryHeaders(hmac, { eventId, now, body, webhookSecret: secret, signingSecret: secret });
  }
}

/** Events that wait come back as another turn: none is dropped, and none is worn out by waiting. */
async function setAside(stores: Stores, { waits, obsolete }: Aside): Promise<void> {
  const held = new Set(await stores.jobs.complete([...waits.map(({ job }) => job), ...obsolete]));
  const later = waits.filter(({ job }) => held.has(job)).map(({ event, until }) => scheduled(event, until));
  await stores.webhookEvents.save(later);
  await stores.jobs.add(later.map(postJobOf));
}
