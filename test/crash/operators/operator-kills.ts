import { between } from '../support/seeded-random.ts';
import type { SqliteService } from '../support/sqlite-service.ts';

/** What every kind of kill works with. */
export interface OperatorKills {
  readonly service: SqliteService;
  readonly rounds: number;
  readonly random: () => number;
  /** What a process of the service needs to go on at the present time of the test. */
  readonly environment: () => NodeJS.ProcessEnv;
}

/** What the kills of one kind left, and what was wrong with it. */
export class KillCounts {
  /** Kills that left everything as it was before. */
  untouched = 0;
  /** Kills after which something that is allowed was begun: a partial file, or some slices of many. */
  midway = 0;
  /** Kills that came when all was done. */
  done = 0;
  readonly problems: string[] = [];
}

/** Share of an undisturbed run after which kills begin: before it, a program only starts. */
const EARLIEST_SHARE = 0.3;

/** An instant of a run that takes so long without a kill. */
export function instantIn(random: () => number, wholeMs: number): number {
  return between(random, [Math.round(wholeMs * EARLIEST_SHARE), Math.round(wholeMs)]);
}
