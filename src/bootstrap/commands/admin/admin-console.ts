import type { Command } from 'commander';
import { ADMIN_LIMIT_MAX } from '../../../adapters/http/limits.ts';
import { EXIT_USAGE } from '../../exit-codes.ts';
import type { CommandContext } from '../console/command-context.ts';
import { CommandError } from '../console/command-error.ts';
import { recordLines, tableLines } from '../console/text-table.ts';
import { AdminClient, type AdminRequest } from './admin-client.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The options of a list; `paged` adds them to its command. */
export interface PageOptions {
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

/** How a page of a list is printed. */
export interface Columns {
  /** The name of the list in a page. */
  readonly list: string;
  readonly columns: readonly string[];
  /** Lines below a row. */
  readonly details?: (row: Fields) => readonly string[];
}

/** What the commands of `barid admin` share: the requests to the service, and the way its replies are printed. */
export class AdminConsole {
  readonly #context: CommandContext;
  readonly #url: () => string;

  /** `url` is read at each request, when the words of the command are known. */
  constructor(context: CommandContext, url: () => string) {
    this.#context = context;
    this.#url = url;
  }

  /**
   * Prints the reply: its fields, one to a line, and its lists as tables, or other `lines`. Then `check` may throw what is wrong
   * with it. Throws `CommandError`, as all methods do.
   */
  async print(
    request: AdminRequest,
    lines: (reply: Fields) => readonly string[] = recordLines,
    check: (reply: Fields) => void = () => {},
  ): Promise<void> {
    const reply = (await this.#client().json(request)) as Fields;
    this.#context.print(reply, () => lines(reply));
    check(reply);
  }

  /** Prints one page of a list, and how to get the next one. `head` makes lines above it. */
  async printPage(
    path: string,
    { limit, cursor }: PageOptions,
    { list, columns, details }: Columns,
    query: AdminRequest['query'] = {},
    head: (reply: Fields) => readonly string[] = () => [],
  ): Promise<void> {
    const reply = (await this.#client().json({ path, query: { limit, cursor, ...query } })) as Fields;
    this.#context.print(reply, () => [
      ...head(reply),
      ...tableLines(columns, reply[list] as readonly Fields[], details),
    ]);
    const { next } = reply;
    if (typeof next === 'string' && !this.#context.isJson) {
      this.#context.output.error(`there is more: --cursor ${next}`);
    }
  }

  /** Prints the reply as it is. */
  async printText(request: AdminRequest): Promise<void> {
    const text = await this.#client().text(request);
    this.#context.output.print(text.trimEnd());
  }

  #client(): AdminClient {
    return new AdminClient(this.#url(), this.#context.environment);
  }
}

/** Adds the options of a list. */
export function paged(command: Command): Command {
  return command
    .option('--limit <entries>', `entries of a page, 1 to ${ADMIN_LIMIT_MAX}`)
    .option('--cursor <cursor>', 'where the page begins');
}

/** The path of a request, each part escaped. Throws `CommandError` for a part that an address reads as none, or as a way up. */
export function pathOf(...parts: readonly string[]): string {
  const dots = parts.find((part) => part === '' || part === '.' || part === '..');
  if (dots !== undefined) throw new CommandError(`"${dots}" is no id`, EXIT_USAGE);
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}
