import { LEASE_MS } from '../../domain/jobs/job.ts';

/** How often a process that runs jobs records that it does, in milliseconds. */
export const WORKER_HEARTBEAT_MS = 1_000;

/** A worker is gone when it recorded no heartbeat while this worker recorded this many in a row. */
export const MISSED_HEARTBEATS_MAX = 3;

/**
 * How long after its last heartbeat a worker trusts its leases, in milliseconds. It is less than the time after which another
 * worker may take over.
 */
export const LEASES_TRUSTED_MS = (MISSED_HEARTBEATS_MAX - 0.5) * WORKER_HEARTBEAT_MS;

/** The number of heartbeats after which every lease of a worker that is gone has ended by itself. */
const LEASE_HEARTBEATS = LEASE_MS / WORKER_HEARTBEAT_MS;

/**
 * The record of a worker that missed this many heartbeats in a row is removed: every other worker has taken over by then. One
 * that comes back records itself anew.
 */
export const KEPT_HEARTBEATS = 60;

interface Watched {
  readonly seenAt: number;
  readonly missed: number;
}

/**
 * Tells which of the other workers are gone. It counts its own heartbeats and compares what the others recorded only with
 * what they recorded before: neither clocks that differ nor a database that was away for all make a worker gone.
 */
export class WorkerWatch {
  #watched: ReadonlyMap<string, Watched> = new Map();

  /**
   * What was recorded by the others when this worker recorded a heartbeat. Returns the workers to take over for, each of
   * them for as long as it may have leases.
   */
  observe(seen: ReadonlyMap<string, number>): readonly string[] {
    this.#watched = new Map(
      [...seen].map(([id, seenAt]): [string, Watched] => {
        const before = this.#watched.get(id);
        return [id, { seenAt, missed: before?.seenAt === seenAt ? before.missed + 1 : 0 }];
      }),
    );
    return this.#idsOf(isToTakeOver);
  }

  /** The workers whose record nobody needs any longer. */
  get forgotten(): readonly string[] {
    return this.#idsOf((missed) => missed >= KEPT_HEARTBEATS);
  }

  #idsOf(isMeant: (missed: number) => boolean): readonly string[] {
    return [...this.#watched].filter(([, { missed }]) => isMeant(missed)).map(([id]) => id);
  }
}

function isToTakeOver(missed: number): boolean {
  return missed >= MISSED_HEARTBEATS_MAX && missed < MISSED_HEARTBEATS_MAX + LEASE_HEARTBEATS;
}
