import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { AdminClient, AdminCommandError, type AdminRequest, DEFAULT_URL } from './admin-client.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import type { CommandOutput } from './operator-command.ts';
import { fieldLines, tableLines } from './text-table.ts';

type Fields = Readonly<Record<string, unknown>>;

interface PageOptions {
  readonly limit?: string;
  readonly cursor?: string;
}

interface MoneyOptions {
  readonly reason?: string;
  readonly idempotencyKey?: string;
}

interface Columns {
  /** The name of the list in a page. */
  readonly list: string;
  readonly columns: readonly string[];
}

const PROJECTS: Columns = {
  list: 'projects',
  columns: ['id', 'slug', 'name', 'environment', 'credit', 'held', 'archivedAt'],
};
const KEYS: Columns = {
  list: 'keys',
  columns: ['id', 'prefix', 'lastFour', 'status', 'createdAt', 'endsAt', 'revokedAt'],
};
const STATEMENT: Columns = { list: 'lines', columns: ['at', 'kind', 'reference', 'amount', 'balance'] };
const AUDIT: Columns = {
  list: 'records',
  columns: ['at', 'actor', 'action', 'project', 'before', 'after'],
};

/**
 * `barid admin`: the admin interface of a running service in commands. Resolves with the exit code: 0; 1 when the service rejects
 * the request; `EXIT_USAGE` for words it does not know and without a token; `EXIT_UNAVAILABLE` when the service is away.
 */
export async function runAdminCommand(
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  output: CommandOutput,
): Promise<number> {
  try {
    await new AdminProgram(environment, output).run(given);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    if (!(error instanceof AdminCommandError)) throw error;
    output.error(error.message);
    return error.exitCode;
  }
}

class AdminProgram {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #output: CommandOutput;
  readonly #program: Command;

  constructor(environment: Readonly<Record<string, string | undefined>>, output: CommandOutput) {
    this.#environment = environment;
    this.#output = output;
    this.#program = new Command('barid admin')
      .description('Projects, keys and money of a running service. Needs ADMIN_TOKEN of the service.')
      .option('--url <url>', 'where the service is', DEFAULT_URL)
      .option('--json', 'print the reply as JSON')
      .configureOutput({
        writeOut: (text) => output.print(text.trimEnd()),
        writeErr: (text) => output.error(text.trimEnd()),
      })
      .exitOverride();
    this.#addProjects();
    this.#addKeys();
    this.#addMoney();
    this.#addAudit();
  }

  async run(given: readonly string[]): Promise<void> {
    await this.#program.parseAsync([...given], { from: 'user' });
  }

  #addProjects(): void {
    const projects = this.#group('projects', 'make, list and change projects');
    paged(projects.command('list').description('list the projects')).action((options: PageOptions) =>
      this.#printPage('/projects', options, PROJECTS),
    );
    withSettings(
      projects
        .command('create')
        .description('make a project')
        .argument('<slug>', '1 to 60 of a-z, 0-9 and -')
        .requiredOption('--name <name>', 'for people')
        .requiredOption('--environment <environment>', 'dev or live')
        .option('--payment-type <type>', 'prepaid or postpaid')
        .option('--trial <number>', 'until the first top-up it sends to this number only', toTrial),
    ).action((slug: string, options: Fields) =>
      this.#print({ method: 'POST', path: '/projects', body: { slug, ...options } }),
    );
    projects
      .command('show')
      .description('show a project with its money and settings')
      .argument('<project>', 'id or slug')
      .action((project: string) => this.#print({ path: pathOf('projects', project) }));
    withSettings(
      projects
        .command('set')
        .description('change the name, settings or threshold of a project')
        .argument('<project>', 'id or slug')
        .option('--name <name>', 'for people'),
    ).action((project: string, options: Fields) =>
      this.#print({ method: 'PATCH', path: pathOf('projects', project), body: options }),
    );
    projects
      .command('archive')
      .description('reject the keys of a project for ever')
      .argument('<project>', 'id or slug')
      .action((project: string) =>
        this.#print({ method: 'POST', path: pathOf('projects', project, 'archive') }),
      );
  }

