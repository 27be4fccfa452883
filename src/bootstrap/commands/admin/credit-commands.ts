import type { Command } from 'commander';
import { type AdminConsole, type Columns, type PageOptions, paged, pathOf } from './admin-console.ts';
import { toNumber } from './project-options.ts';

interface MoneyOptions {
  readonly reason?: string;
  readonly idempotencyKey?: string;
}

const STATEMENT: Columns = { list: 'lines', columns: ['at', 'kind', 'reference', 'amount', 'balance'] };

/** `barid admin credit` and `barid admin statement`. */
export function addCreditCommands(program: Command, admin: AdminConsole): void {
  const credit = program.command('credit').description('add credit, correct it, reset the threshold');
  const amounts = [
    ['top-up', 'top-ups', 'add credit; the first credit ends the trial'],
    ['correct', 'corrections', 'correct the balance; write -- before an amount below zero'],
  ] as const;
  for (const [name, resource, description] of amounts) {
    const command = credit
      .command(name)
      .description(description)
      .argument('<project>', 'id or slug')
      .argument('<amount>', 'in IQD', toNumber)
      .option('--idempotency-key <key>', 'the same key never does it twice');
    if (name === 'correct') command.requiredOption('--reason <reason>', 'for the audit log');
    else command.option('--reason <reason>', 'for the audit log');
    command.action((project: string, amount: number, { reason, idempotencyKey }: MoneyOptions) =>
      admin.print({
        method: 'POST',
        path: pathOf('projects', project, resource),
        body: { amount, reason },
        idempotencyKey,
      }),
    );
  }
  credit
    .command('reset-threshold')
    .description('set the count against the spending threshold to zero')
    .argument('<project>', 'id or slug')
    .action((project: string) =>
      admin.print({ method: 'POST', path: pathOf('projects', project, 'threshold-resets') }),
    );
  paged(
    program
      .command('statement')
      .description('read the statement of a project')
      .argument('<project>', 'id or slug')
      .option('--csv', 'the whole statement as csv'),
  ).action(async (project: string, { csv = false, ...options }: PageOptions & { csv?: boolean }) => {
    if (!csv) return admin.printPage(pathOf('projects', project, 'statement'), options, STATEMENT);
    return admin.printText({ path: pathOf('projects', project, 'statement.csv') });
  });
}
