import { createHttpServer, type HttpServer } from '../adapters/http/http-server.ts';
import type { ObservedReply } from '../adapters/http/server/writing/observed-reply.ts';
import { LISTEN_BACKLOG_MAX } from '../adapters/http/server-limits.ts';
import { WorkLoop } from '../adapters/timer/work-loop.ts';
import type { ProviderEventSink } from '../application/ports/provider-events.ts';
import type { Seed } from '../application/seed/apply-seed.ts';
import type { Role } from './config/config.ts';
import { buildContainer, type ContainerParts } from './container.ts';
import { instrumented } from './instrument.ts';
import { type Roots, resolveRoots } from './roots.ts';
import { adminInterface } from './routes/admin-routes.ts';
import { routeFamilies } from './routes/customer-routes.ts';
import { type BuildVersion, readBuildVersion } from './version.ts';

export interface ServiceParts extends ContainerParts {
  readonly role: Role;
  /** Whether the clock moves by itself, so that the work loop has to poll. */
  readonly watchesClock: boolean;
  readonly seed: Seed | null;
  /** The token of the admin interface; null switches it off, the default. */
  readonly adminToken?: string | null;
  /** None by default. */
  readonly trustedProxies?: readonly string[];
  /** What links to this service begin with; null for the host of each request, the default. */
  readonly publicUrl?: string | null;
  readonly observeReply?: (seen: ObservedReply) => void;
  /** What `/version` tells; read from the package by default. */
  readonly build?: BuildVersion;
}

/** Requests that are still running when the process stops get this long to end. */
const REQUESTS_END_MS = 10_000;

/** Requests that were in flight when the process stopped get a reply for this long. */
const LAST_REQUESTS_MS = 250;

/** The whole program in one object: opened, started and stopped in order. */
export class Service {
  /** What tests of the whole program and the harness reach; the program itself is driven by the methods. */
  readonly roots: Roots;
  readonly http: HttpServer;
  readonly #parts: ServiceParts;
  readonly #loop: WorkLoop;
  readonly #listensForWork: boolean;

  constructor(given: ServiceParts) {
    const { instruments = [], build = readBuildVersion() } = given;
    const parts = { ...given, logger: instrumented(instruments, 'logger', given.logger), build };
    this.#parts = parts;
    const roots = resolveRoots(buildContainer(parts));
    this.roots = roots;
    this.#listensForWork = parts.role !== 'api';
    this.#loop = new WorkLoop({
      localWakeSignal: roots.wakeSignal,
      relayJobs: roots.relayJobs,
      providerEvents: roots.providerEvents,
      logger: parts.logger,
      polls: parts.watchesClock,
    });
    const admin = adminInterface(roots, parts);
    this.http = createHttpServer({
      families: routeFamilies(roots, parts),
      ...(admin === undefined ? {} : { admin }),
      logger: parts.logger,
      observers: instruments.flatMap(({ requests }) => (requests === undefined ? [] : [requests])),
      requestIds: () => roots.idSource.hex24(parts.clock.now()),
      ...(parts.trustedProxies === undefined ? {} : { trustedProxies: parts.trustedProxies }),
      ...(parts.observeReply === undefined ? {} : { observeReply: parts.observeReply }),
    });
  }

  /**
   * Migrates, seeds and begins to work; the HTTP interface is opened by `listen`. Resolves with whether the seed was applied.
   * Rejects with `WrongSecretKey`, `DatabaseUnusable` or `SeedError` before anything is done for anybody.
   */
  async start(): Promise<boolean> {
    const { roots } = this;
    await roots.database.migrate();
    await roots.checkSecretKey.execute();
    await roots.restorePoint.load();
    const { seed } = this.#parts;
    const isSeeded = seed !== null && (await roots.applySeed.execute(seed));
    for (const instrument of this.#parts.instruments ?? []) await instrument.start?.(roots);
    if (!this.#listensForWork) return isSeeded;
    const record: ProviderEventSink = (events, settled) =>
      roots.recordProviderEvents.execute(events, settled);
    await Promise.all(roots.channelProviders.all().map((provider) => provider.start(record)));
    await roots.jobQueue.consume((jobs) => roots.runJobs.execute(jobs));
    await roots.runWhatsappSync.schedule();
    await roots.runRetention.schedule();
    this.#loop.start();
    await roots.workerHeartbeat.start({ repeats: this.#parts.watchesClock });
    return isSeeded;
  }

  /** Resolves with the port the HTTP interface listens on. */
  listen(port: number, host: string): Promise<number> {
    const { server } = this.http;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host, backlog: LISTEN_BACKLOG_MAX }, () => {
        server.off('error', reject);
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /** Resolves when nothing is due and nothing is in flight. */
  async idle(): Promise<void> {
    const { jobQueue, background } = this.roots;
    // Work that ends wakes the loop, which may find more while this waits for the others.
    const activity = () => this.#loop.wakes + background.starts;
    for (let before = activity(); ; before = activity()) {
      await this.#loop.idle();
      await jobQueue.idle();
      await background.idle();
      if (activity() === before) return;
    }
  }

  /**
   * In order: no new requests, the running ones end, no new jobs are leased, those at hand end, then the connections go. A job
   * whose result could not be stored stays leased, and so does one that waits in the background. May be called twice.
   */
  async stop(): Promise<void> {
    const { roots } = this;
    roots.checkHealth.noteStopping();
    await this.http.closeGracefully({
      timeoutMs: REQUESTS_END_MS,
      // A program that moves the clock by hand has all its replies before it stops.
      lingerMs: this.#parts.watchesClock ? LAST_REQUESTS_MS : 0,
    });
    roots.applyMessageEvents.stop();
    roots.commitAttempts.stop();
    roots.startWaitingAttempts.stop();
    await this.#loop.stop();
    await roots.jobQueue.close();
    roots.background.stop();
    await roots.background.idle();
    await roots.workerHeartbeat.stop();
    await roots.keyUses.stop();
    await Promise.all(roots.channelProviders.all().map((provider) => provider.close()));
    // The last responses of providers, which came while they were closed.
    await roots.background.idle();
    await roots.webhookTransport.close();
    await roots.database.close();
    for (const instrument of this.#parts.instruments ?? []) await instrument.close?.();
  }
}
