import type { Command } from 'commander';
import { EXIT_NOT_DONE } from '../exit-codes.ts';
import type { CommandContext } from './console/command-context.ts';
import { toHexId } from './console/hex-id.ts';

/** The operator's side of specification 3.3: deletes a report, whose file the service then removes. */
export function addReportCommands(program: Command, context: CommandContext): void {
  program
    .command('reports')
    .description('reports of projects')
    .command('delete')
    .description('end the link of a report and remove its file; a report that is deleted already stays so')
    .argument('<reportId>', '24 hex digits', toHexId)
    .action(
      context.action((id: string) =>
        context.onDatabase(async ({ manageReports }) => {
          if (await manageReports.delete('cli-database', id)) {
            context.print({ id, deleted: true }, () => [`delete: ${id} is deleted`]);
            return 0;
          }
          context.output.error(`delete: there is no report ${id}`);
          return EXIT_NOT_DONE;
        }),
      ),
    );
}
