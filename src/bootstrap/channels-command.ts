import { SystemClock } from '../adapters/node/system-clock.ts';
import { PinoLogger } from '../adapters/pino/pino-logger.ts';
import { IN_MEMORY_SQLITE, SECRET_KEY_BYTES } from './config.ts';
import { buildContainer } from './container.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { type CommandOutput, closeRoots, commandLine, withConfig } from './operator-command.ts';
import { resolveRoots } from './roots.ts';

/** A provider is not well. */
export const EXIT_PROVIDER_NOT_WELL = 1;

/**
 * Tries the credentials of every provider of live projects, and sends nothing; neither a database nor a running service is
 * needed. Prints a line for each. Resolves with the exit code: 0 when all are well, `EXIT_PROVIDER_NOT_WELL`, `EXIT_USAGE`, or
 * `EXIT_CONFIGURATION`.
 */
export async function runChannelsCommand(
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  output: CommandOutput,
): Promise<number> {
  const [command, ...rest] = given;
  if (command !== 'check' || rest.length > 0) {
    const line = commandLine(environment, 'channels', 'check');
    output.error(`usage: ${line}\nIt tries the credentials of every provider, and sends nothing.`);
    return EXIT_USAGE;
  }
  return withConfig(environment, output, async (config) => {
    const roots = resolveRoots(
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
      const live = roots.channelProviders.live();
      if (live.length === 0) output.print('channels: live projects have none; see docs/channels.md');
      const healths = await Promise.all(live.map(({ provider }) => provider.check()));
      for (const [index, { channel, provider }] of live.entries()) {
        const { ok = false, detail = '' } = healths[index] ?? {};
        output.print(`${channel} ${provider.name}: ${ok ? 'ok' : 'NOT OK'}, ${detail}`);
      }
      return healths.every(({ ok }) => ok) ? 0 : EXIT_PROVIDER_NOT_WELL;
    } finally {
      await closeRoots(roots);
    }
  });
}
