import { SystemClock } from '../adapters/node/system-clock.ts';
import { PinoLogger } from '../adapters/pino/pino-logger.ts';
import { ConfigError, EXIT_CONFIGURATION, readConfig } from './config.ts';
import { secretKeyFor } from './secret-key.ts';
import { buildContainer } from './service.ts';
import { adapters, ports } from './tokens.ts';

/** Makes every job that was set aside due at once; the running service does them. */
try {
  const config = readConfig(process.env);
  const clock = new SystemClock();
  const container = buildContainer({
    database: config.database,
    queue: { kind: 'memory' },
    secretKey: secretKeyFor(config),
    egress: config.egress,
    clock,
    logger: new PinoLogger({ level: config.logLevel }),
  });
  try {
    const revived = await container.get(ports.unitOfWork).run((stores) => stores.jobs.revive(clock.now()));
    console.log(`revive: ${revived} jobs are due again`);
  } finally {
    await container.get(adapters.database).close();
  }
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(`Barid cannot read its configuration:\n${error.message}`);
  process.exitCode = EXIT_CONFIGURATION;
}
