import type { Clock } from '../application/ports/clock.ts';
import { counted } from './counted.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { type CommandOutput, commandLine, runOperatorCommand } from './operator-command.ts';
import type { Roots } from './roots.ts';

/** An account could not be synchronised, or no provider can read accounts. */
export const EXIT_NOT_SYNCHRONISED = 1;

/**
 * The operator's side of section 2.7: reads the numbers and templates of live projects from the platform now; the service may be
 * running meanwhile. Resolves with the exit code: 0, `EXIT_NOT_SYNCHRONISED`, `EXIT_USAGE`, or one of `runOperatorCommand`.
 */
export async function runWhatsappCommand(
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  output: CommandOutput,
  clock?: Clock,
): Promise<number> {
  const [command, ...rest] = given;
  if (command !== 'sync' || rest.length > 0) {
    const line = commandLine(environment, 'whatsapp', 'sync');
    output.error(`usage: ${line}   reads the numbers and templates of live projects from the platform now`);
    return EXIT_USAGE;
  }
  return runOperatorCommand(environment, output, (roots) => sync(roots, output), clock);
}

/** The log has a line with the reason for each account that failed. */
async function sync({ whatsappPlatforms, syncWhatsapp }: Roots, output: CommandOutput): Promise<number> {
  if (whatsappPlatforms.isEmpty) {
    output.error('sync: no provider can read whatsapp accounts; those of the kind cloud-api can');
    return EXIT_NOT_SYNCHRONISED;
  }
  const { accounts, failed, changed } = await syncWhatsapp.execute();
  const counts = [
    counted(accounts, 'account'),
    `${failed} failed`,
    `${counted(changed, 'resource tree')} changed`,
  ];
  output.print(`sync: ${counts.join(', ')}`);
  return failed === 0 ? 0 : EXIT_NOT_SYNCHRONISED;
}