  #addKeys(): void {
    const keys = this.#group('keys', 'make, list and end API keys');
    keys
      .command('create')
      .description('make a key; it is shown once')
      .argument('<project>', 'id or slug')
      .action((project: string) =>
        this.#print({ method: 'POST', path: pathOf('projects', project, 'keys') }),
      );
    paged(
      keys.command('list').description('list the keys of a project').argument('<project>', 'id or slug'),
    ).action((project: string, options: PageOptions) =>
      this.#printPage(pathOf('projects', project, 'keys'), options, KEYS),
    );
    keys
      .command('revoke')
      .description('reject a key from now on')
      .argument('<project>', 'id or slug')
      .argument('<key>', 'the id of the key')
      .action((project: string, key: string) =>
        this.#print({ method: 'POST', path: pathOf('projects', project, 'keys', key, 'revoke') }),
      );
    keys
      .command('rotate')
      .description('replace a key by a new one; the old one works on for a day')
      .argument('<project>', 'id or slug')
      .argument('<key>', 'the id of the key')
      .option('--overlap-minutes <minutes>', 'how long the old key works on', toNumber)
      .action((project: string, key: string, options: Fields) =>
        this.#print({
          method: 'POST',
          path: pathOf('projects', project, 'keys', key, 'rotate'),
          body: options,
        }),
      );
  }

  #addMoney(): void {
    const credit = this.#group('credit', 'add credit, correct it, reset the threshold');
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
        this.#print({
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
        this.#print({ method: 'POST', path: pathOf('projects', project, 'threshold-resets') }),
      );
    paged(
      this.#program
        .command('statement')
        .description('read the statement of a project')
        .argument('<project>', 'id or slug')
        .option('--csv', 'the whole statement as csv'),
    ).action(async (project: string, { csv = false, ...options }: PageOptions & { csv?: boolean }) => {
      if (!csv) return this.#printPage(pathOf('projects', project, 'statement'), options, STATEMENT);
      const text = await this.#client().text({ path: pathOf('projects', project, 'statement.csv') });
      this.#output.print(text.trimEnd());
    });
  }

  #addAudit(): void {
    paged(
      this.#program
        .command('audit')
        .description('list the changes of operators')
        .option('--project <project>', 'only changes of this project: id or slug'),
    ).action(({ project, ...options }: PageOptions & { project?: string }) =>
      this.#printPage('/audit', options, AUDIT, { project }),
    );
  }

  #group(name: string, description: string): Command {
    return this.#program.command(name).description(description);
  }

  #client(): AdminClient {
    return new AdminClient(this.#options().url, this.#environment);
  }

  #options(): { readonly url: string; readonly json?: boolean } {
    return this.#program.opts();
  }

  /** Prints one thing: its fields, one to a line. */
  async #print(request: AdminRequest): Promise<void> {
    const reply = await this.#client().json(request);
    this.#printLines(reply, () => fieldLines(reply as Fields));
  }

  /** Prints one page of a list, and how to get the next one. */
  async #printPage(
    path: string,
    { limit, cursor }: PageOptions,
    { list, columns }: Columns,
    query: AdminRequest['query'] = {},
  ): Promise<void> {
    const reply = (await this.#client().json({ path, query: { limit, cursor, ...query } })) as Fields;
    this.#printLines(reply, () => tableLines(columns, reply[list] as readonly Fields[]));
    const { next } = reply;
    if (typeof next === 'string' && this.#options().json !== true) {
      this.#output.error(`there is more: --cursor ${next}`);
    }
  }

  #printLines(reply: unknown, lines: () => readonly string[]): void {
    const isJson = this.#options().json === true;
    for (const line of isJson ? [JSON.stringify(reply)] : lines()) this.#output.print(line);
  }
}

function paged(command: Command): Command {
  return command
    .option('--limit <entries>', 'entries of a page, 1 to 500')
    .option('--cursor <cursor>', 'where the page begins');
}

/** The options have the names of the fields of a body. */
function withSettings(command: Command): Command {
  return command
    .option('--spending-threshold <amount>', 'in IQD, or off', toAmountOrOff)
    .option('--rate-limit <sends/minutes>', 'of one phone number, such as 5/10, or off', toRateLimit)
    .option('--address-rate-limit <sends/minutes>', 'of one client address, or off', toRateLimit)
    .option('--allowed-ips <list>', 'addresses and ranges between commas; none allows all', toList)
    .option('--ip-rule-scope <scope>', 'resources or all')
    .option('--settlement <rule>', 'quoted or delivered')
    .option('--billing-units <rule>', 'flat140 or gsm0338')
    .option('--language <language>', 'of verification texts: ar, ckb or en')
    .option('--attempt-timeout-seconds <codes/others>', 'such as 30/300', toTimeouts);
}

function pathOf(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

function toNumber(text: string): number {
  if (/^-?[0-9]+(\.[0-9]+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a number, such as 15000 or 0.5.');
}

function toAmountOrOff(text: string): number | 'off' {
  return text === 'off' ? 'off' : toNumber(text);
}

function toRateLimit(text: string): Fields | 'off' {
  if (text === 'off') return 'off';
  const [maxRequests, timeWindowMinutes] = pairOf(text);
  return { maxRequests, timeWindowMinutes };
}

function toTimeouts(text: string): Fields {
  const [verification, other] = pairOf(text);
  return { verification, other };
}

function pairOf(text: string): readonly [number, number] {
  const [, first, second] = /^([0-9]{1,9})\/([0-9]{1,9})$/.exec(text) ?? [];
  if (first === undefined || second === undefined) {
    throw new InvalidArgumentError('It is two whole numbers, such as 5/10.');
  }
  return [Number(first), Number(second)];
}

function toList(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function toTrial(ownPhoneNumber: string): Fields {
  return { ownPhoneNumber };
}
