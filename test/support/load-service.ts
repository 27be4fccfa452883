import { PinoLogger } from '../../src/adapters/pino/pino-logger.ts';
import { readConfig } from '../../src/bootstrap/config/config.ts';
import { readSeed, type SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import { limitHeapGrowth } from '../../src/bootstrap/heap-growth.ts';
import { Service, type ServiceParts } from '../../src/bootstrap/service.ts';

/** The secret key of every service under load. */
export const LOAD_SECRET_KEY = Buffer.alloc(32, 7);

export interface LoadServiceOptions {
  readonly seed: SeedFile;
  /** As the environment says when absent. Here `api` may have a SQLite file: nobody does the jobs then. */
  readonly role?: ServiceParts['role'];
  /** How far the clock is ahead of the machine's, in milliseconds. */
  readonly aheadMs?: number;
  readonly onSubmission?: ServiceParts['onSubmission'];
}

export interface LoadService {
  readonly service: Service;
  /** 0 for a worker. */
  readonly port: number;
  now(): number;
  /** Puts the clock ahead of the machine's by that much in all, and lets what is due begin. */
  putClockAhead(ms: number): void;
}

/** Starts the whole service as the environment configures it in a process of its own, with a clock that can be put ahead. */
export async function startLoadService({
  seed,
  role: givenRole,
  aheadMs = 0,
  onSubmission,
}: LoadServiceOptions): Promise<LoadService> {
  limitHeapGrowth();
  const config = readConfig(process.env);
  const role = givenRole ?? config.role;
  const clock = {
    aheadMs,
    now() {
      return Date.now() + this.aheadMs;
    },
  };
  const service = new Service({
    role,
    database: config.database,
    queue: config.queue,
    channels: config.channels,
    secretKey: LOAD_SECRET_KEY,
    egress: config.egress,
    clock,
    logger: new PinoLogger({ level: process.env.LOG_LEVEL ?? 'error' }),
    keepsPlatformLimits: config.keepsPlatformLimits,
    reports: config.reports,
    adminToken: config.adminToken,
    watchesClock: true,
    seed: readSeed(seed),
    ...(onSubmission === undefined ? {} : { onSubmission }),
  });
  await service.start();
  return {
    service,
    port: role === 'worker' ? 0 : await service.listen(0, '127.0.0.1'),
    now: () => clock.now(),
    putClockAhead: (ms) => {
      clock.aheadMs = ms;
      // Without one the worker would count as frozen until its next heartbeat, and attempt no webhook.
      if (role !== 'api') void service.roots.workerHeartbeat.beat();
      service.roots.wakeSignal.wake();
    },
  };
}
