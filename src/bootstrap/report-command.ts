import type { Clock } from '../application/ports/clock.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { type CommandOutput, commandLine, runOperatorCommand } from './operator-command.ts';

/** There is no such report. */
export const EXIT_NOT_FOUND = 1;

const ID_PATTERN = /^[0-9a-f]{24}$/;

/**
 * The operator's side of specification 3.3: deletes a report, whose file the service then removes. Resolves with the exit
 * code: 0, also when it is deleted already, `EXIT_NOT_FOUND`, `EXIT_USAGE`, or one of `runOperatorCommand`.
 */
export async function runReportCommand(
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  output: CommandOutput,
  clock?: Clock,
): Promise<number> {
  const [command, id, ...rest] = given;
  if (command !== 'delete' || id === undefined || !ID_PATTERN.test(id) || rest.length > 0) {
    const line = commandLine(environment, 'reports', 'delete <reportId>');
    output.error(`usage: ${line}   ends the link of a report and removes its file\nThe id is 24 hex digits.`);
    return EXIT_USAGE;
  }
  return runOperatorCommand(
    environment,
    output,
    async ({ removeReports }) => {
      if (await removeReports.delete(id)) {
        output.print(`delete: ${id} is deleted`);
        return 0;
      }
      output.error(`delete: there is no report ${id}`);
      return EXIT_NOT_FOUND;
    },
    clock,
  );
}
