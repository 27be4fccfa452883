import { rejectionError } from '../../adapters/http/replies/rejection-errors.ts';
import { SystemClock } from '../../adapters/node/system-clock.ts';
import { LogOutput } from '../../adapters/pino/log-output.ts';
import { PinoLogger } from '../../adapters/pino/pino-logger.ts';
import { Rejected } from '../../application/errors/rejected.ts';
import { StorageUnavailable, StorageUnwritable } from '../../application/errors/storage-unavailable.ts';
import type { Clock } from '../../application/ports/clock.ts';
import { type Config, ConfigError, readConfig } from '../config/config.ts';
import { isStillToBeMade } from '../config/database-place.ts';
import { secretKeyFor } from '../config/secret-key.ts';
import { unknownSettings } from '../config/unknown-variables.ts';
import { buildContainer } from '../container.ts';
import { EXIT_CONFIGURATION, EXIT_NOT_DONE, EXIT_UNAVAILABLE } from '../exit-codes.ts';
import { type Roots, resolveRoots } from '../roots.ts';
import type { CommandOutput } from './console/command-output.ts';

/** Said by every command that needs the tables of the service. */
export const NO_TABLES =
  'Barid finds no tables in its database: check DATABASE_URL, or start the service on it first';

/**
 * Does `work` with the configuration of the service. Says first which variables look like settings and are none. Resolves with
 * its exit code, or with `EXIT_CONFIGURATION` after a line that says what is wrong.
 */
export async function withConfig(
  environment: Readonly<Record<string, string | undefined>>,
  output: Pick<CommandOutput, 'error'>,
  work: (config: Config) => Promise<number>,
): Promise<number> {
  for (const { name, suggestion } of unknownSettings(environment)) {
    const meant = suggestion === null ? '' : `; ${suggestion} was probably meant`;
    output.error(`${name} is no setting of Barid${meant}`);
  }
  try {
    return await work(readConfig(environment));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    output.error(`Barid cannot read its configuration:\n${error.message}`);
    return EXIT_CONFIGURATION;
  }
}

/** The log of a command goes to standard error: standard output has its result. */
export function commandLogger({ logLevel }: Config): PinoLogger {
  return new PinoLogger({ level: logLevel, destination: new LogOutput(process.stderr) });
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
 * Runs an operator's command on the service's database, which the service may be using meanwhile. Reads the same configuration
 * as the service. Resolves with the exit code: what `work` resolves with, `EXIT_NOT_DONE` when it is rejected,
 * `EXIT_CONFIGURATION` or `EXIT_UNAVAILABLE`; these say why on a line. Without a statement timeout it may read as long as it
 * needs.
 */
export async function runOperatorCommand(
  environment: Readonly<Record<string, string | undefined>>,
  output: Pick<CommandOutput, 'error'>,
  work: (roots: Roots) => Promise<number>,
  {
    clock = new SystemClock(),
    hasStatementTimeout = true,
  }: { readonly clock?: Clock | undefined; readonly hasStatementTimeout?: boolean } = {},
): Promise<number> {
  return withConfig(environment, output, (config) =>
    runOnDatabase(hasStatementTimeout ? config : withoutStatementTimeout(config), output, work, clock),
  );
}

function withoutStatementTimeout(config: Config): Config {
  const { database } = config;
  return database.kind === 'postgres'
    ? { ...config, database: { ...database, statementTimeoutMs: null } }
    : config;
}

/** The roots of a command on the database of `config`: nothing is started. To be closed with `closeRoots`. */
export function openRoots(config: Config, clock: Clock = new SystemClock()): Roots {
  return resolveRoots(
    buildContainer({
      database: config.database,
      queue: { kind: 'memory' },
      channels: config.channels,
      secretKey: secretKeyFor(config),
      egress: config.egress,
      reports: config.reports,
      clock,
      logger: commandLogger(config),
    }),
  );
}

/** Resolves with the exit code of `work`, or with `EXIT_UNAVAILABLE` after a line that says why the database is. */
export async function withDatabase(
  output: Pick<CommandOutput, 'error'>,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    const isFull = error instanceof StorageUnwritable;
    output.error(
      isFull
        ? `Barid cannot change its database: ${error.reason}`
        : `Barid cannot use its database: ${error.message}`,
    );
    return EXIT_UNAVAILABLE;
  }
}

async function runOnDatabase(
  config: Config,
  output: Pick<CommandOutput, 'error'>,
  work: (roots: Roots) => Promise<number>,
  clock: Clock,
): Promise<number> {
  return withDatabase(output, async () => {
    // Opened, a missing file would be made, and a secret key beside it.
    if (isStillToBeMade(config.database)) {
      output.error(NO_TABLES);
      return EXIT_UNAVAILABLE;
    }
    const roots = openRoots(config, clock);
    try {
      if (await roots.database.hasTables()) return await work(roots);
      output.error(NO_TABLES);
      return EXIT_UNAVAILABLE;
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      output.error(rejectionError(error.rejection).text);
      return EXIT_NOT_DONE;
    } finally {
      await closeRoots(roots);
    }
  });
}
