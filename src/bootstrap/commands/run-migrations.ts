import { type Database, openDatabase } from '../../adapters/knex/database.ts';
import { DatabaseUnusable } from '../../application/errors/database-unusable.ts';
import type { Config } from '../config/config.ts';
import { isStillToBeMade, makeDatabasePlace } from '../config/database-place.ts';
import { EXIT_CONFIGURATION, EXIT_NOT_DONE } from '../exit-codes.ts';
import type { CommandContext } from './console/command-context.ts';
import { counted } from './console/counted.ts';
import { withDatabase } from './on-database.ts';

/**
 * Brings the tables to this version; with `checks` says only what is pending. Resolves with the exit code: 0; `EXIT_NOT_DONE`
 * when migrations are pending; `EXIT_CONFIGURATION` when a newer version has migrated the database; `EXIT_UNAVAILABLE`.
 */
export async function runMigrations(
  { database: place }: Config,
  { checks }: { readonly checks: boolean },
  context: CommandContext,
): Promise<number> {
  const { output } = context;
  return withDatabase(output, async () => {
    if (checks && isStillToBeMade(place)) {
      context.print({ database: null }, () => ['migrate: there is no database yet']);
      return EXIT_NOT_DONE;
    }
    makeDatabasePlace(place);
    const database = openDatabase(place);
    try {
      return await (checks ? check(database, context) : migrate(database, context));
    } catch (error) {
      if (!(error instanceof DatabaseUnusable)) throw error;
      output.error(`migrate: ${error.message}`);
      return EXIT_CONFIGURATION;
    } finally {
      await database.close();
    }
  });
}

async function check(database: Database, context: CommandContext): Promise<number> {
  const fault = await database.fault();
  if (fault !== null) throw fault;
  const { pending } = await database.migrationStatus();
  context.print({ pending }, () => [
    ...pending.map((name) => `pending: ${name}`),
    `migrate: ${counted(pending.length, 'migration')} pending`,
  ]);
  return pending.length === 0 ? 0 : EXIT_NOT_DONE;
}

async function migrate(database: Database, context: CommandContext): Promise<number> {
  const { pending } = await database.migrationStatus();
  await database.migrate();
  context.print({ applied: pending }, () => [
    ...pending.map((name) => `applied: ${name}`),
    `migrate: ${counted(pending.length, 'migration')} applied`,
  ]);
  return 0;
}
