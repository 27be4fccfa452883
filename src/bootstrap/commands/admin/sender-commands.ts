import type { Command } from 'commander';
import { MOBILE_OPERATORS, type MobileOperator } from '../../../domain/shared/phone-number.ts';
import { type AdminConsole, type Columns, type PageOptions, paged, pathOf } from './admin-console.ts';
import { toNumber } from './project-options.ts';

const SENDER_IDS: Columns = {
  list: 'senderIds',
  columns: ['id', 'project', 'senderId', 'status', 'reason', 'pricePerSms'],
};

const RECIPIENTS: Readonly<Record<MobileOperator, string>> = {
  korekTelecom: 'Korek',
  asiaCell: 'Asiacell',
  zainIraq: 'Zain',
  others: 'every other number in Iraq',
};

/** An option for each mobile operator; the options have the names of the fields of a body. */
const PRICES = MOBILE_OPERATORS.map((name) => {
  const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return [`--${option} <price>`, `of an sms to ${RECIPIENTS[name]}, in IQD`] as const;
});

type Prices = Readonly<Record<string, number>>;

/** `barid admin senders`. */
export function addSenderCommands(program: Command, admin: AdminConsole): void {
  const senders = program.command('senders').description('sender IDs: decide about them, and price them');
  paged(
    senders
      .command('list')
      .description('list the sender IDs of a project, or of all projects')
      .argument('[project]', 'id or slug')
      .option('--status <status>', 'only pending, accepted or rejected ones'),
  ).action((project: string | undefined, { status, ...options }: PageOptions & { status?: string }) =>
    admin.printPage(project === undefined ? pathOf('sender-ids') : pathTo(project), options, SENDER_IDS, {
      status,
    }),
  );
  const ofSender = (name: string, description: string, sender = 'id or name of the sender ID') =>
    senders
      .command(name)
      .description(description)
      .argument('<project>', 'id or slug')
      .argument('<sender>', sender);

  const request = ofSender(
    'request',
    'add a sender ID that waits for a decision; takes all four prices',
    'the name, 1 to 11 characters',
  );
  for (const [flags, description] of PRICES) request.requiredOption(flags, description, toNumber);
  request.action((project: string, senderId: string, pricePerSms: Prices) =>
    admin.print({ method: 'POST', path: pathTo(project), body: { senderId, pricePerSms } }),
  );

  ofSender('approve', 'approve a sender ID; a rejection is taken back').action(
    (project: string, sender: string) =>
      admin.print({ method: 'POST', path: pathTo(project, sender, 'approve') }),
  );
  ofSender('reject', 'reject a sender ID; an approval is taken back')
    .requiredOption('--reason <reason>', 'for operators')
    .action((project: string, sender: string, { reason }: { readonly reason: string }) =>
      admin.print({ method: 'POST', path: pathTo(project, sender, 'reject'), body: { reason } }),
    );

  const price = ofSender('price', 'change prices of a sender ID; a price that is left out stays');
  for (const [flags, description] of PRICES) price.option(flags, description, toNumber);
  price.action((project: string, sender: string, pricePerSms: Prices) =>
    admin.print({ method: 'PATCH', path: pathTo(project, sender), body: { pricePerSms } }),
  );
}

function pathTo(project: string, ...parts: readonly string[]): string {
  return pathOf('projects', project, 'sender-ids', ...parts);
}
