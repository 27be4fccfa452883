import type { Command } from 'commander';
import type { CommandContext } from './console/command-context.ts';

/** `barid backup`. */
export function addBackupCommand(program: Command, context: CommandContext): void {
  program
    .command('backup')
    .description(
      'copy the SQLite database into a new file, beside the running service; PostgreSQL has tools of its own: docs/backup.md',
    )
    .argument('<file>', 'a file that is not there yet')
    .action(
      context.action((file: string) =>
        context.withConfig(async (config) => {
          const { backUp } = await import('./backup/write-backup.ts');
          return backUp(config, file, context);
        }),
      ),
    );
}
