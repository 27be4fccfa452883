/** The database has migrations that this version does not know: a newer version has changed its tables. */
export class DatabaseNewer extends Error {
  /** The names of the migrations that this version does not have. */
  readonly migrations: readonly string[];

  constructor(migrations: readonly string[]) {
    super(
      `the tables were changed by a newer version of Barid (${migrations.join(', ')}); ` +
        'start that version or a later one, or restore a backup that was made before the upgrade',
    );
    this.name = 'DatabaseNewer';
    this.migrations = migrations;
  }
}
