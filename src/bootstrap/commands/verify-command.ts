import type { Command } from 'commander';
import { differencesIn, type LedgerAudit } from '../../application/billing/audit-ledger.ts';
import { messageOf } from '../../application/errors/error-text.ts';
import { isoOf } from '../../domain/shared/instant.ts';
import { EXIT_NOT_DONE, EXIT_UNAVAILABLE } from '../exit-codes.ts';
import type { Roots } from '../roots.ts';
import type { CommandContext } from './console/command-context.ts';
import { counted } from './console/counted.ts';
import { escaped } from './console/text-table.ts';

/** `barid verify`: what the audit of the money finds, and the dead-letter jobs, which may hold money. */
export function addVerifyCommand(program: Command, context: CommandContext): void {
  program
    .command('verify')
    .description(
      'recompute every balance and every sum, and list dead-letter jobs; may run beside the service; exit code 0 means that all is well',
    )
    .action(
      context.action(() =>
        context.onDatabase((roots) => verify(roots, context), { hasStatementTimeout: false }),
      ),
    );
}

/** Without an audit nobody knows whether there are differences: that has an exit code of its own. */
async function verify({ auditLedger }: Roots, context: CommandContext): Promise<number> {
  try {
    return print(await auditLedger.execute(), context);
  } catch (error) {
    context.output.error(`verify: the audit was not made: ${messageOf(error)}`);
    return EXIT_UNAVAILABLE;
  }
}

function print(audit: LedgerAudit, context: CommandContext): number {
  const { projects } = audit;
  const { count, latest } = audit.deadLetterJobs;
  const differences = differencesIn(audit);
  const jobs = latest.map(({ id, reason, deadLetteredAt }) => ({
    id,
    reason,
    deadLetteredAt: isoOf(deadLetteredAt),
  }));
  context.print({ projects, differences, deadLetterJobs: { count, latest: jobs } }, () => [
    ...differences.map(escaped),
    ...jobs.map(({ id, reason, deadLetteredAt }) =>
      escaped(`job ${id} was dead-lettered at ${deadLetteredAt}: ${reason}`),
    ),
    `verify: ${counted(projects, 'project')}, ${counted(differences.length, 'difference')}, ${counted(count, 'dead-letter job')}`,
  ]);
  return differences.length === 0 && count === 0 ? 0 : EXIT_NOT_DONE;
}
