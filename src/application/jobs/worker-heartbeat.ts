import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import { LEASE_MS } from './job.ts';
import { WorkerWatch } from './worker-watch.ts';

/** How often a process that runs jobs records that it does, in milliseconds. */
export const WORKER_HEARTBEAT_MS = 1_000;

/** A worker whose newest heartbeat is older than this many milliseconds does not count as running, in `/readyz`. */
export const WORKER_SEEN_MS = 15_000;

/** How long the record of a worker that did not stop in order is kept, in milliseconds. */
export const WORKER_KEPT_MS = 24 * 60 * 60 * 1_000;

interface HeartbeatPorts {
  readonly unitOfWork: UnitOfWork;
  readonly heartbeatInterval: Timeout;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly wakeSignal: WakeSignal;
  readonly workerId: string;
}

/**
 * Records that this process runs jobs, so that `/readyz` can tell when no process does, and hands back the jobs that
 * workers had leased which are gone. Never rejects.
 */
export class WorkerHeartbeat {
  readonly #ports: HeartbeatPorts;
  readonly #watch = new WorkerWatch();
  #isRecorded = false;
  #beating: Promise<void> | null = null;
  #cancelNext = () => {};
  #isStopped = false;
  #isFailing = false;

  constructor(ports: HeartbeatPorts) {
    this.#ports = ports;
  }

  /** Sends one heartbeat, then one after each interval when `repeats`. Resolves after the first. */
  async start({ repeats }: { readonly repeats: boolean }): Promise<void> {
    await this.beat();
    if (!repeats || this.#isStopped) return;
    this.#cancelNext = this.#ports.heartbeatInterval(() => void this.start({ repeats }));
  }

  /**
   * Records that this worker was seen now, takes over for those that are gone, and removes what was not seen for
   * `WORKER_KEPT_MS`. Calls at the same time share one heartbeat; a call after `stop` does nothing. A failure is logged
   * once per outage.
   */
  beat(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#beating ??= this.#record().finally(() => {
      this.#beating = null;
    });
    return this.#beating;
  }

  /** Ends the heartbeats, hands back what is leased still, and removes the record of this worker. May be called twice. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelNext();
    await this.#beating;
    const { unitOfWork, workerId } = this.#ports;
    if (!this.#isRecorded) return;
    this.#isRecorded = false;
    await this.#attempt(async () => {
      await this.#handBack([workerId]);
      await unitOfWork.run(({ workers }) => workers.delete(workerId));
    });
  }

  async #record(): Promise<void> {
    const { unitOfWork, clock, workerId, wakeSignal } = this.#ports;
    const now = clock.now();
    this.#isRecorded = true;
    await this.#attempt(async () => {
      const seen = await unitOfWork.run(async ({ workers }) => {
        await workers.markSeen(workerId, now);
        await workers.sweep(now - WORKER_KEPT_MS);
        return workers.all();
      }, 'eventual');
      const gone = this.#watch.observe(new Map([...seen].filter(([id]) => id !== workerId)));
      if (gone.length === 0) return;
      const jobs = await this.#handBack(gone);
      this.#watch.takenOver(gone);
      if (jobs === 0) return;
      this.#ports.logger.warn('jobs_taken_over', { workers: gone.length, jobs });
      wakeSignal.wake();
    });
  }

  /** Resolves with how many jobs are due again. */
  #handBack(workerIds: readonly string[]): Promise<number> {
    const { unitOfWork, clock } = this.#ports;
    const now = clock.now();
    return unitOfWork.run(({ jobs }) => jobs.handBack({ workerIds, now, until: now + LEASE_MS }), 'eventual');
  }

  async #attempt(change: () => Promise<void>): Promise<void> {
    try {
      await change();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#ports.logger.error('worker_heartbeat_failed', error);
      this.#isFailing = true;
    }
  }
}
