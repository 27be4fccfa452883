import { WrongSecretKey } from '../../../application/access/check-secret-key.ts';
import { DatabaseUnusable } from '../../../application/errors/database-unusable.ts';
import { EXIT_CONFIGURATION } from '../../exit-codes.ts';
import type { Roots } from '../../roots.ts';
import type { CommandContext } from '../console/command-context.ts';
import { restoredLines } from './restored-lines.ts';

/**
 * Marks a database that other tools restored. Resolves with the exit code: 0; `EXIT_CONFIGURATION` after a line that says why
 * nothing was changed.
 */
export async function afterRestore(
  { database, checkSecretKey, markRestored }: Pick<Roots, 'database' | 'checkSecretKey' | 'markRestored'>,
  context: CommandContext,
): Promise<number> {
  try {
    // Before the tables are changed: with another key this may be the wrong database.
    await checkSecretKey.execute();
    await database.migrate();
  } catch (error) {
    context.output.error(`after-restore: nothing was changed: ${operatorMistake(error)}`);
    return EXIT_CONFIGURATION;
  }
  const marked = await markRestored.execute();
  context.print(marked, () => restoredLines(marked).map((line) => `after-restore: ${line}`));
  return 0;
}

/** Throws what is no mistake of the operator. */
function operatorMistake(error: unknown): string {
  if (error instanceof WrongSecretKey) {
    return 'the database was filled under another SECRET_KEY; give the command and the service the one of that time';
  }
  if (error instanceof DatabaseUnusable) return error.message;
  throw error;
}
