/** This version cannot work on the database. The message says what an operator can do. */
export class DatabaseUnusable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DatabaseUnusable';
  }
}

/** A newer version has changed its tables: it has these migrations, which this version does not know. */
export function databaseNewer(migrations: readonly string[]): DatabaseUnusable {
  return new DatabaseUnusable(
    `the tables were changed by a newer version of Barid (${migrations.join(', ')}); ` +
      'start that version or a later one, or restore a backup that was made before the upgrade',
  );
}

/** Texts in other letters than those of its encoding, such as Arabic ones, cannot be stored. */
export function databaseEncodingTooSmall(encoding: string): DatabaseUnusable {
  return new DatabaseUnusable(
    `the database has the encoding ${encoding}, which cannot store every text; ` +
      "make one with ENCODING 'UTF8' and TEMPLATE template0",
  );
}
