import { LEASE_MS } from '../../domain/jobs/job.ts';
import { CLOCKS_DIFFER_MS_MAX } from '../../domain/shared/instant.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import { LEASES_TRUSTED_MS, WorkerWatch } from './worker-watch.ts';

/** A worker whose newest heartbeat is older than this many milliseconds does not count as running, in `/readyz`. */
export const WORKER_SEEN_MS = 15_000;

/**
 * The age of a lease from which a job of a message may be with a worker that is gone, in milliseconds: the queue may have handed
 * it to that worker.
 */
const QUEUED_JOB_MS_MAX = 1_000;

interface HeartbeatPorts {
  readonly unitOfWork: UnitOfWork;
  readonly heartbeatInterval: Timeout;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly wakeSignal: WakeSignal;
  readonly workerId: string;
}

/**
 * Records that this process runs jobs, so that `/readyz` can tell when no process does, and takes over for workers that
 * are gone: the jobs they had leased are due again. So are the jobs of messages that this worker leased and a gone one
 * may have taken from the queue: the fencing token lets each be done once. Webhooks of this worker wait until their
 * leases end: an attempt of theirs may be in flight. Never rejects.
 */
export class WorkerHeartbeat {
  readonly #ports: HeartbeatPorts;
  readonly #watch = new WorkerWatch();
  #isRecorded = false;
  #isRepeated = false;
  /** When the last heartbeat that was recorded began; 0 before the first, when this worker can have no older lease. */
  #recordedAt = 0;
  /** Since then every heartbeat was recorded in time. */
  #trustedSince = 0;
  #beating: Promise<void> | null = null;
  #cancelNext = () => {};
  #isStopped = false;
  #isFailing = false;

  constructor(ports: HeartbeatPorts) {
    this.#ports = ports;
  }

  /** Sends one heartbeat, then one after each interval when `repeats`. Resolves after the first. */
  async start({ repeats }: { readonly repeats: boolean }): Promise<void> {
    this.#isRepeated = repeats;
    await this.beat();
    if (!repeats || this.#isStopped) return;
    this.#cancelNext = this.#ports.heartbeatInterval(() => void this.start({ repeats }));
  }

  /**
   * Records that this worker was seen now, takes over for those that are gone, and removes the records of those that have been
   * gone for `KEPT_HEARTBEATS`. Calls at the same time share one heartbeat; a call after `stop` does nothing. A failure is
   * logged once per outage.
   */
  beat(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#beating ??= this.#record().finally(() => {
      this.#beating = null;
    });
    return this.#beating;
  }

  /**
   * Whether a lease that was this worker's at `leasedAt` still is, as far as heartbeats tell: another worker may take over
   * after a time without any. Always true while heartbeats do not repeat.
   */
  keepsLease(leasedAt: number): boolean {
    if (!this.#isRepeated) return true;
    // A lease from after now is one from before the clock was put back.
    return this.#isTrusted() && leasedAt > this.#trustedSince && leasedAt <= this.#ports.clock.now();
  }

  #isTrusted(): boolean {
    const now = this.#ports.clock.now();
    return now >= this.#recordedAt && now < this.#recordedAt + LEASES_TRUSTED_MS;
  }

  /**
   * Ends the heartbeats and removes the record of this worker. May be called twice. Nothing is handed back: what is leased
   * in its name may be in the hand of another process by way of the queue.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelNext();
    await this.#beating;
    const { unitOfWork, workerId } = this.#ports;
    if (!this.#isRecorded) return;
    this.#isRecorded = false;
    await this.#tryOrLog(() => unitOfWork.run(({ workers }) => workers.remove([workerId])));
  }

  async #record(): Promise<void> {
    const { unitOfWork, clock, workerId, logger, wakeSignal } = this.#ports;
    const now = clock.now();
    this.#isRecorded = true;
    await this.#tryOrLog(async () => {
      const seen = await unitOfWork.run(async ({ workers }) => {
        await workers.markSeen(workerId, now);
        await workers.remove(this.#watch.forgotten);
        return workers.all();
      }, 'eventual');
      if (this.#recordedAt > 0 && !this.#isTrusted()) this.#trustedSince = clock.now();
      this.#recordedAt = now;
      const gone = this.#watch.observe(new Map([...seen].filter(([id]) => id !== workerId)));
      const jobs = gone.length === 0 ? 0 : await this.#takeOver(gone, seen, now);
      if (jobs === 0) return;
      logger.warn('jobs_taken_over', { workers: gone.length, jobs });
      wakeSignal.wake();
    });
  }

  /** Resolves with how many jobs are due again. */
  #takeOver(gone: readonly string[], seen: ReadonlyMap<string, number>, now: number): Promise<number> {
    // Leases end by the clock of who leased, which may be ahead.
    const latest = Math.max(now, ...gone.map((id) => seen.get(id) ?? now));
    const leasedByGone = { workerIds: gone, now, until: latest + LEASE_MS + CLOCKS_DIFFER_MS_MAX };
    const queued = {
      workerIds: [this.#ports.workerId],
      now,
      until: now + LEASE_MS - QUEUED_JOB_MS_MAX,
      ofMessages: true,
    };
    return this.#ports.unitOfWork.run(
      async ({ jobs }) => (await jobs.handBack(leasedByGone)) + (await jobs.handBack(queued)),
      'eventual',
    );
  }

  /** Resolves when the change was made or its failure was logged, once per outage. */
  async #tryOrLog(change: () => Promise<void>): Promise<void> {
    try {
      await change();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#ports.logger.error('worker_heartbeat_failed', error);
      this.#isFailing = true;
    }
  }
}
