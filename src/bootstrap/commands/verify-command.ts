import type { Command } from 'commander';
import { differencesIn } from '../../application/billing/audit-ledger.ts';
import { isoOf } from '../../domain/shared/instant.ts';
import { EXIT_NOT_DONE } from '../exit-codes.ts';
import type { Roots } from '../roots.ts';
import type { CommandContext } from './command-context.ts';
import { counted } from './counted.ts';

/** `barid verify`: what the audit of the money finds, and the dead-letter jobs, which may hold money. */
export function addVerifyCommand(program: Command, context: CommandContext): void {
  program
    .command('verify')
    .description(
      'recompute every balance and every sum, and list dead-letter jobs; may run beside the service; exit code 0 means that all is well',
    )
    .action(context.action(() => context.onDatabase((roots) => verify(roots, context))));
}

async function verify({ auditLedger }: Roots, context: CommandContext): Promise<number> {
  const audit = await auditLedger.execute();
  const { projects } = audit;
  const { count, latest } = audit.deadLetterJobs;
  const differences = differencesIn(audit);
  const jobs = latest.map(({ id, reason, deadLetteredAt }) => ({
    id,
    reason,
    deadLetteredAt: isoOf(deadLetteredAt),
  }));
  context.print({ projects, differences, deadLetterJobs: { count, latest: jobs } }, () => [
    ...differences,
    ...jobs.map(
      ({ id, reason, deadLetteredAt }) => `job ${id} was dead-lettered at ${deadLetteredAt}: ${reason}`,
    ),
    `verify: ${counted(projects, 'project')}, ${counted(differences.length, 'difference')}, ${counted(count, 'dead-letter job')}`,
  ]);
  return differences.length === 0 && count === 0 ? 0 : EXIT_NOT_DONE;
}
