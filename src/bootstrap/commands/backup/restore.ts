import { statSync } from 'node:fs';
import { WrongSecretKey } from '../../../application/access/check-secret-key.ts';
import { DatabaseUnusable } from '../../../application/errors/database-unusable.ts';
import { type Config, ConfigError } from '../../config/config.ts';
import { EXIT_CONFIGURATION, EXIT_NOT_DONE } from '../../exit-codes.ts';
import type { CommandContext } from '../console/command-context.ts';
import { ProgressBar } from '../console/progress-bar.ts';
import { withDatabase } from '../on-database.ts';
import { RestoreRejected, restoreSqlite } from './restore-sqlite.ts';
import { restoredLines } from './restored-lines.ts';
import { backedUpFileOf } from './sqlite-copies.ts';

/**
 * Puts a backup in the place of the SQLite database while no service has it open. Resolves with the exit code: 0; `EXIT_NOT_DONE`
 * when nothing was changed, or when the audit of the backup finds differences; `EXIT_CONFIGURATION` for a backup under another
 * `SECRET_KEY`; `EXIT_UNAVAILABLE`. Throws `ConfigError` for a database that is no SQLite file.
 */
export async function restore(
  config: Config,
  file: string,
  { sendsAgain }: { readonly sendsAgain: boolean },
  context: CommandContext,
): Promise<number> {
  const { output } = context;
  const target = backedUpFileOf(config);
  const bar = new ProgressBar(output, 'restore');
  return withDatabase(output, async () => {
    try {
      // Reading a pipe would wait for ever.
      if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
        throw new RestoreRejected(`there is no file ${file}`);
      const result = await restoreSqlite({ config, file, target, sendsAgain, bar });
      context.print({ file, target, ...result }, () => [
        ...result.differences,
        ...(result.marked === null ? [] : restoredLines(result.marked).map((line) => `restore: ${line}`)),
        `restore: ${target} holds ${file} now`,
        ...(result.aside === null ? [] : [`restore: the database before it is ${result.aside}`]),
      ]);
      return result.differences.length === 0 ? 0 : EXIT_NOT_DONE;
    } catch (error) {
      output.error(`restore: nothing was changed: ${operatorMistake(error)}`);
      return error instanceof WrongSecretKey ? EXIT_CONFIGURATION : EXIT_NOT_DONE;
    }
  });
}

function operatorMistake(error: unknown): string {
  if (error instanceof WrongSecretKey) {
    return 'the backup was made under another SECRET_KEY; give the restore and the service the one of that time';
  }
  const isExpected =
    error instanceof RestoreRejected || error instanceof DatabaseUnusable || error instanceof ConfigError;
  if (isExpected) return error.message;
  if (!(error instanceof Error) || !('code' in error)) throw error;
  return error.message;
}
