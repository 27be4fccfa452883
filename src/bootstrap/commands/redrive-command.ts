import type { Command } from 'commander';
import type { ManageJobs } from '../../application/operators/manage-jobs.ts';
import type { CommandContext } from './console/command-context.ts';
import { counted } from './console/counted.ts';

/** `barid redrive`. */
export function addRedriveCommand(program: Command, context: CommandContext): void {
  program
    .command('redrive')
    .description('make every dead-letter job due again; the running service does them')
    .action(
      context.action(() =>
        context.onDatabase(async ({ manageJobs }) => {
          const jobs = await redriveAll(manageJobs);
          context.print({ jobs }, () => [`redrive: ${counted(jobs, 'job')} due again`]);
          return 0;
        }),
      ),
    );
}

async function redriveAll(manageJobs: ManageJobs): Promise<number> {
  for (let jobs = 0; ; ) {
    const slice = await manageJobs.redrive('cli-database', { kind: null, ids: null });
    jobs += slice.jobs;
    if (!slice.hasMore) return jobs;
  }
}
