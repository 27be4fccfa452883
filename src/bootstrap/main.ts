import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers';
import { SystemClock } from '../adapters/node/system-clock.ts';
import { PinoLogger } from '../adapters/pino/pino-logger.ts';
import { SIMULATOR } from '../adapters/simulator/simulator.ts';
import { WrongSecretKey } from '../application/access/check-secret-key.ts';
import { DatabaseUnusable } from '../application/errors/database-unusable.ts';
import { codeOf } from '../application/errors/error-text.ts';
import { StorageLocked } from '../application/errors/storage-locked.ts';
import { StorageUnavailable, StorageUnwritable } from '../application/errors/storage-unavailable.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { Seed } from '../application/seed/apply-seed.ts';
import { SeedError } from '../application/seed/seed-error.ts';
import { CHANNELS, type Channel } from '../domain/shared/channel.ts';
import { printError } from './commands/console/command-output.ts';
import type { ChannelsConfig } from './config/channels-file.ts';
import { type Config, ConfigError, type ConfigMistake, NO_SEED, readConfig } from './config/config.ts';
import { makeDatabasePlace } from './config/database-place.ts';
import { DEMO_API_KEY, DEMO_SEED } from './config/demo-seed.ts';
import { secretKeyFor } from './config/secret-key.ts';
import { parseSeed, readSeed } from './config/seed-file.ts';
import { unknownSettings } from './config/unknown-variables.ts';
import { EXIT_CONFIGURATION, EXIT_UNAVAILABLE } from './exit-codes.ts';
import { limitHeapGrowth } from './heap-growth.ts';
import { loadInstruments } from './instruments/load-instruments.ts';
import { listenMistake } from './listen-mistake.ts';
import { Service } from './service.ts';
import { readBuildVersion } from './version.ts';

/** A number in the demo project's country; every number of a dev project is simulated. */
const DEMO_PHONE_NUMBER = '9647701234567';

/** A second signal after this time ends the process at once; a sooner one is the same signal, which npm repeats. */
const SAME_SIGNAL_MS = 200;

/** Once everything is stopped, the last lines of the output get this long to be read. */
const LAST_LINES_MS = 1_000;

const SEED_NOT_APPLIED =
  'SEED_FILE was not applied: the database had projects before. docs/admin.md says how to change them.';

const WRONG_SECRET_KEY: ConfigMistake = {
  name: 'SECRET_KEY',
  problem:
    'is not the one this database was filled with (without one it is read from secret.key in the data folder); ' +
    'give every process of an installation the same one; for a key that is lost see docs/configuration.md',
};

limitHeapGrowth();
try {
  await run(readConfig(process.env));
} catch (error) {
  printError(`Barid cannot start:\n${operatorMistake(error)}`);
  const isTemporary = error instanceof StorageUnavailable || error instanceof StorageLocked;
  process.exitCode = isTemporary ? EXIT_UNAVAILABLE : EXIT_CONFIGURATION;
  endSoon();
}

/** What the operator has to change, with the name of the variable. Throws what is no mistake of the operator. */
function operatorMistake(error: unknown): string {
  if (error instanceof StorageUnwritable) return `DATABASE_URL: the database stores nothing: ${error.reason}`;
  if (error instanceof StorageUnavailable)
    return `DATABASE_URL: the database cannot be opened: ${error.message}`;
  if (error instanceof StorageLocked)
    return `DATABASE_URL: another process has locked the database: ${error.message}`;
  if (error instanceof DatabaseUnusable) return `DATABASE_URL: ${error.message}`;
  if (error instanceof SeedError) return `SEED_FILE: ${error.message}`;
  if (error instanceof ConfigError) return error.message;
  throw error;
}

async function run(config: Config): Promise<void> {
  const logger = new PinoLogger({ level: config.logLevel });
  for (const { name, suggestion } of unknownSettings(process.env)) {
    logger.warn('variable_unknown', { name, suggestion });
  }
  const simulated = simulatedChannels(config.channels);
  if (simulated.length > 0) logger.warn('live_channels_simulated', { channels: simulated.join(', ') });
  makeDatabasePlace(config.database);
  const build = readBuildVersion();
  const service = new Service({
    build,
    instruments: await loadInstruments(config, build, logger),
    role: config.role,
    database: config.database,
    queue: config.queue,
    channels: config.channels,
    secretKey: secretKeyFor(config),
    egress: config.egress,
    reports: config.reports,
    adminToken: config.adminToken,
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    keepsPlatformLimits: config.keepsPlatformLimits,
    clock: new SystemClock(),
    logger,
    watchesClock: true,
    seed: seedOf(config.seedFile),
  });
  const { isSeeded, firstRequest } = await startOrEnd(service, config);
  if (config.role !== 'worker') service.http.makeDocuments();
  const port = await listen(service, config);
  // A reader of this line may stop the process at once.
  stopOnSignal(service, logger);
  const url = `http://${isIPv6(config.host) ? `[${config.host}]` : config.host}:${port}`;
  if (config.role === 'worker') {
    logger.info('worker_started', { url, database: config.database.kind, queue: config.queue.kind });
  } else {
    const hasSeedFile = config.seedFile !== null && config.seedFile !== NO_SEED;
    const hint = [...(hasSeedFile && !isSeeded ? [SEED_NOT_APPLIED] : []), ...hintFor(firstRequest, url)];
    console.log(banner(config, url, hint));
  }
}

