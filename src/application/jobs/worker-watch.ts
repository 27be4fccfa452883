/** A worker is gone when this worker recorded so many heartbeats in a row, and that one recorded none. */
export const MISSED_HEARTBEATS_MAX = 3;

interface Watched {
  readonly seenAt: number;
  readonly missed: number;
  readonly isTakenOver: boolean;
}

/**
 * Tells which of the other workers are gone. It counts its own heartbeats and compares what the others recorded only with
 * what they recorded before: neither clocks that differ nor a database that was away for all make a worker gone.
 */
export class WorkerWatch {
  #watched: ReadonlyMap<string, Watched> = new Map();

  /** What was recorded by the others when this worker recorded a heartbeat. Returns those to take over for. */
  observe(seen: ReadonlyMap<string, number>): readonly string[] {
    this.#watched = new Map(
      [...seen].map(([id, seenAt]): [string, Watched] => {
        const before = this.#watched.get(id);
        if (before?.seenAt !== seenAt) return [id, { seenAt, missed: 0, isTakenOver: false }];
        return [id, { ...before, missed: before.missed + 1 }];
      }),
    );
    return [...this.#watched]
      .filter(([, { missed, isTakenOver }]) => missed >= MISSED_HEARTBEATS_MAX && !isTakenOver)
      .map(([id]) => id);
  }

  /** The jobs of these workers are handed back: nothing is left to do until they come back and are gone again. */
  takenOver(ids: readonly string[]): void {
    this.#watched = new Map(
      [...this.#watched].map(([id, watched]) => [
        id,
        { ...watched, isTakenOver: watched.isTakenOver || ids.includes(id) },
      ]),
    );
  }
}
