import {
  beginProbe,
  decidePost,
  type EndpointHealth,
  HEALTHY,
  type PostDecision,
} from '../../domain/webhooks/endpoint-health.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import { LEASE_LEFT_MS } from '../jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { Look } from './posting-lanes.ts';

/** What a look into a lane found. */
export interface Finding {
  readonly look: Look;
  /** The instant of the look. */
  readonly at: number;
  /** Nothing may be begun at this instant or later: the lane's lease may be over. 0 when it is too short already. */
  readonly heldUntil: number;
  /** A `probe` is written down already, and for one lane of an endpoint only. */
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
      ({ heldUntil, decision, due }) => heldUntil > 0 && decision.kind === 'probe' && due.length > 0,
    );
    if (probes.length === 0) return findings;
    const decisions = await this.#beginProbes(probes);
    return findings.map((finding) => ({ ...finding, decision: decisions.get(finding) ?? finding.decision }));
  }

  async #read(stores: Stores, looks: readonly Look[]): Promise<readonly Finding[]> {
    const now = this.#ports.clock.now();
    const jobs = looks.map(({ lane }) => lane.job);
    const held = new Set(await stores.jobs.held(jobs, now + LEASE_LEFT_MS));
    const endpoints = [...new Set(jobs.map(({ work }) => work.endpoint))];
    const health = await stores.webhookEndpoints.read(endpoints);
    const due = await stores.webhookEvents.due(
      looks.map(({ lane, limit }) => ({ ...lane.job.work, now, after: lane.seen, limit })),
    );
    return looks.map((look, index) => ({
      look,
      at: now,
      heldUntil: held.has(look.lane.job) ? now + LEASE_LEFT_MS : 0,
      decision: decidePost(health.get(look.lane.job.work.endpoint) ?? HEALTHY, now),
      due: due[index] ?? [],
    }));
  }

  /** Decides again with the endpoints locked: one of all who want to probe one does. */
  #beginProbes(findings: readonly Finding[]): Promise<ReadonlyMap<Finding, PostDecision>> {
    const { unitOfWork, clock } = this.#ports;
    return unitOfWork.run(async (stores) => {
      const now = clock.now();
      const endpoints = [...new Set(findings.map(({ look }) => look.lane.job.work.endpoint))];
      const health = await stores.webhookEndpoints.lock(endpoints, now);
      const probing = new Map<string, EndpointHealth>();
      const decisions = new Map<Finding, PostDecision>();
      for (const finding of findings) {
        const { endpoint } = finding.look.lane.job.work;
        const state = probing.get(endpoint) ?? health.get(endpoint) ?? HEALTHY;
        const decision = decidePost(state, now);
        decisions.set(finding, decision);
        if (decision.kind === 'probe') probing.set(endpoint, beginProbe(state, now));
      }
      await stores.webhookEndpoints.save(probing, now);
      return decisions;
    });
  }
}
