import {
  beginProbe,
  decidePost,
  type EndpointHealth,
  HEALTHY,
  type PostDecision,
} from '../../domain/webhooks/endpoint-health.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook-event.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { Turn } from './posting-lanes.ts';

/** What a lane may do now. */
export interface Look {
  readonly turn: Turn;
  /** Whether its lease lasts long enough for a post to begin; without that nothing else counts. */
  readonly isHeld: boolean;
  /** A `probe` is written down already, and for one lane of an endpoint only. */
  readonly decision: PostDecision;
  /** The longest due first. */
  readonly due: readonly WebhookEvent[];
}

/** A lease has to last this much longer for a post to begin, so that it is renewed before it runs out. */
const LEASE_LEFT_MS = 6_000;

/** Reads what is due in many lanes at once, and whether their endpoints may be posted to (specification 6.1). */
export class LookForEvents {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock };

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#ports = ports;
  }

  /** In the order of the turns. */
  async execute(turns: readonly Turn[]): Promise<readonly Look[]> {
    const looks = await this.#ports.unitOfWork.read((stores) => this.#look(stores, turns));
    const probes = looks.filter(
      ({ isHeld, decision, due }) => isHeld && decision.kind === 'probe' && due.length > 0,
    );
    if (probes.length === 0) return looks;
    const decisions = await this.#beginProbes(probes);
    return looks.map((look) => ({ ...look, decision: decisions.get(look) ?? look.decision }));
  }

  async #look(stores: Stores, turns: readonly Turn[]): Promise<readonly Look[]> {
    const now = this.#ports.clock.now();
    const jobs = turns.map(({ lane }) => lane.job);
    const held = new Set(await stores.jobs.held(jobs, now + LEASE_LEFT_MS));
    const health = await stores.webhookEndpoints.read([...new Set(turns.map(endpointOf))]);
    const due = await stores.webhookEvents.due(
      turns.map(({ lane, limit }) => ({ ...lane.job.work, now, after: lane.seen, limit })),
    );
    return turns.map((turn, index) => ({
      turn,
      isHeld: held.has(turn.lane.job),
      decision: decidePost(health.get(endpointOf(turn)) ?? HEALTHY, now),
      due: due[index] ?? [],
    }));
  }

  /** Decides again with the endpoints locked: one of all who want to probe one does. */
  #beginProbes(looks: readonly Look[]): Promise<ReadonlyMap<Look, PostDecision>> {
    const { unitOfWork, clock } = this.#ports;
    return unitOfWork.run(async (stores) => {
      const now = clock.now();
      const endpoints = [...new Set(looks.map(({ turn }) => endpointOf(turn)))];
      const health = new Map(await stores.webhookEndpoints.lock(endpoints, now));
      const probing = new Map<string, EndpointHealth>();
      const decisions = new Map<Look, PostDecision>();
      for (const look of looks) {
        const endpoint = endpointOf(look.turn);
        const state = probing.get(endpoint) ?? health.get(endpoint) ?? HEALTHY;
        const decision = decidePost(state, now);
        decisions.set(look, decision);
        if (decision.kind === 'probe') probing.set(endpoint, beginProbe(state, now));
      }
      await stores.webhookEndpoints.save(probing, now);
      return decisions;
    });
  }
}

function endpointOf({ lane }: Turn): string {
  return lane.job.work.endpoint;
}
