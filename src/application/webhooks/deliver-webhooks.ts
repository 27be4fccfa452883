import type { AttemptResult } from '../../domain/webhooks/attempt-result.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { BackgroundWork } from '../background-work.ts';
import { type Job, LEASE_MS, type LeasedJob, RENEW_EVERY_MS } from '../jobs/job.ts';
import type { WebhookWork } from '../jobs/webhook-jobs.ts';
import { onNextTurn } from '../next-turn.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';
import type { Logger } from '../ports/logger.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import type { Lane } from './lane.ts';
import type { Finding, LookForEvents } from './look-for-events.ts';
import type { PostEvent } from './post-event.ts';
import { type Look, PostingLanes } from './posting-lanes.ts';
import type { RecordPosts } from './record-posts.ts';

interface DeliverPorts {
  readonly unitOfWork: UnitOfWork;
  readonly lookForEvents: LookForEvents;
  readonly postEvent: PostEvent;
  readonly recordPosts: RecordPosts;
  readonly background: BackgroundWork;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly wakeSignal: WakeSignal;
  /** While posts are on their way, their endpoints are looked at for more at least this often. */
  readonly fetchInterval: Delay;
}

/** A job to give back. It is due again when its next event is, but not before this instant. */
interface Release {
  readonly job: LeasedJob<WebhookWork>;
  readonly notBefore: number;
}

/** A job for which no lane is free is due again after this. */
const NO_LANE_FREE_MS = 2_000;

/**
 * Specification 6.1 and 6.2: posts events to customers. The job of an endpoint stays leased while its events are
 * posted, and is given back when nothing more is due; that and the search for what is due next are one transaction.
 * What cannot be recorded or given back stays leased, and comes again when the lease runs out.
 */
export class DeliverWebhooks {
  readonly #ports: DeliverPorts;
  readonly #lanes = new PostingLanes();
  #isRunning = false;
  #isStopping = false;
  #isPausing = false;
  #isFailing = false;
  #renewAt = 0;
  /** While nothing may be begun: lets the loop look again. */
  #goOn: (() => void) | null = null;

  constructor(ports: DeliverPorts) {
    this.#ports = ports;
  }