/** Which project a first request can be of: the demo, none because there is none, or another one. */
type FirstRequest = 'demo' | 'none' | 'other';

/**
 * Resolves with whether the seed was applied, and what a first request can be. A service that cannot start is stopped, so that
 * its connections are closed.
 */
async function startOrEnd(
  service: Service,
  { seedFile }: Config,
): Promise<{ readonly isSeeded: boolean; readonly firstRequest: FirstRequest }> {
  try {
    const isSeeded = await service.start();
    if (seedFile === null) await service.roots.refillDemo.execute(DEMO_API_KEY);
    return { isSeeded, firstRequest: await firstRequestOf(service) };
  } catch (error) {
    await service.stop();
    throw error instanceof WrongSecretKey ? new ConfigError([WRONG_SECRET_KEY]) : error;
  }
}

/** What an empty database is filled with. */
function seedOf(file: string | null): Seed | null {
  if (file === null) return readSeed(DEMO_SEED);
  return file === NO_SEED ? null : parseSeed(seedText(file));
}

function seedText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([{ name: 'SEED_FILE', problem: `${file} cannot be read (${codeOf(error)})` }]);
  }
}

/** Stops the service and throws `ConfigError` when the address is taken or not of this machine. */
async function listen(service: Service, { port, host }: Config): Promise<number> {
  try {
    return await service.listen(port, host);
  } catch (error) {
    await service.stop();
    throw listenMistake(error, { port: ['PORT', port], host: ['HOST', host] });
  }
}

function stopOnSignal(service: Service, logger: Logger): void {
  let stoppingSince: number | null = null;
  const stop = (signal: NodeJS.Signals) => {
    if (stoppingSince !== null) {
      if (performance.now() - stoppingSince < SAME_SIGNAL_MS) return;
      process.off(signal, stop);
      process.kill(process.pid, signal);
      return;
    }
    stoppingSince = performance.now();
    logger.info('service_stopping', { signal });
    // A program that has ended by then could not tell that the signal is the same.
    setTimeout(() => {}, SAME_SIGNAL_MS);
    service
      .stop()
      .then(() => logger.info('service_stopped'))
      .catch((error: unknown) => {
        console.error(error);
        process.exitCode = 1;
      })
      .finally(endSoon);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** The process ends by itself, as soon as its output is read; when nobody reads that, it ends all the same. */
function endSoon(): void {
  setTimeout(() => process.exit(), LAST_LINES_MS).unref();
}

/** The channels on which messages of live projects are accepted and charged, and never sent. */
function simulatedChannels(channels: ChannelsConfig): readonly Channel[] {
  return CHANNELS.filter((channel) => channels[channel]?.providers.some(({ kind }) => kind === SIMULATOR));
}

function liveChannels(channels: ChannelsConfig): string {
  const configured = CHANNELS.filter((channel) => channels[channel] !== null);
  const named = configured.map((channel) => {
    const names = channels[channel]?.providers.map(({ name }) => name) ?? [];
    return `${channel} by ${names.join(' and ')}`;
  });
  return named.length === 0 ? 'none' : named.join(', ');
}

/** The database may have been filled with something else than the demo. */
function firstRequestOf({ roots: { unitOfWork, keyHasher, clock } }: Service): Promise<FirstRequest> {
  return unitOfWork.read(async ({ projects }) => {
    const project = await projects.byKeyDigest(keyHasher.digest(DEMO_API_KEY), clock.now());
    if (project?.environment === 'dev') return 'demo';
    return (await projects.isEmpty()) ? 'none' : 'other';
  });
}

/** What the first request takes: of the demo's project its key and a command, and of an empty installation where to read on. */
function hintFor(firstRequest: FirstRequest, url: string): readonly string[] {
  switch (firstRequest) {
    case 'demo': {
      const body = JSON.stringify({
        phoneNumber: DEMO_PHONE_NUMBER,
        smsType: 'verification',
        verificationCode: '123456',
      });
      return [
        `docs: ${url}/docs`,
        `key: ${DEMO_API_KEY}`,
        `curl -s ${url}/sms -H 'Authorization: Bearer ${DEMO_API_KEY}' -H 'Content-Type: application/json' -d '${body}'`,
      ];
    }
    case 'none':
      return ['There is no project yet: docs/admin-first-message.md says how to make one.'];
    case 'other':
      return [];
    default:
      return firstRequest satisfies never;
  }
}

function banner({ database, queue, channels }: Config, url: string, hint: readonly string[]): string {
  return [
    `Barid listens on ${url}  (database: ${database.kind}, queue: ${queue.kind}, channels: simulated for dev projects, ${liveChannels(channels)} for live projects)`,
    ...hint,
  ].join('\n');
}
