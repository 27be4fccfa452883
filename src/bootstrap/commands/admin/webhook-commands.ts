import type { Command } from 'commander';
import { type AdminConsole, type Columns, type PageOptions, paged, pathOf } from './admin-console.ts';

const EVENTS: Columns = {
  list: 'events',
  columns: [
    'id',
    'kind',
    'message',
    'endpoint',
    'state',
    'attempts',
    'createdAt',
    'nextAttemptAt',
    'lastError',
  ],
};
const CIRCUITS: Columns = {
  list: 'circuits',
  columns: ['project', 'endpoint', 'state', 'since', 'until', 'lastError'],
};

interface LogOptions extends PageOptions {
  readonly project?: string;
  readonly endpoint?: string;
  readonly state?: string;
  readonly whatsappPhoneId?: string;
  readonly from?: string;
  readonly to?: string;
}

/** `barid admin webhooks`. */
export function addWebhookCommands(program: Command, admin: AdminConsole): void {
  const webhooks = program.command('webhooks').description('read the log of webhooks, and send events again');
  paged(
    webhooks
      .command('events')
      .description('list webhook events, the newest first')
      .option('--project <project>', 'only events of this project: id or slug')
      .option('--endpoint <endpoint>', 'only events to this host, port and path')
      .option('--state <state>', 'only events in this state')
      .option('--whatsapp-phone-id <id>', 'only inbound events of this whatsapp number')
      .option('--from <instant>', 'the first instant, ISO 8601')
      .option('--to <instant>', 'the last instant, ISO 8601'),
  ).action(({ limit, cursor, ...filter }: LogOptions) =>
    admin.printPage(pathOf('webhooks', 'events'), { limit, cursor }, EVENTS, { ...filter }),
  );
  webhooks
    .command('show')
    .description('show a webhook event with its delivery attempts')
    .argument('<event>', 'the id of the event')
    .action((event: string) => admin.print({ path: pathOf('webhooks', 'events', event) }));
  webhooks
    .command('resend')
    .description('make a webhook event due at once')
    .argument('<event>', 'the id of the event')
    .action((event: string) =>
      admin.print({ method: 'POST', path: pathOf('webhooks', 'events', event, 'resend') }),
    );
  webhooks
    .command('resend-failed')
    .description('send a slice of the discarded events of an endpoint again')
    .argument('<project>', 'id or slug')
    .argument('<endpoint>', 'host, port and path')
    .option('--after <event>', '`next` of the command before')
    .action((project: string, endpoint: string, { after }: { readonly after?: string }) =>
      admin.print({
        method: 'POST',
        path: pathOf('webhooks', 'resends'),
        body: { project, endpoint, ...(after === undefined ? {} : { after }) },
      }),
    );
  paged(
    webhooks
      .command('circuits')
      .description('list the destinations whose circuit is open')
      .option('--project <project>', 'only destinations of this project: id or slug'),
  ).action(({ project, ...options }: PageOptions & { project?: string }) =>
    admin.printPage(pathOf('webhooks', 'circuits'), options, CIRCUITS, { project }),
  );
  webhooks
    .command('close-circuit')
    .description('attempt the due events of a destination now')
    .argument('<project>', 'id or slug')
    .argument('<endpoint>', 'host, port and path')
    .action((project: string, endpoint: string) =>
      admin.print({
        method: 'POST',
        path: pathOf('webhooks', 'circuits', 'close'),
        body: { project, endpoint },
      }),
    );
}
