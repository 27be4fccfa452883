import { SystemClock } from '../adapters/node/system-clock.ts';
import { PinoLogger } from '../adapters/pino/pino-logger.ts';
import { type Config, ConfigError, IN_MEMORY_SQLITE, readConfig, SECRET_KEY_BYTES } from './config.ts';
import { buildContainer } from './container.ts';
import { EXIT_CONFIGURATION } from './exit-codes.ts';
import type { CommandOutput } from './operator-command.ts';
import { resolveRoots } from './roots.ts';

/**
 * Tries the credentials of every provider of live projects, and sends nothing; neither a database nor a running service is
 * needed. Prints a line for each, and resolves with the exit code: 0 when all are well, 1 when one is not,
 * `EXIT_CONFIGURATION` when the configuration cannot be read.
 */
export async function checkChannels(
  environment: Readonly<Record<string, string | undefined>>,
  { print, error }: CommandOutput,
): Promise<number> {
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (problem) {
    if (!(problem instanceof ConfigError)) throw problem;
    error(`Barid cannot read its configuration:\n${problem.message}`);
    return EXIT_CONFIGURATION;
  }
  const { channelProviders, database } = resolveRoots(
    buildContainer({
      database: { kind: 'sqlite', filename: IN_MEMORY_SQLITE },
      queue: { kind: 'memory' },
      providers: config.providers,
      // Nothing is stored.
      secretKey: Buffer.alloc(SECRET_KEY_BYTES),
      egress: config.egress,
      clock: new SystemClock(),
      logger: new PinoLogger({ level: config.logLevel }),
    }),
  );
  try {
    const live = channelProviders.live();
    if (live.length === 0) print('channels: live projects have none; see docs/channels.md');
    const healths = await Promise.all(live.map(({ provider }) => provider.check()));
    for (const [index, { channel, provider }] of live.entries()) {
      const { ok = false, detail = '' } = healths[index] ?? {};
      print(`${channel} ${provider.name}: ${ok ? 'ok' : 'NOT OK'}, ${detail}`);
    }
    return healths.every(({ ok }) => ok) ? 0 : 1;
  } finally {
    await Promise.all(channelProviders.all().map((provider) => provider.close()));
    await database.close();
  }
}
