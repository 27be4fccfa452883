import { escaped } from './text-table.ts';

/** Where a command writes to; a line each. */
export interface CommandOutput {
  readonly print: (line: string) => void;
  readonly error: (line: string) => void;
  /** Whether a person reads what is printed. False by default. */
  readonly isTerminal?: boolean;
  /** Writes over the present line of a terminal; absent where progress is not shown. */
  readonly progress?: (text: string) => void;
}

/** To standard error, line by line, with what a terminal would obey as escapes: a mistake quotes what was given. */
export function printError(text: string): void {
  console.error(text.split('\n').map(escaped).join('\n'));
}

/** To the terminal. A reader that closed its end, as `| head` does, is no error. */
export function consoleOutput(): CommandOutput {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return {
    print: console.log,
    error: printError,
    isTerminal: process.stdout.isTTY === true,
    ...(process.stderr.isTTY ? { progress: (text: string) => void process.stderr.write(text) } : {}),
  };
}
