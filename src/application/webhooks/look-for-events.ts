import { beginProbe, decidePost, HEALTHY, type PostDecision } from '../../domain/webhooks/circuit-breaker.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { LEASE_LEFT_MS } from '../jobs/job.ts';
import { destinationKey } from '../jobs/webhook-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { Look } from './posting-lanes.ts';

/** What a look into a lane found. */
export interface Finding {
  readonly look: Look;
  /** The instant of the look. */
  readonly at: number;
  /** Nothing may be begun at this instant or later: the lane's lease may be over. Null when it is too short already. */
  readonly beginBefore: number | null;
  /** A `probe` is written down already. */
  readonly decision: PostDecision;
  /** The longest due first. */
  readonly due: readonly WebhookEvent[];
}

/** Reads what is due in many lanes at once, and whether their endpoints may be posted to (specification 6.1). */
export class LookForEvents {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock };

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#ports = ports;
  }

  /** In the order of the looks. */
  async execute(looks: readonly Look[]): Promise<readonly Finding[]> {
    const findings = await this.#ports.unitOfWork.read((stores) => this.#read(stores, looks));
    const probes = findings.filter(
      ({ beginBefore, decision, due }) => beginBefore !== null && decision.kind === 'probe' && due.length > 0,
    );
    await this.#beginProbes(probes);
    return findings;
  }

  async #read(stores: Stores, looks: readonly Look[]): Promise<readonly Finding[]> {
    const now = this.#ports.clock.now();
    const jobs = looks.map(({ lane }) => lane.job);
    const held = new Set(await stores.jobs.stillLeased(jobs, now + LEASE_LEFT_MS));
    const health = await stores.circuitBreakers.read(jobs.map(({ work }) => destinationKey(work)));
    const due = await stores.webhookEvents.due(
      looks.map(({ lane, limit }) => ({ ...lane.job.work, now, after: lane.seen, limit })),
    );
    return looks.map((look, index) => ({
      look,
      at: now,
      beginBefore: held.has(look.lane.job) ? now + LEASE_LEFT_MS : null,
      decision: decidePost(health.get(destinationKey(look.lane.job.work)) ?? HEALTHY, now),
      due: due[index] ?? [],
    }));
  }

  /** Nobody else posts to these: their jobs are leased. */
  async #beginProbes(findings: readonly Finding[]): Promise<void> {
    if (findings.length === 0) return;
    const lanes = findings.map(({ look }) => destinationKey(look.lane.job.work));
    await this.#ports.unitOfWork.run(async (stores) => {
      const now = this.#ports.clock.now();
      const health = await stores.circuitBreakers.lock(lanes, now);
      // A late success may have been recorded meanwhile.
      const probing = [...health]
        .filter(([, state]) => decidePost(state, now).kind === 'probe')
        .map(([lane, state]) => [lane, beginProbe(state, now)] as const);
      await stores.circuitBreakers.save(new Map(probing), now);
    });
  }
}
