import { existsSync } from 'node:fs';
import { SystemClock } from '../adapters/node/system-clock.ts';
import { PinoLogger } from '../adapters/pino/pino-logger.ts';
import type { Clock } from '../application/ports/clock.ts';
import { StorageUnavailable, StorageUnwritable } from '../application/storage-unavailable.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { buildContainer } from './container.ts';
import { EXIT_CONFIGURATION, EXIT_UNAVAILABLE, EXIT_USAGE } from './exit-codes.ts';
import { type Roots, resolveRoots } from './roots.ts';
import { secretKeyFor } from './secret-key.ts';

const NO_TABLES =
  'Barid finds no tables in its database: check DATABASE_URL, or start the service on it first';

/** How a command is called: by the program of the package, or by the script of npm that has its name. */
export function commandLine(
  environment: Readonly<Record<string, string | undefined>>,
  name: string,
  args?: string,
): string {
  const isScript = environment.npm_lifecycle_event === name;
  if (args === undefined) return isScript ? `npm run ${name}` : `barid ${name}`;
  return isScript ? `npm run ${name} -- ${args}` : `barid ${name} ${args}`;
}

/** Where a command writes to; a line each. */
export interface CommandOutput {
  readonly print: (line: string) => void;
  readonly error: (line: string) => void;
}

/** To the terminal. A reader that closed its end, as `| head` does, is no error. */
export function consoleOutput(): CommandOutput {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return { print: console.log, error: console.error };
}

/**
 * Does `work` with the configuration of the service. Resolves with its exit code, or with `EXIT_CONFIGURATION` after a line
 * that says what is wrong.
 */
export async function withConfig(
  environment: Readonly<Record<string, string | undefined>>,
  output: Pick<CommandOutput, 'error'>,
  work: (config: Config) => Promise<number>,
): Promise<number> {
  try {
    return await work(readConfig(environment));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    output.error(`Barid cannot read its configuration:\n${error.message}`);
    return EXIT_CONFIGURATION;
  }
}

/** Closes what a command made: providers that were not started may have connections, too. */
export async function closeRoots({
  channelProviders,
  database,
}: Pick<Roots, 'channelProviders' | 'database'>): Promise<void> {
  await Promise.all(channelProviders.all().map((provider) => provider.close()));
  await database.close();
}

/**
 * Runs an operator's command on the service's database, which the service may be using meanwhile. Reads the
 * same configuration as the service. Resolves with the exit code: what `work` resolves with, `EXIT_CONFIGURATION`
 * or `EXIT_UNAVAILABLE`; both say why on a line.
 */
export async function runOperatorCommand(
  environment: Readonly<Record<string, string | undefined>>,
  output: Pick<CommandOutput, 'error'>,
  work: (roots: Roots) => Promise<number>,
  clock: Clock = new SystemClock(),
): Promise<number> {
  return withConfig(environment, output, (config) => runOnDatabase(config, output, work, clock));
}

async function runOnDatabase(
  config: Config,
  output: Pick<CommandOutput, 'error'>,
  work: (roots: Roots) => Promise<number>,
  clock: Clock,
): Promise<number> {
  try {
    if (!mayExist(config.database)) {
      output.error(NO_TABLES);
      return EXIT_UNAVAILABLE;
    }
    const roots = resolveRoots(
      buildContainer({
        database: config.database,
        queue: { kind: 'memory' },
        providers: config.providers,
        secretKey: secretKeyFor(config),
        egress: config.egress,
        reports: config.reports,
        clock,
        logger: new PinoLogger({ level: config.logLevel }),
      }),
    );
    try {
      if (await roots.database.isMigrated()) return await work(roots);
      output.error(NO_TABLES);
      return EXIT_UNAVAILABLE;
    } finally {
      await closeRoots(roots);
    }
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    const isFull = error instanceof StorageUnwritable;
    output.error(
      isFull
        ? `Barid cannot change its database: ${error.reason}`
        : `Barid cannot reach its database: ${error.message}`,
    );
    return EXIT_UNAVAILABLE;
  }
}

/** `runOperatorCommand` for a command that takes no argument: with one it does nothing but say so. */
export async function runPlainCommand(
  name: string,
  given: readonly string[],
  output: CommandOutput,
  work: (roots: Roots) => Promise<number>,
): Promise<number> {
  if (given.length === 0) return runOperatorCommand(process.env, output, work);
  output.error(
    `usage: ${commandLine(process.env, name)}\nIt takes no argument, and reads the configuration of the service.`,
  );
  return EXIT_USAGE;
}

/** SQLite creates a missing file when it is opened, and a secret key would be made beside it. */
function mayExist(database: Config['database']): boolean {
  return database.kind !== 'sqlite' || existsSync(database.filename);
}
