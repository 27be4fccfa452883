import type { Clock } from '../../src/application/ports/clock.ts';
import { runBarid } from '../../src/bootstrap/commands/program.ts';

/** Runs a command of `barid` in this process. Resolves with its exit code and the lines that it printed. */
export async function barid(
  given: readonly string[],
  {
    environment = {},
    clock,
    isTerminal = false,
    onError = () => undefined,
  }: {
    readonly environment?: Readonly<Record<string, string | undefined>>;
    readonly clock?: Clock;
    readonly isTerminal?: boolean;
    /** Is told of each line on standard error. */
    readonly onError?: (line: string) => void;
  } = {},
) {
  const printed: string[] = [];
  const errors: string[] = [];
  const output = {
    print: (line: string) => printed.push(line),
    error: (line: string) => {
      errors.push(line);
      onError(line);
    },
    isTerminal,
  };
  const code = await runBarid(given, environment, output, clock);
  return { code, printed, errors, text: printed.join('\n') };
}
