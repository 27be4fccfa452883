import 'reflect-metadata';
import { Container, type ContainerModule } from 'inversify';
import { createHttpServer, type HttpServer } from '../adapters/http/http-server.ts';
import type { ObservedReply } from '../adapters/http/server/observed-reply.ts';
import type { DatabaseConfig } from '../adapters/knex/dialect.ts';
import type { SimulatedMessage } from '../adapters/simulator/simulator.ts';
import { WorkLoop } from '../adapters/timer/work-loop.ts';
import { CheckSecretKey } from '../application/access/check-secret-key.ts';
import { BackgroundWork } from '../application/background-work.ts';
import { CheckHealth } from '../application/check-health.ts';
import { RelayJobs } from '../application/jobs/relay-jobs.ts';
import { RunJobs } from '../application/jobs/run-jobs.ts';
import { RecordReceipts } from '../application/messages/record-receipts.ts';
import type { Clock } from '../application/ports/clock.ts';
import type { Logger } from '../application/ports/logger.ts';
import { ApplySeed, type Seed } from '../application/seed/apply-seed.ts';
import { AcceptInbound } from '../application/webhooks/accept-inbound.ts';
import { DeliverWebhooks } from '../application/webhooks/deliver-webhooks.ts';
import type { EgressConfig, QueueConfig, Role } from './config.ts';
import { channels } from './modules/channels.ts';
import { persistence } from './modules/persistence.ts';
import { queue } from './modules/queue.ts';
import { routeFamilies } from './modules/route-families.ts';
import { system } from './modules/system.ts';
import { useCases } from './modules/use-cases.ts';
import { webhooks } from './modules/webhooks.ts';
import { adapters, ports } from './tokens.ts';

export interface ServiceParts {
  readonly role: Role;
  readonly database: DatabaseConfig;
  readonly queue: QueueConfig;
  readonly secretKey: Buffer;
  readonly egress: EgressConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the clock moves by itself, so that due work has to be looked for. */
  readonly watchesClock: boolean;
  readonly seed: Seed | null;
  readonly onSubmission?: (message: SimulatedMessage) => void;
  readonly observeReply?: (seen: ObservedReply) => void;
  readonly overrides?: readonly ContainerModule[];
}

/** Requests that are still running when the process stops get this long to end. */
const REQUESTS_END_MS = 10_000;

/** Requests that were on their way when the process stopped are answered for this long. */
const LAST_REQUESTS_MS = 250;

/** Every port and use case for one choice of adapters; later modules win. */
export function buildContainer(parts: Omit<ServiceParts, 'role' | 'watchesClock' | 'seed'>): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  container.load(
    system(parts),
    persistence(parts.database),
    queue(parts.queue),
    channels(parts.onSubmission),
    webhooks(parts.egress),
    useCases,
    ...(parts.overrides ?? []),
  );
  return container;
}

/** The whole program in one object: opened, started and stopped in order. */
export class Service {
  readonly container: Container;
  readonly http: HttpServer;
  readonly #parts: ServiceParts;
  readonly #loop: WorkLoop;
  readonly #listensForWork: boolean;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    const container = buildContainer(parts);
    this.container = container;
    this.#listensForWork = parts.role !== 'api';
    this.#loop = new WorkLoop({
      localWakeSignal: container.get(adapters.localWakeSignal),
      relayJobs: container.get(RelayJobs),
      recordReceipts: container.get(RecordReceipts),
      acceptInbound: container.get(AcceptInbound),
      providerEvents: container.get(ports.providerEvents),
      clock: parts.clock,
      logger: parts.logger,
      polls: parts.watchesClock,
    });
    const ids = container.get(ports.idSource);
    this.http = createHttpServer({
      families: routeFamilies(container),
      logger: parts.logger,
      requestIds: () => ids.hex24(parts.clock.now()),
      ...(parts.observeReply === undefined ? {} : { observeReply: parts.observeReply }),
    });
  }

  /**
   * Migrates, seeds and begins to work; the HTTP interface is opened by `listen`. Rejects with `WrongSecretKey` or
   * `SeedError` before anything is done for anybody.
   */
  async start(): Promise<void> {
    const { container } = this;
    await container.get(adapters.database).migrate();
    await container.get(CheckSecretKey).execute();
    if (this.#parts.seed !== null) await container.get(ApplySeed).execute(this.#parts.seed);
    if (!this.#listensForWork) return;
    const runJobs = container.get(RunJobs);
    await container.get(ports.jobQueue).consume((jobs) => runJobs.execute(jobs));
    this.#loop.start();
  }

  /** Resolves with the port the HTTP interface listens on. */
  listen(port: number, host: string): Promise<number> {
    const { server } = this.http;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /** Resolves when nothing that is due is left to do, or under way. */
  async idle(): Promise<void> {
    const jobQueue = this.container.get(ports.jobQueue);
    const background = this.container.get(BackgroundWork);
    // What ends wakes the loop, which may find what followed from it while the others are asked.
    const activity = () => this.#loop.wakes + background.starts;
    for (let before = activity(); ; before = activity()) {
      await this.#loop.idle();
      await jobQueue.idle();
      await background.idle();
      if (activity() === before) return;
    }
  }

  /**
   * In order: no new requests, the running ones end, no new jobs are leased, those at hand end, then the
   * connections go. Nothing is left leased but what could not be stored. May be called twice.
   */
  async stop(): Promise<void> {
    const { container } = this;
    container.get(CheckHealth).stopping();
    await this.http.closeGracefully({
      timeoutMs: REQUESTS_END_MS,
      // A program that moves the clock by hand has all its answers before it stops.
      lingerMs: this.#parts.watchesClock ? LAST_REQUESTS_MS : 0,
    });
    await this.#loop.stop();
    await container.get(ports.jobQueue).close();
    container.get(DeliverWebhooks).stop();
    await container.get(BackgroundWork).idle();
    await container.get(ports.webhookTransport).close();
    await container.get(adapters.database).close();
  }
}
