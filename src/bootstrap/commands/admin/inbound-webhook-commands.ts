import type { Command } from 'commander';
import {
  type AdminConsole,
  type Columns,
  type Fields,
  type PageOptions,
  paged,
  pathOf,
} from './admin-console.ts';
import { toNumber } from './project-options.ts';

const WEBHOOKS: Columns = {
  list: 'inboundWebhooks',
  columns: ['whatsappPhoneId', 'url', 'overlapEndsAt'],
};

/** `barid admin inbound-webhooks`. */
export function addInboundWebhookCommands(program: Command, admin: AdminConsole): void {
  const webhooks = program
    .command('inbound-webhooks')
    .description('where messages to whatsapp numbers go, and the secrets that sign them');
  const ofNumber = (name: string, description: string) =>
    webhooks
      .command(name)
      .description(description)
      .argument('<project>', 'id or slug')
      .argument('<number>', 'the 24-hex id of the number, see whatsapp show');
  ofNumber('create', 'give a number a webhook; its secret is shown once')
    .argument('<url>', 'where its messages go')
    .action((project: string, whatsappPhoneId: string, url: string) =>
      admin.print({ method: 'POST', path: pathTo(project), body: { whatsappPhoneId, url } }),
    );
  paged(
    webhooks
      .command('list')
      .description('list the webhooks of a project')
      .argument('<project>', 'id or slug'),
  ).action((project: string, options: PageOptions) => admin.printPage(pathTo(project), options, WEBHOOKS));
  ofNumber('set', 'give a webhook another address; what waits goes there too')
    .argument('<url>', 'where its messages go')
    .action((project: string, number: string, url: string) =>
      admin.print({ method: 'PATCH', path: pathTo(project, number), body: { url } }),
    );
  ofNumber('remove', 'remove a webhook; what waits is discarded').action((project: string, number: string) =>
    admin.print({ method: 'DELETE', path: pathTo(project, number) }),
  );
  ofNumber('rotate-secret', 'replace the secret by a new one; the old one signs too for a day')
    .option(
      '--overlap-minutes <minutes>',
      'how long the old secret signs too; 0 replaces every secret at once',
      toNumber,
    )
    .action((project: string, number: string, options: Fields) =>
      admin.print({ method: 'POST', path: pathTo(project, number, 'rotate-secret'), body: options }),
    );
}

function pathTo(project: string, ...parts: readonly string[]): string {
  return pathOf('projects', project, 'inbound-webhooks', ...parts);
}
