import type { Environment } from '../../domain/access/project.ts';
import { type Backlog, backlogKey } from '../../domain/jobs/fair-share.ts';
import { SUBMIT_TIMEOUT_MS } from '../../domain/providers/submit-result.ts';
import type { Channel } from '../../domain/shared/channel.ts';

/** The most submissions of one process that are in flight to one channel provider, or wait to begin: they are kept in memory. */
export const SUBMISSIONS_IN_FLIGHT_MAX = 5_000;

/**
 * The share of the limit that each backlog may have in flight also while others fill the provider: so a campaign does not delay
 * the codes of another project. A backlog is the messages of one project at one priority. All backlogs together have twice the
 * limit at most.
 */
export const BACKLOG_SHARE = 1 / 100;

/**
 * How much later an attempt starts that finds its provider at the limit, in milliseconds, or behind those that came before it.
 */
export const CAPACITY_RETRY_MS = 1_000;

/** What submissions are counted by: those in flight to one provider never delay those of another. */
export interface ProviderKey {
  readonly channel: Channel;
  readonly environment: Environment;
  /** The name of the provider. */
  readonly provider: string;
}

interface BacklogLoad {
  inFlight: number;
  lastRetryAt: number;
}

interface ProviderLoad {
  inFlight: number;
  /** The backlogs with submissions in flight, or with attempts that were postponed since the provider was at its limit. */
  readonly backlogs: Map<string, BacklogLoad>;
}

/**
 * How many submissions are in flight to each channel provider, or wait to begin there. A provider that is slow or hangs delays
 * attempts of its own, and no others.
 */
export class SubmissionCapacity {
  readonly #inFlightMax: number;
  readonly #loads = new Map<string, ProviderLoad>();

  constructor({ inFlightMax = SUBMISSIONS_IN_FLIGHT_MAX }: { readonly inFlightMax?: number } = {}) {
    this.#inFlightMax = inFlightMax;
  }

  /**
   * Null when an attempt may start now, else the instant (milliseconds since 1970) to try it again. Later calls get
   * later instants, so that a backlog does not crowd out other work. One batch of attempts may exceed the limit.
   */
  retryAt(key: ProviderKey, backlog: Backlog, now: number): number | null {
    const load = this.#loadOf(key);
    if (load.inFlight < this.#inFlightMax) return null;
    const own = backlogIn(load, backlog);
    if (own.inFlight < BACKLOG_SHARE * this.#inFlightMax && load.inFlight < 2 * this.#inFlightMax)
      return null;
    // No submission is in flight for longer than the submit timeout: this interval always finds capacity.
    const spacingMs = SUBMIT_TIMEOUT_MS / this.#inFlightMax;
    own.lastRetryAt = Math.max(now + CAPACITY_RETRY_MS, own.lastRetryAt + spacingMs);
    return Math.ceil(own.lastRetryAt);
  }

  /** Counts a submission as in flight until the function it returns is called. */
  begin(key: ProviderKey, submission: Backlog): () => void {
    const load = this.#loadOf(key);
    const backlog = backlogIn(load, submission);
    load.inFlight += 1;
    backlog.inFlight += 1;
    return () => {
      load.inFlight -= 1;
      backlog.inFlight -= 1;
      if (load.inFlight === 0) load.backlogs.clear();
    };
  }

  #loadOf({ channel, environment, provider }: ProviderKey): ProviderLoad {
    const key = `${channel} ${environment} ${provider}`;
    const load = this.#loads.get(key) ?? { inFlight: 0, backlogs: new Map() };
    this.#loads.set(key, load);
    return load;
  }
}

function backlogIn({ backlogs }: ProviderLoad, backlog: Backlog): BacklogLoad {
  const key = backlogKey(backlog);
  const load = backlogs.get(key) ?? { inFlight: 0, lastRetryAt: 0 };
  backlogs.set(key, load);
  return load;
}
