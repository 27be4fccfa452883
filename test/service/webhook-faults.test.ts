import type { ServerResponse } from 'node:http';
import { ContainerModule } from 'inversify';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../src/adapters/knex/unit-of-work.ts';
import type { Stores } from '../../src/application/ports/stores.ts';
import type { UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { adapters, ports } from '../../src/bootstrap/tokens.ts';
import { LEASE_MS } from '../../src/domain/jobs/job.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';
import { uncancelled } from '../support/uncancelled.ts';

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

/** Which calls to the stores fail. */
interface Faults {
  /** Fetches of due events. */
  fetches: boolean;
  /** Saves of results. */
  records: boolean;
  /** Releases of jobs. */
  releases: boolean;
  /** How many calls failed. */
  failed: number;
}

function faulty(unitOfWork: UnitOfWork, faults: Faults): UnitOfWork {
  const fail = async (): Promise<never> => {
    faults.failed += 1;
    throw new Error('Planted');
  };
  const planted = (stores: Stores): Stores => ({
    ...stores,
    webhookEvents: new Proxy(stores.webhookEvents, {
      get: (target, name) => {
        if (name === 'due' && faults.fetches) return fail;
        if (name === 'save' && faults.records) return fail;
        return Reflect.get(target, name).bind(target);
      },
    }),
    jobs: new Proxy(stores.jobs, {
      get: (target, name) =>
        name === 'lockLeased' && faults.releases ? fail : Reflect.get(target, name).bind(target),
    }),
  });
  return {
    run: (work, durability) => unitOfWork.run((stores) => work(planted(stores)), durability),
    read: (work) => unitOfWork.read((stores) => work(planted(stores))),
    ping: () => unitOfWork.ping(),
  };
}

async function start(paths: readonly string[]) {
  const faults: Faults = { fetches: false, records: false, releases: false, failed: 0 };
  const logger = new RecordingLogger();
  const planted = new ContainerModule(({ rebind }) => {
    rebind(ports.logger).toConstantValue(logger);
    rebind(ports.unitOfWork).toResolvedValue(
      (database: Database) => faulty(new SqlUnitOfWork(database), faults),
      [adapters.database],
    );
    rebind(ports.fetchInterval).toConstantValue(
      uncancelled((over) => {
        setImmediate(over);
      }),
    );
  });
  const receiver = await HttpsReceiver.open();
  const service = await startService({
    egress: receiver.egress,
    seed: seedWith({ credit: 100_000, rateLimit: null }),
    overrides: [planted],
  });
  const held: ServerResponse[] = [];
  receiver.respond((_, response) => held.push(response));
  for (const [index, path] of paths.entries()) {
    await service.request('/sms', {
      // Fails at once, so that its only event is due at once.
      body: verification(`99900000${index}0006`, {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url(path), deliveryReportType: 'final' },
      }),
    });
  }
  await receiver.arrived(paths.length);
  const background = service.service.roots.background;
  const release = (status: number) => {
    for (const response of held.splice(0)) response.writeHead(status).end();
  };
  return { faults, receiver, service, background, release, logger };
}

/** The paths of the requests, from that request on. */
const pathsFrom = (receiver: HttpsReceiver, from: number) =>
  receiver.requests
    .slice(from)
    .map(({ path }) => path)
    .sort();

withReceiver(named('webhook events whose results cannot be stored'), () => {
  it.each([
    ['alone', { records: true }],
    ['while nothing can be fetched', { records: true, fetches: true }],
  ])(
    'events whose results cannot be stored are attempted again when their lease is over, and not before, %s',
    async (_, planted) => {
      const paths = ['/1', '/2', '/3'];
      const { faults, receiver, service, background, release } = await start(paths);
      Object.assign(faults, planted);
      release(200);
      await background.idle();
      expect(receiver.requests).toHaveLength(3);
      Object.assign(faults, { records: false, fetches: false });
      receiver.respond(respondWith(200));
      await service.advance(LEASE_MS - 1);
      expect(receiver.requests).toHaveLength(3);
      await service.advance(1);
      expect(pathsFrom(receiver, 3)).toEqual(paths);
      const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
      expect(new Set(ids).size).toBe(3);
      await service.assertQuiet();
    },
  );

  it('results that cannot be stored are logged once for each destination', async () => {
    const { faults, receiver, service, background, release, logger } = await start(['/1', '/1', '/1', '/2']);
    faults.records = true;
    release(200);
    await background.idle();
    expect(logger.count('webhook_record_failed')).toBe(2);
    faults.records = false;
    receiver.respond(respondWith(200));
    await service.advance(LEASE_MS);
    await service.assertQuiet();
  });
});

withReceiver(named('destinations whose jobs cannot be released'), () => {
  it('a destination whose job cannot be released is fetched for again when its lease is over, with nothing to deliver', async () => {
    const { faults, receiver, service, background, release } = await start(['/1', '/2']);
    faults.releases = true;
    release(200);
    await background.idle();
    faults.releases = false;
    await service.advance(LEASE_MS);
    expect(receiver.requests).toHaveLength(2);
    await service.assertQuiet();
  });
});

withReceiver(named('destinations that cannot be fetched for'), () => {
  /** Ends the attempts in flight, and resolves when several fetches for more events have failed. */
  const failFetches = async ({ faults, release }: Awaited<ReturnType<typeof start>>) => {
    const before = faults.failed;
    faults.fetches = true;
    release(200);
    while (faults.failed < before + 3) await new Promise((resolve) => setImmediate(resolve));
  };

  it('failed fetches are logged once for each outage', async () => {
    const world = await start(['/1']);
    const { faults, logger, service, background, receiver } = world;
    await failFetches(world);
    expect(logger.count('webhook_fetch_failed')).toBe(1);
    faults.fetches = false;
    await background.idle();
    await service.request('/sms', {
      body: verification('9990000090006', {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url('/1'), deliveryReportType: 'final' },
      }),
    });
    await receiver.arrived(2);
    await failFetches(world);
    expect(logger.count('webhook_fetch_failed')).toBe(2);
    faults.fetches = false;
    await background.idle();
    await service.assertQuiet();
  });

  it('failed fetches do not keep the service from stopping', async () => {
    const world = await start(['/1']);
    const { faults, service, background } = world;
    await failFetches(world);
    service.service.roots.background.stop();
    await background.idle();
    faults.fetches = false;
  });

  it('a destination is delivered to as soon as a fetch succeeds', async () => {
    const { faults, receiver, service, background, release } = await start(['/1']);
    faults.fetches = true;
    release(200);
    receiver.respond(respondWith(200));
    await service.request('/sms', {
      body: verification('9990000090006', {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url('/1'), deliveryReportType: 'final' },
      }),
    });
    expect(receiver.requests).toHaveLength(1);
    faults.fetches = false;
    await background.idle();
    await service.settle();
    expect(receiver.requests).toHaveLength(2);
    await service.assertQuiet();
  });
});
