import { FairGate } from '../concurrency/fair-gate.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';

/** Requests about campaigns of one project that are worked on at a time; more wait. */
export const CAMPAIGN_REQUESTS_PER_PROJECT_MAX = 2;

/**
 * Those of all projects: less than the usual pool has connections, so that sends find one also while all of them work. Those
 * that pause because their project is locked do not count, and have no connection.
 */
export const CAMPAIGN_REQUESTS_MAX = 6;

/**
 * Lets a few requests about campaigns work at a time, round-robin over the projects: they read and write a thousand recipients,
 * and nobody's codes may wait for them. The others wait here, without a connection to the database.
 */
export class CampaignGate extends FairGate {
  constructor(options: { readonly clock: Clock; readonly lockRetryDelay: Delay }) {
    super({ perKey: CAMPAIGN_REQUESTS_PER_PROJECT_MAX, all: CAMPAIGN_REQUESTS_MAX }, options);
  }
}
