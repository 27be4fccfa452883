import { SystemClock } from '../adapters/node/system-clock.ts';
import { PinoLogger } from '../adapters/pino/pino-logger.ts';
import { VerifyLedger } from '../application/billing/verify-ledger.ts';
import { describeDifference } from '../domain/billing/ledger.ts';
import { ConfigError, EXIT_CONFIGURATION, readConfig } from './config.ts';
import { secretKeyFor } from './secret-key.ts';
import { buildContainer } from './service.ts';
import { adapters } from './tokens.ts';

/**
 * Recomputes every balance from the ledger entries, and looks for jobs that were set aside, which may hold money:
 * exit code 0 when all is well, 1 when it is not.
 */
try {
  const config = readConfig(process.env);
  const container = buildContainer({
    database: config.database,
    queue: { kind: 'memory' },
    secretKey: secretKeyFor(config),
    egress: config.egress,
    clock: new SystemClock(),
    logger: new PinoLogger({ level: config.logLevel }),
  });
  const { projects, differences, deadJobs, latestDead } = await container.get(VerifyLedger).execute();
  for (const difference of differences) console.log(describeDifference(difference));
  for (const { id, reason, buriedAt } of latestDead) {
    console.log(`job ${id} was set aside at ${new Date(buriedAt).toISOString()}: ${reason}`);
  }
  console.log(
    `verify: ${projects} projects, ${differences.length} differences, ${deadJobs} jobs set aside as dead`,
  );
  await container.get(adapters.database).close();
  process.exitCode = differences.length === 0 && deadJobs === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(`Barid cannot verify:\n${error.message}`);
  process.exitCode = EXIT_CONFIGURATION;
}
