import type { Command } from 'commander';
import type { CommandContext } from './console/command-context.ts';

/** `barid restore` and `barid after-restore`. */
export function addRestoreCommands(program: Command, context: CommandContext): void {
  program
    .command('restore')
    .description(
      'put a backup in the place of the SQLite database, with the service stopped; the database before it is kept',
    )
    .argument('<file>', 'made by barid backup')
    .option('--send-again', 'send what the backup had not sent, also what was sent since')
    .action(
      context.action((file: string, { sendAgain = false }: { sendAgain?: boolean }) =>
        context.withConfig(async (config) => {
          const { restore } = await import('./backup/restore.ts');
          return restore(config, file, { sendsAgain: sendAgain }, context);
        }),
      ),
    );
  program
    .command('after-restore')
    .description(
      'mark a database that other tools restored, before the service starts, so that nothing is sent a second time',
    )
    .action(
      context.action(() =>
        context.withConfig(async (config) => {
          const { afterRestore } = await import('./backup/after-restore.ts');
          const { existingSecretKey } = await import('../config/secret-key.ts');
          // One that was made now would be another than that of the database.
          existingSecretKey(config);
          return context.onDatabase((roots) => afterRestore(roots, context));
        }),
      ),
    );
}
