import type { Command } from 'commander';
import { EXIT_NOT_DONE, EXIT_USAGE } from '../../exit-codes.ts';
import { CommandError } from '../console/command-error.ts';
import { recordLines } from '../console/text-table.ts';
import { type AdminConsole, type Columns, type PageOptions, paged } from './admin-console.ts';

const DEAD_LETTERS: Columns = {
  list: 'jobs',
  columns: ['deadLetteredAt', 'kind', 'id', 'project', 'reason'],
};

interface SliceOptions {
  readonly id?: readonly string[];
  readonly kind?: string;
}

const WITHOUT_JOBS = 'say which jobs: --id <id> or --kind <kind>';

/** `barid admin jobs`. */
export function addJobCommands(program: Command, admin: AdminConsole): void {
  const jobs = program.command('jobs').description('show work that waits, redrive and drop dead-letter jobs');
  jobs
    .command('show')
    .description('show how much work waits, and which workers run')
    .action(() => admin.print({ path: '/jobs' }));
  paged(
    jobs
      .command('list')
      .description('list dead-letter jobs')
      .option('--kind <kind>', 'only jobs of this kind, such as start-attempt')
      .option('--reason <reason>', 'only jobs with exactly this reason'),
  ).action(({ kind, reason, ...options }: PageOptions & { kind?: string; reason?: string }) =>
    admin.printPage('/dead-letter-jobs', options, DEAD_LETTERS, { kind, reason }),
  );
  for (const [name, description] of [
    ['redrive', 'make a slice of the dead-letter jobs due again; hasMore says whether more are left'],
    ['drop', 'drop a slice of the dead-letter jobs for ever; their messages fail, and holds are released'],
  ] as const) {
    jobs
      .command(name)
      .description(description)
      .option('--id <ids...>', 'these jobs')
      .option('--kind <kind>', 'the jobs of this kind')
      .action(async ({ id: ids, kind }: SliceOptions) => {
        if (ids === undefined && kind === undefined) throw new CommandError(WITHOUT_JOBS, EXIT_USAGE);
        const body = { ...(ids === undefined ? {} : { ids }), ...(kind === undefined ? {} : { kind }) };
        await admin.print(
          { method: 'POST', path: `/dead-letter-jobs/${name}`, body },
          recordLines,
          (reply) => {
            const missing = new Set(ids).size - Number(reply.jobs);
            if (missing > 0) throw new CommandError(`ids without such a job: ${missing}`, EXIT_NOT_DONE);
          },
        );
      });
  }
}
