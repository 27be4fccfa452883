import type { Command } from 'commander';
import type { CommandContext } from '../console/command-context.ts';
import { urlOption } from '../console/service-address.ts';
import { AdminConsole } from './admin-console.ts';
import { addAuditCommands } from './audit-commands.ts';
import { addCreditCommands } from './credit-commands.ts';
import { addInboundWebhookCommands } from './inbound-webhook-commands.ts';
import { addJobCommands } from './job-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addMessageCommands } from './message-commands.ts';
import { addPriceCommands } from './price-commands.ts';
import { addProjectCommands } from './project-commands.ts';
import { addSenderCommands } from './sender-commands.ts';
import { addWebhookCommands } from './webhook-commands.ts';
import { addWhatsappCommands } from './whatsapp-commands.ts';

/** A group of commands: a file each, and a line here. */
const GROUPS: readonly ((program: Command, admin: AdminConsole) => void)[] = [
  addProjectCommands,
  addKeyCommands,
  addCreditCommands,
  addSenderCommands,
  addPriceCommands,
  addWhatsappCommands,
  addInboundWebhookCommands,
  addJobCommands,
  addMessageCommands,
  addWebhookCommands,
  addAuditCommands,
];

/** `barid admin`: the admin interface of a running service in commands. */
export function addAdminCommands(program: Command, context: CommandContext): void {
  const group = program
    .command('admin')
    .description(
      'projects, keys, money, sender IDs, prices, jobs, messages and webhooks of a running service; needs ADMIN_TOKEN, or ADMIN_TOKEN_FILE, of the service',
    )
    .addOption(urlOption(context));
  const admin = new AdminConsole(context, () => group.opts<{ url: string }>().url);
  for (const addCommands of GROUPS) addCommands(group, admin);
}
