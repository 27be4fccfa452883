import type { Command } from 'commander';
import { changeLines } from '../console/text-table.ts';
import { type AdminConsole, type Columns, type Fields, type PageOptions, paged } from './admin-console.ts';

const AUDIT: Columns = {
  list: 'records',
  columns: ['at', 'actor', 'action', 'project'],
  details: ({ before, after }) => changeLines(before as Fields | null, after as Fields | null),
};

/** `barid admin audit`. */
export function addAuditCommands(program: Command, admin: AdminConsole): void {
  paged(
    program
      .command('audit')
      .description('list the changes of operators')
      .option('--project <project>', 'only changes of this project: id or slug'),
  ).action(({ project, ...options }: PageOptions & { project?: string }) =>
    admin.printPage('/audit', options, AUDIT, { project }),
  );
}
