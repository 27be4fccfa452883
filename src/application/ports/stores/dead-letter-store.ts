import type { Work } from '../../../domain/jobs/job.ts';

/**
 * A job that failed too often, or that no version running here knows. Its id may come again, dead-lettered at another instant.
 */
export interface DeadLetter {
  readonly id: string;
  readonly projectId: string;
  /** As the job has it; of a kind that this version does not know, the kind only. */
  readonly work: Work;
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly deadLetteredAt: number;
}

/** Names a dead-letter job among all of them. */
export type DeadLetterPlace = Pick<DeadLetter, 'id' | 'deadLetteredAt'>;

/** Which dead-letter jobs are meant; null is all. */
export interface DeadLetterFilter {
  readonly kind: string | null;
  readonly ids: readonly string[] | null;
}

export interface DeadLetterStore {
  /** The newest first, those behind `after` when it is given, at most `limit`; with `reason` those of exactly this one. */
  list(query: {
    readonly kind: string | null;
    readonly reason: string | null;
    readonly after: DeadLetterPlace | null;
    readonly limit: number;
  }): Promise<readonly DeadLetter[]>;
  /** How many there are, up to `limit`. */
  count(limit: number): Promise<number>;
  /** The oldest that the filter lets through, at most `limit`, locked until the transaction ends. */
  lock(filter: DeadLetterFilter, limit: number): Promise<readonly DeadLetter[]>;
  /**
   * Makes locked jobs due at `now`, with the work that they had. Where a job of the same id has been added since, that one is due
   * at `now` at the latest; while it is leased it stays as it is.
   */
  redrive(places: readonly DeadLetterPlace[], now: number): Promise<void>;
  /** Removes locked jobs for ever. */
  remove(places: readonly DeadLetterPlace[]): Promise<void>;
}
