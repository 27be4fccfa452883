import type { Command } from 'commander';
import type { CommandContext } from './console/command-context.ts';

/** `barid start`: the service. */
export function addStartCommand(program: Command, context: CommandContext): void {
  program
    .command('start')
    .description('run the service; what is done without a command')
    .action(
      context.action(async () => {
        await import('../main.ts');
        return Number(process.exitCode ?? 0);
      }),
    );
}
