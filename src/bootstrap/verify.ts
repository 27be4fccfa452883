import { differencesIn } from '../application/billing/audit-ledger.ts';
import { counted } from './counted.ts';
import { consoleOutput, runPlainCommand } from './operator-command.ts';
import type { Roots } from './roots.ts';

const output = consoleOutput();

/** Prints what the audit finds, and the dead-letter jobs, which may hold money: exit code 0 when all is well, 1 when it is not. */
async function verify({ auditLedger }: Roots): Promise<number> {
  const audit = await auditLedger.execute();
  const { projects, deadLetterJobs } = audit;
  const differences = differencesIn(audit);
  for (const difference of differences) output.print(difference);
  for (const { id, reason, deadLetteredAt } of deadLetterJobs.latest) {
    output.print(`job ${id} was dead-lettered at ${new Date(deadLetteredAt).toISOString()}: ${reason}`);
  }
  const counts = [
    counted(projects, 'project'),
    counted(differences.length, 'difference'),
    counted(deadLetterJobs.count, 'dead-letter job'),
  ];
  output.print(`verify: ${counts.join(', ')}`);
  return differences.length === 0 && deadLetterJobs.count === 0 ? 0 : 1;
}

process.exitCode = await runPlainCommand('verify', process.argv.slice(2), output, verify);
