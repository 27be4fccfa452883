import type { Command } from 'commander';
import type { CommandContext } from './console/command-context.ts';

/** `barid migrate`: a deployment calls it before the new version starts. */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  program
    .command('migrate')
    .description(
      'bring the tables to this version and end; processes of the version before may run meanwhile',
    )
    .option('--check', 'change nothing: say what is pending; exit code 0 means nothing')
    .action(
      context.action(({ check = false }: { check?: boolean }) =>
        context.withConfig(async (config) => {
          const { runMigrations } = await import('./run-migrations.ts');
          return runMigrations(config, { checks: check }, context);
        }),
      ),
    );
}
