import { CHANNELS } from '../domain/shared/channel.ts';
import type { ChannelProviders } from './ports/channel-provider.ts';
import type { Clock } from './ports/clock.ts';
import type { JobQueue } from './ports/job-queue.ts';
import type { UnitOfWork } from './ports/unit-of-work.ts';

/** How long a database that responded is taken to be well without another query, in milliseconds. */
export const HEALTH_FRESH_MS = 1_000;

export interface DependencyHealth {
  readonly name: string;
  readonly ok: boolean;
  /** Without a critical dependency no request can be served. */
  readonly critical: boolean;
  readonly detail: string;
}

export interface Readiness {
  readonly ready: boolean;
  readonly dependencies: readonly DependencyHealth[];
}

interface HealthPorts {
  readonly unitOfWork: UnitOfWork;
  readonly jobQueue: JobQueue;
  readonly channelProviders: Pick<ChannelProviders, 'of'>;
  readonly clock: Clock;
}

const NO_PROVIDER = 'no provider: live projects do not have this channel';

/** Whether this process can do its work, dependency by dependency. */
export class CheckHealth {
  readonly #ports: HealthPorts;
  #isStopping = false;
  /** The check in flight: however many ask at once, it takes one connection. */
  #databaseCheck: Promise<DependencyHealth> | null = null;
  #lastGoodCheck: { readonly health: DependencyHealth; readonly at: number } | null = null;

  constructor(ports: HealthPorts) {
    this.#ports = ports;
  }

  /** From here on the process says that it is not ready, so that nothing new is sent to it. */
  stopping(): void {
    this.#isStopping = true;
  }

  /**
   * Callers share one query of the database. A good result holds for a second, a bad one does not: the end of an
   * outage is told at once. The queue and the stop need no query.
   */
  async readiness(): Promise<Readiness> {
    const dependencies = [await this.#database(), this.#queue(), ...this.#channels()];
    const ready = !this.#isStopping && dependencies.every(({ ok, critical }) => ok || !critical);
    return { ready, dependencies };
  }

  #database(): Promise<DependencyHealth> | DependencyHealth {
    const last = this.#lastGoodCheck;
    if (last !== null && Math.abs(this.#ports.clock.now() - last.at) < HEALTH_FRESH_MS) return last.health;
    this.#databaseCheck ??= this.#askDatabase().finally(() => {
      this.#databaseCheck = null;
    });
    return this.#databaseCheck;
  }

  async #askDatabase(): Promise<DependencyHealth> {
    const { unitOfWork, clock } = this.#ports;
    try {
      await unitOfWork.ping();
    } catch {
      return { name: 'database', ok: false, critical: true, detail: 'does not answer' };
    }
    const health = { name: 'database', ok: true, critical: true, detail: 'answers' };
    this.#lastGoodCheck = { health, at: clock.now() };
    return health;
  }

  /** What carries the messages of live projects. */
  #channels(): readonly DependencyHealth[] {
    return CHANNELS.map((channel) => {
      const provider = this.#ports.channelProviders.of(channel, 'live');
      if (provider === null) return { name: channel, ok: true, critical: false, detail: NO_PROVIDER };
      return { name: channel, critical: false, ...provider.health() };
    });
  }

  /** Messages are accepted without the queue: their jobs wait in the database. */
  #queue(): DependencyHealth {
    const problem = this.#ports.jobQueue.unavailableReason();
    return { name: 'queue', ok: problem === null, critical: false, detail: problem ?? 'carries jobs' };
  }
}
