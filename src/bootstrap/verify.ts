import type { Container } from 'inversify';
import { VerifyLedger } from '../application/billing/verify-ledger.ts';
import { describeDifference } from '../domain/billing/ledger.ts';
import { consoleOutput, runOperatorCommand } from './operator-command.ts';

const output = consoleOutput();

/**
 * Recomputes every balance from the ledger entries, and looks for jobs that were set aside, which may hold money:
 * exit code 0 when all is well, 1 when it is not.
 */
async function verify(container: Container): Promise<number> {
  const { projects, differences, deadJobs, latestDead } = await container.get(VerifyLedger).execute();
  for (const difference of differences) output.print(describeDifference(difference));
  for (const { id, reason, deadLetteredAt } of latestDead) {
    output.print(`job ${id} was set aside at ${new Date(deadLetteredAt).toISOString()}: ${reason}`);
  }
  output.print(
    `verify: ${projects} projects, ${differences.length} differences, ${deadJobs} jobs set aside as dead`,
  );
  return differences.length === 0 && deadJobs === 0 ? 0 : 1;
}

process.exitCode = await runOperatorCommand(process.env, output, verify);
