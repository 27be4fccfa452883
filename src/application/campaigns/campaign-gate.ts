import { EventLoopShare } from '../concurrency/event-loop-share.ts';
import { FairGate } from '../concurrency/fair-gate.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventLoop } from '../ports/event-loop.ts';
import type { Timeout } from '../ports/timeout.ts';

/** Requests about campaigns of one project that are worked on at a time; more wait. */
export const CAMPAIGN_REQUESTS_PER_PROJECT_MAX = 1;

/**
 * Those of all projects: sends wait for the event loop behind what all of them compute. Those that pause because their project is
 * locked do not count, and have no connection.
 */
export const CAMPAIGN_REQUESTS_MAX = 2;

interface GatePorts {
  readonly clock: Clock;
  /** The wait between two tries of work that met a lock. */
  readonly lockRetryDelay: Timeout;
  readonly eventLoop: EventLoop;
}

/**
 * Lets a few requests about campaigns work at a time, round-robin over the projects: they read and write a thousand recipients,
 * and nobody's codes may wait for them. The others wait here, without a connection to the database, also for the pauses of the
 * event loop's share.
 */
export class CampaignGate {
  readonly #gate: FairGate;
  readonly #share: EventLoopShare;

  constructor({ clock, lockRetryDelay, eventLoop }: GatePorts) {
    const maxima = { perKey: CAMPAIGN_REQUESTS_PER_PROJECT_MAX, all: CAMPAIGN_REQUESTS_MAX };
    this.#gate = new FairGate(maxima, { clock, lockRetryDelay });
    this.#share = new EventLoopShare(eventLoop);
  }

  /** Runs the work as soon as it is let through, behind the pauses of what was let through before. */
  run<Result>(projectId: string, work: () => Promise<Result>): Promise<Result> {
    return this.#gate.run(projectId, () => this.#share.run(work));
  }
}
