import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Logger } from '../ports/logger.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** How often a process that runs jobs records that it does, in milliseconds. */
export const WORKER_HEARTBEAT_MS = 5_000;

/** A worker whose newest heartbeat is older than this many milliseconds counts as gone. */
export const WORKER_SEEN_MS = 3 * WORKER_HEARTBEAT_MS;

/** How long the record of a worker that did not stop in order is kept, in milliseconds. */
export const WORKER_KEPT_MS = 24 * 60 * 60 * 1_000;

interface HeartbeatPorts {
  readonly unitOfWork: UnitOfWork;
  readonly heartbeatInterval: Timeout;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** Records that this process runs jobs, so that `/readyz` can tell when no process does. Never rejects. */
export class WorkerHeartbeat {
  readonly #ports: HeartbeatPorts;
  #id: string | null = null;
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
   * Records that this worker was seen now, and removes workers that were not seen for `WORKER_KEPT_MS`. Calls at the same
   * time share one heartbeat; a call after `stop` does nothing. A failure is logged once per outage.
   */
  beat(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#beating ??= this.#record().finally(() => {
      this.#beating = null;
    });
    return this.#beating;
  }

  /** Ends the heartbeats and removes the record of this worker. May be called twice. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelNext();
    await this.#beating;
    const id = this.#id;
    this.#id = null;
    if (id !== null) await this.#attempt((unitOfWork) => unitOfWork.run(({ workers }) => workers.delete(id)));
  }

  async #record(): Promise<void> {
    const now = this.#ports.clock.now();
    this.#id ??= this.#ports.ids.hex24(now);
    const id = this.#id;
    await this.#attempt((unitOfWork) =>
      unitOfWork.run(async ({ workers }) => {
        await workers.markSeen(id, now);
        await workers.sweep(now - WORKER_KEPT_MS);
      }, 'eventual'),
    );
  }

  async #attempt(change: (unitOfWork: UnitOfWork) => Promise<void>): Promise<void> {
    try {
      await change(this.#ports.unitOfWork);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#ports.logger.error('worker_heartbeat_failed', error);
      this.#isFailing = true;
    }
  }
}
