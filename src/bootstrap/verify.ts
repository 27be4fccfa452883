import { SystemClock } from '../adapters/node/system-clock.ts';
import { PinoLogger } from '../adapters/pino/pino-logger.ts';
import { VerifyLedger } from '../application/billing/verify-ledger.ts';
import { toIqd } from '../domain/shared/money.ts';
import { ConfigError, EXIT_CONFIGURATION, readConfig } from './config.ts';
import { secretKeyFor } from './secret-key.ts';
import { buildContainer } from './service.ts';
import { adapters } from './tokens.ts';

/** Recomputes every balance from the ledger entries: exit code 0 when all agree, 1 when one does not. */
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
  const { projects, differences } = await container.get(VerifyLedger).execute();
  for (const { projectId, column, account, entries } of differences) {
    console.log(
      `project ${projectId}: ${column} is ${toIqd(account)} IQD, its entries say ${toIqd(entries)} IQD`,
    );
  }
  console.log(`verify: ${projects} projects, ${differences.length} differences`);
  await container.get(adapters.database).close();
  process.exitCode = differences.length === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(`Barid cannot verify:\n${error.message}`);
  process.exitCode = EXIT_CONFIGURATION;
}
