import type { Clock } from '../../../application/ports/clock.ts';
import type { Config } from '../../config/config.ts';
import type { Roots } from '../../roots.ts';
import type { CommandOutput } from './command-output.ts';
import { escaped, tableLines } from './text-table.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How a list of a command is printed. */
export interface RowPrinting<Row> {
  readonly columns: readonly string[];
  /** The line of a row when no terminal reads it. */
  readonly lineOf: (row: Row) => string;
}

/** What the commands share: where they print to, how, and what they work on. */
export class CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly output: CommandOutput;
  /** Of the command that ran. */
  exitCode = 0;
  readonly #isJson: () => boolean;
  readonly #clock: Clock | undefined;

  /** `isJson` is called when the words of the command are known. */
  constructor({
    environment,
    output,
    isJson,
    clock,
  }: {
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly output: CommandOutput;
    readonly isJson: () => boolean;
    readonly clock: Clock | undefined;
  }) {
    this.environment = environment;
    this.output = output;
    this.#isJson = isJson;
    this.#clock = clock;
  }

  get isJson(): boolean {
    return this.#isJson();
  }

  /** The action of a command: `work` resolves with the exit code. */
  action<Given extends readonly unknown[]>(
    work: (...given: Given) => Promise<number>,
  ): (...given: Given) => Promise<void> {
    return async (...given) => {
      this.exitCode = await work(...given);
    };
  }

  /** Prints the value in one line with `--json`, else the lines. */
  print(value: unknown, lines: () => readonly string[]): void {
    for (const line of this.isJson ? [JSON.stringify(value)] : lines()) this.output.print(line);
  }

  /** Prints a list: one JSON array with `--json`, a table at a terminal, else a line for each row. */
  printRows<Row extends object>(rows: readonly Row[], { columns, lineOf }: RowPrinting<Row>): void {
    const isTable = this.output.isTerminal === true && rows.length > 0;
    this.print(rows, () =>
      isTable ? tableLines(columns, rows as readonly Fields[]) : rows.map((row) => escaped(lineOf(row))),
    );
  }

  /** As `runOperatorCommand`. What it needs is loaded now: `--help` does not wait for it. */
  async onDatabase(
    work: (roots: Roots) => Promise<number>,
    options: { readonly hasStatementTimeout?: boolean } = {},
  ): Promise<number> {
    const { runOperatorCommand } = await import('../on-database.ts');
    return runOperatorCommand(this.environment, this.output, work, { clock: this.#clock, ...options });
  }

  /** As `withConfig`. */
  async withConfig(work: (config: Config) => Promise<number>): Promise<number> {
    const { withConfig } = await import('../on-database.ts');
    return withConfig(this.environment, this.output, work);
  }
}
