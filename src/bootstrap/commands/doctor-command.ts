import type { Command } from 'commander';
import { EXIT_NOT_DONE } from '../exit-codes.ts';
import type { CommandContext } from './console/command-context.ts';

/** `barid doctor`: what is wrong with an installation, and what to do. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description(
      'check configuration, database, secret key, broker, providers, disk and open files; changes and sends nothing',
    )
    .addHelpText('after', '\nExit code 0 means that every line is ok; 1 that one is wrong.')
    .action(
      context.action(async () => {
        const { examine } = await import('./doctor/examine.ts');
        const findings = await examine(context.environment);
        context.printRows(findings, {
          columns: ['check', 'ok', 'detail', 'advice'],
          lineOf: ({ check, ok, detail, advice }) =>
            `${ok ? 'ok   ' : 'WRONG'}  ${check}: ${detail}${advice === null ? '' : `; ${advice}`}`,
        });
        return findings.every(({ ok }) => ok) ? 0 : EXIT_NOT_DONE;
      }),
    );
}
