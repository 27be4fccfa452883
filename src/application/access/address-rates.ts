import type { Project } from '../../domain/access/project.ts';
import { decideRate, type RateLimit, windowMs } from '../../domain/rate-limiting/rate-limiter.ts';
import { Rejected } from '../errors/rejected.ts';
import type { Clock } from '../ports/clock.ts';

/** The most addresses that are known at a time. Beyond it, the one that has sent nothing for longest is forgotten. */
export const KNOWN_ADDRESSES_MAX = 100_000;

interface CountedSend {
  /** Unix epoch milliseconds. */
  readonly at: number;
}

/**
 * Limits the sends of a project from one client address, for projects that ask for it. Counted in this process, and
 * forgotten when it ends: the limit slows down a caller who misuses a key, and is no account of anything.
 */
export class AddressRates {
  readonly #clock: Clock;
  readonly #knownMax: number;
  /** By project and network, those that have sent nothing for longest first. */
  readonly #sends = new Map<string, readonly CountedSend[]>();

  constructor({
    clock,
    knownMax = KNOWN_ADDRESSES_MAX,
  }: { readonly clock: Clock; readonly knownMax?: number }) {
    this.#clock = clock;
    this.#knownMax = knownMax;
  }

  /**
   * Resolves as `send` does, which counts once it has begun, and no longer when it rejects. Rejects as `rate-limited`, and
   * does not call it, when the project has as many from this network as it may. `network` is an address, or the /64 of one.
   */
  limit<Result>(project: Project, network: string, send: () => Promise<Result>): Promise<Result> {
    const limit = project.settings.addressRateLimit;
    return limit === null ? send() : this.#limited(limit, project, network, send);
  }

  async #limited<Result>(
    limit: RateLimit,
    project: Project,
    network: string,
    send: () => Promise<Result>,
  ): Promise<Result> {
    const key = `${project.id} ${network}`;
    const counted = { at: this.#clock.now() };
    // What is later than now was counted before the clock was put back.
    const earlier = this.#sendsSince(counted.at - windowMs(limit), key).filter(({ at }) => at <= counted.at);
    const decision = decideRate(
      limit,
      earlier.map(({ at }) => at),
      counted.at,
    );
    if (decision.kind === 'rate-limited') throw new Rejected(decision);
    this.#keep(key, [...earlier, counted]);
    try {
      return await send();
    } catch (error) {
      const others = this.#sendsSince(0, key).filter((each) => each !== counted);
      this.#keep(key, others);
      throw error;
    }
  }

  #sendsSince(start: number, key: string): readonly CountedSend[] {
    return this.#sends.get(key)?.filter(({ at }) => at > start) ?? [];
  }

  #keep(key: string, sends: readonly CountedSend[]): void {
    this.#sends.delete(key);
    if (sends.length > 0) this.#sends.set(key, sends);
    for (const longestSilent of this.#sends.keys()) {
      if (this.#sends.size <= this.#knownMax) return;
      this.#sends.delete(longestSilent);
    }
  }
}
