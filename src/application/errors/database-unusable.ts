import { isoOf } from '../../domain/shared/instant.ts';

/** This process cannot work on the database: `detail` says why, and `advice` what an operator can do. */
export class DatabaseUnusable extends Error {
  readonly detail: string;
  readonly advice: string;

  constructor(detail: string, advice: string) {
    super(`${detail}; ${advice}`);
    this.name = 'DatabaseUnusable';
    this.detail = detail;
    this.advice = advice;
  }
}

/** A newer version has changed its tables: it has these migrations, which this version does not know. */
export function databaseNewer(migrations: readonly string[]): DatabaseUnusable {
  return new DatabaseUnusable(
    `the tables were changed by a newer version of Barid (${migrations.join(', ')})`,
    'start that version or a later one, or restore a backup that was made before the upgrade',
  );
}

/** Whatever is accepted under this clock would count as a message of the backup that the database was restored from. */
export function clockBehindRestorePoint(now: number, restorePoint: number): DatabaseUnusable {
  return new DatabaseUnusable(
    `the clock of this machine, ${isoOf(now)}, is behind the restored database, whose messages go up to ${isoOf(restorePoint)}`,
    'set the clock: until then every new message would fail as a restored one',
  );
}

/** Texts in other letters than those of its encoding, such as Arabic ones, cannot be stored. */
export function databaseEncodingTooSmall(encoding: string): DatabaseUnusable {
  return new DatabaseUnusable(
    `the database has the encoding ${encoding}, which cannot store every text`,
    "make one with ENCODING 'UTF8' and TEMPLATE template0",
  );
}
