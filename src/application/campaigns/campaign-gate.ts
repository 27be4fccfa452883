import { FairGate } from '../concurrency/fair-gate.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';

/** Requests about campaigns of one project that are worked on at a time; more wait. */
export const CAMPAIGN_REQUESTS_PER_PROJECT_MAX = 1;

/**
 * Those of all projects: sends wait for the event loop behind what all of them compute. Those that pause because their project is
 * locked do not count, and have no connection.
 */
export const CAMPAIGN_REQUESTS_MAX = 2;

/**
 * Lets a few requests about campaigns work at a time, round-robin over the projects: they read and write a thousand recipients,
 * and nobody's codes may wait for them. The others wait here, without a connection to the database.
 */
export class CampaignGate extends FairGate {
  constructor(options: { readonly clock: Clock; readonly lockRetryDelay: Delay }) {
    super({ perKey: CAMPAIGN_REQUESTS_PER_PROJECT_MAX, all: CAMPAIGN_REQUESTS_MAX }, options);
  }
}