  /** Resolves when every job is in hand or given back; the posts go on in the background. Never rejects. */
  async execute(jobs: readonly LeasedJob<WebhookWork>[]): Promise<void> {
    const { background, clock } = this.#ports;
    const beyond = jobs.filter((job) => this.#isStopping || !this.#lanes.open(job));
    if (!this.#lanes.isEmpty && !this.#isRunning) {
      this.#isRunning = true;
      this.#renewAt = clock.now() + RENEW_EVERY_MS;
      background.start(() => this.#run());
    }
    this.#wake();
    const notBefore = clock.now() + (this.#isStopping ? 0 : NO_LANE_FREE_MS);
    await this.#release(beyond.map((job) => ({ job, notBefore })));
  }

  /** From here on nothing is begun; every job is given back once its posts are over. */
  stop(): void {
    this.#isStopping = true;
    this.#lanes.lookEverywhere();
    this.#wake();
  }

  async #run(): Promise<void> {
    try {
      while (!this.#lanes.isEmpty) {
        // Whatever ends in this turn of the event loop makes room for one look.
        await new Promise<void>((resolve) => onNextTurn(resolve));
        await this.#renewInTime();
        const looks = this.#lanes.take();
        if (looks.length > 0) await this.#serve(looks);
        else if (!this.#lanes.isEmpty) await this.#change();
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Resolves when something may be begun that could not be before. */
  #change(): Promise<void> {
    if (!this.#isPausing) {
      this.#isPausing = true;
      this.#ports.fetchInterval(() => {
        this.#isPausing = false;
        this.#lanes.lookEverywhere();
        this.#wake();
      });
    }
    return new Promise((resolve) => {
      this.#goOn = resolve;
    });
  }

  /** Called for every post: a promise that is resolved again costs much more than one that is not. */
  #wake(): void {
    const goOn = this.#goOn;
    if (goOn === null) return;
    this.#goOn = null;
    goOn();
  }

  async #serve(looks: readonly Look[]): Promise<void> {
    const left = new Set(looks);
    try {
      const findings = await this.#ports.lookForEvents.execute(looks);
      const releases: Release[] = [];
      for (const finding of findings) {
        const { beginBefore } = finding;
        if (beginBefore === null || beginBefore <= this.#ports.clock.now()) continue;
        this.#begin(finding);
        left.delete(finding.look);
        const { lane } = finding.look;
        if (!this.#lanes.isIdle(lane)) continue;
        this.#lanes.close(lane);
        const { decision } = finding;
        releases.push({ job: lane.job, notBefore: decision.kind === 'wait' ? decision.until : 0 });
      }
      await this.#release(releases);
      await this.#renew([...left].map(({ lane }) => lane));
      for (const { lane } of left) if (!lane.isLost) this.#lanes.want(lane);
      this.#isFailing = false;
    } catch (error) {
      // Once per outage: they look again many times a second.
      if (!this.#isFailing) this.#ports.logger.error('webhook_fetch_failed', error);
      this.#isFailing = true;
      if (this.#isStopping) for (const { lane } of left) this.#lanes.lose(lane);
    }
    for (const look of left) this.#lanes.skip(look);
  }

  #begin({ look, decision, due, at }: Finding): void {
    const { lane } = look;
    if (this.#isStopping || lane.isLost || decision.kind === 'wait') {
      this.#lanes.skip(look);
      return;
    }
    const found = decision.kind === 'probe' ? due.slice(0, 1) : due;
    const begun = this.#lanes.begin(look, found, at);
    for (const event of begun) void this.#postAndRecord(lane, event);
  }

  /** Now and then everything is looked at again as well. */
  async #renewInTime(): Promise<void> {
    const { clock, logger } = this.#ports;
    const now = clock.now();
    // A clock that was put back must not keep leases from being renewed.
    if (now < this.#renewAt && now >= this.#renewAt - RENEW_EVERY_MS) return;
    this.#renewAt = now + RENEW_EVERY_MS;
    this.#lanes.lookAtEverything();
    try {
      await this.#renew(this.#lanes.held());
    } catch (error) {
      logger.error('webhook_renewal_failed', error);
    }
  }

  /** Makes the leases of the lanes longer; a lane whose job somebody else has by now is lost. */
  async #renew(lanes: readonly Lane[]): Promise<void> {
    if (lanes.length === 0) return;
    const { unitOfWork, clock } = this.#ports;
    const jobs = lanes.map(({ job }) => job);
    const until = clock.now() + LEASE_MS;
    const renewed = new Set(await unitOfWork.run((stores) => stores.jobs.renew(jobs, until), 'eventual'));
    for (const [index, lane] of lanes.entries()) {
      const job = jobs[index];
      // A newer lease may have come meanwhile.
      if (job !== undefined && lane.job === job && !renewed.has(job)) this.#lanes.lose(lane);
    }
  }

  /** Never rejects. Whoever adds events locks their job too: what is not found here brings it forward after this. */
  async #release(releases: readonly Release[]): Promise<void> {
    if (releases.length === 0) return;
    const { unitOfWork, clock, logger, wakeSignal } = this.#ports;
    const notBefore = new Map(releases.map((release) => [release.job.id, release.notBefore]));
    try {
      const again = await unitOfWork.run(async (stores) => {
        const held = await stores.jobs.lockLeased(releases.map(({ job }) => job));
        const next = await stores.webhookEvents.nextDueAt(held.map(({ work }) => work));
        const due = held.flatMap(({ id, work }, index): Job[] => {
          const dueAt = next[index] ?? null;
          return dueAt === null ? [] : [{ id, work, dueAt: Math.max(dueAt, notBefore.get(id) ?? 0) }];
        });
        await stores.jobs.complete(held.filter((_, index) => (next[index] ?? null) === null));
        await stores.jobs.add(due);
        return due;
      }, 'eventual');
      if (again.some(({ dueAt }) => dueAt <= clock.now())) wakeSignal.wake();
    } catch (error) {
      logger.error('webhook_release_failed', error);
    }
  }

  async #postAndRecord(lane: Lane, event: WebhookEvent): Promise<void> {
    const { postEvent, recordPosts, clock, logger } = this.#ports;
    try {
      const startedAt = clock.now();
      let result: AttemptResult | null = null;
      let endedAt: number;
      try {
        result = await postEvent.execute(event, startedAt);
      } finally {
        endedAt = clock.now();
        this.#lanes.over(lane, endedAt, result?.kind === 'answered');
        this.#wake();
      }
      await recordPosts.execute({ job: lane.job, event, result, startedAt, endedAt });
    } catch (error) {
      // Once for each endpoint: a whole batch fails alike.
      if (!lane.isLost) logger.error('webhook_record_failed', error, { eventId: event.id });
      // Posted again at once it might be posted for ever.
      this.#lanes.lose(lane);
    }
    this.#lanes.recorded(lane, event.id);
    this.#wake();
  }
}
