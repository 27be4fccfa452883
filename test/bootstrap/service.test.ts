import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContainerModule } from 'inversify';
import { afterAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../src/adapters/knex/unit-of-work.ts';
import { MemoryJobQueue } from '../../src/adapters/memory/job-queue.ts';
import { SystemClock } from '../../src/adapters/node/system-clock.ts';
import { nextRound } from '../../src/application/concurrency/next-round.ts';
import type { JobHandler } from '../../src/application/ports/job-queue.ts';
import type { UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { SeedError } from '../../src/application/seed/seed-error.ts';
import { type Role, readConfig } from '../../src/bootstrap/config/config.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import { Service } from '../../src/bootstrap/service.ts';
import { adapters, ports } from '../../src/bootstrap/tokens.ts';
import { Gate } from '../support/job-collector.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { seedWith, verification } from '../support/seeds.ts';

const LOOPBACK = '127.0.0.1';
const REQUESTS = 40;
const NUMBER_ID = '664def456abc789012345678';
const SECRET = `svc_live_sk${'0123456789abcdef'.repeat(4)}`;

const folder = mkdtempSync(join(tmpdir(), 'barid-service-'));
afterAll(() => rmSync(folder, { recursive: true }));

function serviceWith(
  options: {
    filename?: string;
    role?: Role;
    overrides?: readonly ContainerModule[];
    inboundUrl?: string;
  } = {},
) {
  return new Service({
    ...readConfig({ DATABASE_URL: `sqlite:${options.filename ?? ':memory:'}` }),
    role: options.role ?? 'all',
    secretKey: Buffer.alloc(32, 1),
    clock: new SystemClock(),
    logger: new RecordingLogger(),
    watchesClock: true,
    seed: readSeed(
      seedWith({
        rateLimit: null,
        credit: 1_000_000,
        inboundWebhooks:
          options.inboundUrl === undefined
            ? []
            : [{ phoneNumberId: NUMBER_ID, url: options.inboundUrl, secret: SECRET }],
      }),
    ),
    overrides: options.overrides ?? [],
  });
}

/** A queue that tells when it is started and closed. */
class ObservedQueue extends MemoryJobQueue {
  onConsume: () => Promise<void> = async () => {};
  onClose: () => Promise<void> = async () => {};

  override async consume(handler: JobHandler): Promise<void> {
    await this.onConsume();
    await super.consume(handler);
  }

  override async close(): Promise<void> {
    await this.onClose();
    await super.close();
  }
}

function observedQueue(): { queue: ObservedQueue; module: ContainerModule } {
  const queue = new ObservedQueue({ logger: new RecordingLogger() });
  return {
    queue,
    module: new ContainerModule(({ rebind }) => {
      rebind(ports.jobQueue).toConstantValue(queue);
    }),
  };
}

describe('the address of a seeded inbound webhook', () => {
  it.each(['http://example.com/', 'https://10.0.0.1/', 'https://user@example.com/', 'nowhere'])(
    'rejects the address %s with its path, and writes nothing',
    async (inboundUrl) => {
      const service = serviceWith({ inboundUrl });
      const error = await service.start().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SeedError);
      expect(String(error)).toContain('→ at projects[0].inboundWebhooks[0].url');
      const { knex } = service.roots.database;
      expect(await knex('projects')).toEqual([]);
      expect(await knex('price_versions')).toEqual([]);
      await service.stop();
    },
  );

  it('stores the address in its parsed form', async () => {
    const service = serviceWith({ inboundUrl: 'https://EXAMPLE.com:443/in?a=b#part' });
    await service.start();
    const stored = await service.roots.unitOfWork.read((stores) =>
      stores.inboundWebhooks.byWhatsappPhoneIds([NUMBER_ID]),
    );
    expect(stored).toMatchObject([{ whatsappPhoneId: NUMBER_ID, url: 'https://example.com/in?a=b' }]);
    expect(stored[0]?.secret).not.toContain(SECRET);
    await service.stop();
  });
});

describe('Service', () => {
  it('starts in order: tables, seed, work; and opens the HTTP interface last', async () => {
    const { queue, module } = observedQueue();
    const service = serviceWith({ overrides: [module] });
    const seen: unknown[] = [];
    queue.onConsume = async () => {
      const { knex } = service.roots.database;
      seen.push({
        projects: await knex('projects').pluck('slug'),
        listening: service.http.server.listening,
      });
    };
    await service.start();
    expect(seen).toEqual([{ projects: ['demo'], listening: false }]);
    expect(service.http.server.listening).toBe(false);
    expect(await service.listen(0, LOOPBACK)).toBeGreaterThan(0);
    expect(service.http.server.listening).toBe(true);
    await service.stop();
  });

  it('stops in order: HTTP interface, queue, database; and is not ready meanwhile', async () => {
    const { queue, module } = observedQueue();
    const service = serviceWith({ overrides: [module] });
    await service.start();
    await service.listen(0, LOOPBACK);
    const unitOfWork = service.roots.unitOfWork;
    const seen: unknown[] = [];
    queue.onClose = async () => {
      const { ready, dependencies } = await service.roots.checkHealth.readiness();
      seen.push({
        listening: service.http.server.listening,
        ready,
        unwell: dependencies.filter(({ ok }) => !ok),
      });
    };
    await service.stop();
    expect(seen).toEqual([{ listening: false, ready: false, unwell: [] }]);
    await expect(unitOfWork.ping()).rejects.toThrow();
  });

  it('stores what a channel provider says while it is closed, before it closes the database', async () => {
    const service = serviceWith();
    await service.start();
    const { background, channelProviders, unitOfWork } = service.roots;
    const [provider] = channelProviders.all();
    let isStored = false;
    if (provider === undefined) throw new Error('The service has no channel provider');
    provider.close = async () => {
      background.start(async () => {
        await nextRound();
        await unitOfWork.ping();
        isStored = true;
      });
    };
    await service.stop();
    expect(isStored).toBe(true);
  });

  it('stops when it is stopped twice, at once and again, and before it listened', async () => {
    const service = serviceWith();
    await service.start();
    await service.listen(0, LOOPBACK);
    await Promise.all([service.stop(), service.stop()]);
    await service.stop();

    const unheard = serviceWith();
    await unheard.start();
    await unheard.stop();
  });

  it('runs no jobs in the role api', async () => {
    const { queue, module } = observedQueue();
    let consumers = 0;
    queue.onConsume = async () => {
      consumers += 1;
    };
    const service = serviceWith({ role: 'api', overrides: [module] });
    await service.start();
    await service.stop();
    expect(consumers).toBe(0);
  });

  it('sends heartbeats from its start to its stop in the role all, and none in the role api', async () => {
    let waiting = 0;
    const counted = new ContainerModule(({ rebind }) => {
      rebind(ports.heartbeatInterval).toConstantValue(() => {
        waiting += 1;
        return () => {
          waiting -= 1;
        };
      });
    });
    for (const [role, expected] of [
      ['all', 1],
      ['api', 0],
    ] as const) {
      const service = serviceWith({ role, overrides: [counted] });
      await service.start();
      expect(waiting).toBe(expected);
      expect(await service.roots.database.knex('workers').pluck('id')).toHaveLength(expected);
      await service.stop();
      expect(waiting).toBe(0);
    }
  });

  it('rejects when its port is taken, and can still be stopped', async () => {
    const [holder, late] = [serviceWith(), serviceWith()];
    await Promise.all([holder.start(), late.start()]);
    const port = await holder.listen(0, LOOPBACK);
    await expect(late.listen(port, LOOPBACK)).rejects.toThrow('EADDRINUSE');
    await Promise.all([holder.stop(), late.stop()]);
  });

  it('replies to every request that had arrived when it stops, and stores the messages', async () => {
    const filename = join(folder, 'load', 'barid.db');
    const gate = new Gate();
    const held = new ContainerModule(({ rebind }) => {
      rebind(ports.unitOfWork).toResolvedValue(
        (database): UnitOfWork => {
          const real = new SqlUnitOfWork(database);
          return {
            run: async (work) => {
              await gate.opened;
              return real.run(work);
            },
            read: (work) => real.read(work),
            ping: () => real.ping(),
          };
        },
        [adapters.database],
      );
    });
    const first = serviceWith({ filename });
    await first.start();
    await first.stop();

    const service = serviceWith({ filename, role: 'api', overrides: [held] });
    const port = await service.listen(0, LOOPBACK);
    const { server } = service.http;
    let arrived = 0;
    const allArrived = new Promise<void>((resolve) => {
      server.on('request', () => {
        arrived += 1;
        if (arrived === REQUESTS) resolve();
      });
    });
    const responses = Array.from({ length: REQUESTS }, (_, index) =>
      fetch(`http://${LOOPBACK}:${port}/sms`, {
        method: 'POST',
        headers: { authorization: `Bearer ${DEMO_API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(verification(`96477012345${10 + index}`)),
      }),
    );
    await allArrived;
    const closed = once(server, 'close');
    const stopped = service.stop();
    expect(server.listening).toBe(false);
    await expect(fetch(`http://${LOOPBACK}:${port}/healthz`)).rejects.toThrow();
    gate.open();
    const smsIds = await Promise.all(
      responses.map(async (pending) => {
        const response = await pending;
        expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
        return ((await response.json()) as { smsId: string }).smsId;
      }),
    );
    await Promise.all([closed, stopped]);

    const database = openDatabase({ kind: 'sqlite', filename });
    const stored: string[] = await database.knex('messages').pluck('sms_id');
    await database.close();
    expect(stored.sort()).toEqual(smsIds.sort());
  });
});
