import { performance } from 'node:perf_hooks';
import { FairGate } from '../../../application/concurrency/fair-gate.ts';
import { PROJECT_REQUESTS_MAX, PROJECT_REQUESTS_PER_PROJECT_MAX, SMALL_BODY_BYTES_MAX } from '../limits.ts';
import {
  BODIES_MS_MAX,
  LARGE_BODIES_MS_MAX,
  LARGE_BODIES_SHARE,
  WAITING_REQUESTS_MS_MAX,
} from '../server-limits.ts';
import { type CallerGroup, FairRounds } from './rounds/fair-rounds.ts';
import type { ListenBacklog } from './rounds/listen-backlog.ts';

/** Whom a request waits with: its project, or its network. */
export interface QueueKey {
  readonly key: string;
  readonly group: CallerGroup;
}

/** That of a project; of the network when the project is not known. */
export function queueKeyFor(projectId: string | null, network: string): QueueKey {
  return projectId === null ? { key: network, group: 'unknown' } : { key: projectId, group: 'project' };
}

/** Where requests wait for the event loop, and for the project gate. */
export class RequestQueues {
  readonly #projectGate = new FairGate(
    { perKey: PROJECT_REQUESTS_PER_PROJECT_MAX, all: PROJECT_REQUESTS_MAX },
    { clock: performance },
  );
  readonly #bodies: FairRounds;
  /** Those that a gate has let through. */
  readonly #letThrough: FairRounds;
  readonly #largeBodies = new FairRounds(() => LARGE_BODIES_MS_MAX, LARGE_BODIES_SHARE);

  constructor(backlog: Pick<ListenBacklog, 'roundMs'>) {
    this.#bodies = new FairRounds(() => backlog.roundMs(BODIES_MS_MAX));
    this.#letThrough = new FairRounds(() => backlog.roundMs(WAITING_REQUESTS_MS_MAX));
  }

  /** Resolves when a body of this length may be parsed; null when that is now. */
  waitToParse({ key, group }: QueueKey, bytes: number): Promise<void> | null {
    return (bytes > SMALL_BODY_BYTES_MAX ? this.#largeBodies : this.#bodies).wait(key, group);
  }

  /**
   * Resolves when a round of the event loop has time for a request that a gate has let through; null when that is now. The end of
   * one request lets the next one through: without this hundreds of them would follow each other in one round.
   */
  waitForRound({ key, group }: QueueKey): Promise<void> | null {
    return this.#letThrough.wait(key, group);
  }

  /** Runs the work as soon as the project gate lets the project through. */
  throughProjectGate<Result>(projectId: string, work: () => Promise<Result>): Promise<Result> {
    return this.#projectGate.run(projectId, work);
  }
}
