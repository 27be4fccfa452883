import { millisecondsInSecond } from 'date-fns/constants';
import { CHANNELS } from '../domain/shared/channel.ts';
import { StorageUnwritable } from './errors/storage-unavailable.ts';
import { oldestWaitedMs } from './jobs/survey-work.ts';
import { WORKER_SEEN_MS } from './jobs/worker-heartbeat.ts';
import type { ChannelProviders } from './ports/channel-provider.ts';
import type { Clock } from './ports/clock.ts';
import type { JobQueue } from './ports/job-queue.ts';
import type { Stores } from './ports/stores.ts';
import type { UnitOfWork } from './ports/unit-of-work.ts';

/** How long a database that responded is taken to be well without another query, in milliseconds. */
export const HEALTH_FRESH_MS = 1_000;

/** A due job that has waited longer than this many milliseconds says that workers are missing, or too few. */
export const JOBS_WAIT_MAX_MS = 60_000;

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

/** What one check of the database says: of itself, and of the jobs and workers whose rows it holds. */
interface DatabaseHealth {
  readonly database: DependencyHealth;
  readonly work: readonly DependencyHealth[];
}

interface HealthPorts {
  readonly unitOfWork: UnitOfWork;
  readonly jobQueue: JobQueue;
  readonly channelProviders: Pick<ChannelProviders, 'live'>;
  readonly clock: Clock;
}

const NO_PROVIDER = 'no provider: live projects do not have this channel';

const DATABASE = { name: 'database', critical: true } as const;

const UNKNOWN = { ok: false, critical: false, detail: 'unknown while the database is away' } as const;

/** Whether this process can do its work, dependency by dependency. */
export class CheckHealth {
  readonly #ports: HealthPorts;
  #isStopping = false;
  /** The check in flight: however many ask at once, it takes one connection. */
  #databaseCheck: Promise<DatabaseHealth> | null = null;
  #lastGoodCheck: { readonly health: DatabaseHealth; readonly at: number } | null = null;

  constructor(ports: HealthPorts) {
    this.#ports = ports;
  }

  /** From here on the process says that it is not ready, so that nothing new is sent to it. */
  noteStopping(): void {
    this.#isStopping = true;
  }

  /**
   * Callers share one check of the database, its jobs and its workers. It holds for a second when the database responds,
   * and not at all when it does not: the end of an outage is told at once. The queue and the stop need no query.
   */
  async readiness(): Promise<Readiness> {
    const { database, work } = await this.#database();
    const dependencies = [database, this.#queue(), ...work, ...this.#channels()];
    const ready = !this.#isStopping && dependencies.every(({ ok, critical }) => ok || !critical);
    return { ready, dependencies };
  }

  #database(): Promise<DatabaseHealth> | DatabaseHealth {
    const last = this.#lastGoodCheck;
    if (last !== null && Math.abs(this.#ports.clock.now() - last.at) < HEALTH_FRESH_MS) return last.health;
    this.#databaseCheck ??= this.#askDatabase().finally(() => {
      this.#databaseCheck = null;
    });
    return this.#databaseCheck;
  }

  async #askDatabase(): Promise<DatabaseHealth> {
    const { unitOfWork, clock } = this.#ports;
    try {
      const problem = await unitOfWork.ping().then(() => null, problemOf);
      const work = await unitOfWork.read((stores) => this.#work(stores));
      if (problem !== null) return { database: { ...DATABASE, ok: false, detail: problem }, work };
      const health = { database: { ...DATABASE, ok: true, detail: 'responds' }, work };
      this.#lastGoodCheck = { health, at: clock.now() };
      return health;
    } catch {
      return {
        database: { ...DATABASE, ok: false, detail: 'does not respond' },
        work: [
          { name: 'jobs', ...UNKNOWN },
          { name: 'workers', ...UNKNOWN },
        ],
      };
    }
  }

  /** Requests are accepted without a worker: their jobs wait in the database. */
  async #work({ jobs, workers }: Stores): Promise<readonly DependencyHealth[]> {
    const now = this.#ports.clock.now();
    const { count, newestAt } = await workers.seenSince(now - WORKER_SEEN_MS);
    const waitedMs = await oldestWaitedMs(jobs, now);
    return [
      {
        name: 'jobs',
        ok: waitedMs <= JOBS_WAIT_MAX_MS,
        critical: false,
        detail: waitedMs > 0 ? `the oldest due job has waited ${inSeconds(waitedMs)}` : 'none due',
      },
      { name: 'workers', ok: count > 0, critical: false, detail: workersDetail(count, newestAt, now) },
    ];
  }

  /** What carries the messages of live projects. */
  #channels(): readonly DependencyHealth[] {
    const live = this.#ports.channelProviders.live();
    return CHANNELS.flatMap((channel): readonly DependencyHealth[] => {
      const providers = live.filter((each) => each.channel === channel);
      if (providers.length === 0) return [{ name: channel, ok: true, critical: false, detail: NO_PROVIDER }];
      return providers.map(({ provider }) => ({
        name: providers.length === 1 ? channel : `${channel} ${provider.name}`,
        critical: false,
        ...provider.health(),
      }));
    });
  }

  /** Messages are accepted without the queue: their jobs wait in the database. */
  #queue(): DependencyHealth {
    const problem = this.#ports.jobQueue.unavailableReason();
    return { name: 'queue', ok: problem === null, critical: false, detail: problem ?? 'carries jobs' };
  }
}

/** Why a database that responds is not well; throws when it does not respond. */
function problemOf(error: unknown): string {
  if (error instanceof StorageUnwritable) return `stores nothing: ${error.reason}`;
  throw error;
}

function workersDetail(count: number, newestAt: number | null, now: number): string {
  if (newestAt === null) return 'none seen';
  // The clock of a worker may be ahead.
  const age = inSeconds(Math.max(0, now - newestAt));
  return count === 0 ? `none seen for ${age}` : `${count} seen, the last one ${age} ago`;
}

function inSeconds(ms: number): string {
  return `${Math.floor(ms / millisecondsInSecond)} s`;
}
