import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QueueBlocked } from '../../../src/application/errors/queue-blocked.ts';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { RelayJobs } from '../../../src/application/jobs/relay-jobs.ts';
import { deliverWebhooksJob } from '../../../src/application/jobs/webhook-jobs.ts';
import type { UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { readConfig } from '../../../src/bootstrap/config/config.ts';
import { buildContainer } from '../../../src/bootstrap/container.ts';
import { adapters, ports } from '../../../src/bootstrap/tokens.ts';
import { LEASE_MS, type LeasedJob } from '../../../src/domain/jobs/job.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aMessage, anSmsId, NOW } from '../../support/builders.ts';
import { JobCollector } from '../../support/job-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

it('RelayJobs dead-letters a job of an unknown kind by its name, keeps its work, and relays the jobs beside it', async () => {
  const logger = new RecordingLogger();
  const container = buildContainer({
    ...readConfig({
      DATABASE_URL: 'sqlite::memory:',
      SMS_PROVIDER: 'simulator',
      WHATSAPP_PROVIDER: 'simulator',
      TELEGRAM_PROVIDER: 'simulator',
    }),
    secretKey: Buffer.alloc(32),
    clock: { now: () => NOW },
    logger,
  });
  const [database, unitOfWork] = [container.get(adapters.database), container.get(ports.unitOfWork)];
  await database.migrate();
  const paint = { kind: 'paint', colour: 'red' };
  const incomplete = { kind: 'start-attempt', smsId: anSmsId() };
  await unitOfWork.run((stores) =>
    stores.jobs.add(
      [
        { ...startAttemptJob(aMessage(), 0, NOW), id: 'a', work: paint },
        startAttemptJob(aMessage(), 0, NOW),
        { ...startAttemptJob(aMessage(), 0, NOW), id: 'z', work: incomplete },
      ],
      NOW,
    ),
  );
  const collector = new JobCollector();
  const jobQueue = container.get(ports.jobQueue);
  await jobQueue.consume(collector.handler);

  expect(await container.get(RelayJobs).execute()).toBe(3);
  await jobQueue.idle();

  expect(collector.ids()).toEqual([`${anSmsId()}/start/0`]);
  expect(logger.entries).toEqual([
    { level: 'warn', event: 'job_dead_lettered', fields: { jobId: 'a', kind: 'paint' } },
    { level: 'warn', event: 'job_dead_lettered', fields: { jobId: 'z', kind: 'start-attempt' } },
  ]);
  const rows = await database.knex('dead_letter_jobs').select('id', 'work', 'reason').orderBy('id');
  const reason = 'This version does not know such work';
  expect(rows).toEqual([
    { id: 'a', work: JSON.stringify(paint), reason },
    { id: 'z', work: JSON.stringify(incomplete), reason },
  ]);
  await database.close();
});

describe('RelayJobs', () => {
  let world: ApplicationWorld;
  let published: string[][];
  let capacity: number;
  let unavailable: string | null;
  /** Of a publish. */
  let publishFailure: Error | null;

  beforeEach(async () => {
    published = [];
    unavailable = null;
    publishFailure = null;
    world = await openApplication();
    await world.unitOfWork.run(({ jobs }) =>
      jobs.add(
        [1, 2, 3].map((number) => startAttemptJob(aMessage({ smsId: anSmsId(number) }), 0, NOW + number)),
        NOW,
      ),
    );
  });

  afterEach(() => world.close());

  const relay = () => relaying().execute();
  const relaying = (unitOfWork: UnitOfWork = world.unitOfWork) =>
    new RelayJobs({
      unitOfWork,
      clock: world.clock,
      logger: world.logger,
      workerId: 'worker',
      jobQueue: {
        availableCapacity: async () => capacity,
        unavailableReason: () => unavailable,
        publish: async (jobs: readonly LeasedJob[]) => {
          published.push(jobs.map(({ id }) => id));
          if (publishFailure !== null) throw publishFailure;
        },
      } as never,
    });

  it('RelayJobs leases no more jobs than the queue has capacity for, the longest due first', async () => {
    world.clock.at = NOW + 3;
    capacity = 2;
    expect(await relay()).toBe(2);
    expect(published).toEqual([[`${anSmsId(1)}/start/0`, `${anSmsId(2)}/start/0`]]);
  });

  it('RelayJobs leases in the name of its worker', async () => {
    world.clock.at = NOW + 3;
    capacity = 3;
    await relay();
    expect(await world.database.knex('jobs').pluck('leased_by')).toEqual(['worker', 'worker', 'worker']);
  });

  it('RelayJobs goes on with the next project, however few jobs the queue takes', async () => {
    const jobsOf = (projectId: string, number: number) =>
      [0, 1].map((attempt) => startAttemptJob(aMessage({ smsId: anSmsId(number), projectId }), attempt, NOW));
    await world.unitOfWork.run(({ jobs }) =>
      jobs.add(
        ['p1', 'p2', 'p3'].flatMap((projectId, index) => jobsOf(projectId, index + 10)),
        NOW,
      ),
    );
    capacity = 1;
    const relayJobs = relaying();
    for (let relays = 1; relays <= 4; relays += 1) expect(await relayJobs.execute()).toBe(1);
    expect(published.flat()).toEqual([
      `${anSmsId(10)}/start/0`,
      `${anSmsId(11)}/start/0`,
      `${anSmsId(12)}/start/0`,
      `${anSmsId(10)}/start/1`,
    ]);
  });

  it('RelayJobs leases nothing while the queue is full', async () => {
    world.clock.at = NOW + 3;
    capacity = 0;
    expect(await relay()).toBe(0);
    capacity = 5;
    expect(await relay()).toBe(3);
  });

  it('RelayJobs leases the jobs of messages again at once, and only once, for a queue that goes on while its broker is away', async () => {
    world.clock.at = NOW + 3;
    capacity = 5;
    const relayJobs = relaying();
    expect(await relayJobs.execute()).toBe(3);
    unavailable = 'away';
    expect(await relayJobs.execute()).toBe(3);
    expect(await relayJobs.execute()).toBe(0);
    unavailable = null;
    expect(await relayJobs.execute()).toBe(0);
    unavailable = 'away again';
    expect(await relayJobs.execute()).toBe(3);
  });

  it('RelayJobs leases the jobs of messages again once a queue is back that was away, and no webhook', async () => {
    const webhook = deliverWebhooksJob({ projectId: 'p1', endpoint: 'a.example/in' }, NOW);
    await world.unitOfWork.run(({ jobs }) => jobs.add([webhook], NOW));
    world.clock.at = NOW + 3;
    capacity = 5;
    const relayJobs = relaying();
    expect(await relayJobs.execute()).toBe(4);
    [unavailable, capacity] = ['away', 0];
    expect(await relayJobs.execute()).toBe(0);
    [unavailable, capacity] = [null, 5];
    expect(await relayJobs.execute()).toBe(3);
    expect(published[1]).toEqual([1, 2, 3].map((number) => `${anSmsId(number)}/start/0`));
    expect(world.logger.entries).toEqual([{ level: 'warn', event: 'jobs_handed_back', fields: { jobs: 3 } }]);
    expect(await relayJobs.execute()).toBe(0);
  });

  it('RelayJobs logs nothing after an outage of the queue when it had leased nothing', async () => {
    capacity = 5;
    const relayJobs = relaying();
    [unavailable, capacity] = ['away', 0];
    expect(await relayJobs.execute()).toBe(0);
    [unavailable, capacity] = [null, 5];
    expect(await relayJobs.execute()).toBe(0);
    expect(world.logger.entries).toEqual([]);
  });

  it('RelayJobs leases the jobs again that a queue did not take, although it is back at the next poll', async () => {
    world.clock.at = NOW + 3;
    capacity = 5;
    const relayJobs = relaying();
    publishFailure = new Error('cut off');
    await expect(relayJobs.execute()).rejects.toThrow('cut off');
    publishFailure = null;
    expect(await relayJobs.execute()).toBe(3);
    expect(await relayJobs.execute()).toBe(0);
  });

  it('RelayJobs leases jobs of every kind again that a blocked queue did not take', async () => {
    const webhook = deliverWebhooksJob({ projectId: 'p1', endpoint: 'a.example/in' }, NOW);
    await world.unitOfWork.run(({ jobs }) => jobs.add([webhook], NOW));
    world.clock.at = NOW + 3;
    capacity = 5;
    const relayJobs = relaying();
    publishFailure = new QueueBlocked('low on memory');
    await expect(relayJobs.execute()).rejects.toThrow(QueueBlocked);
    publishFailure = null;
    expect(await relayJobs.execute()).toBe(4);
    expect(await relayJobs.execute()).toBe(0);
  });

  /** Fails with this error as long as there is one. */
  function failingUnitOfWork() {
    const failure: { error: Error | null } = { error: null };
    const unitOfWork: UnitOfWork = {
      run: (work, durability) =>
        failure.error === null ? world.unitOfWork.run(work, durability) : Promise.reject(failure.error),
      read: (work) => world.unitOfWork.read(work),
      ping: () => world.unitOfWork.ping(),
    };
    return { failure, unitOfWork };
  }

  it('RelayJobs hands back what the queue may have lost although that fails at first', async () => {
    world.clock.at = NOW + 3;
    capacity = 5;
    const { failure, unitOfWork } = failingUnitOfWork();
    const relayJobs = relaying(unitOfWork);
    await relayJobs.execute();
    [unavailable, capacity] = ['away', 0];
    await relayJobs.execute();
    [unavailable, capacity] = [null, 5];
    failure.error = new Error('broken');
    await expect(relayJobs.execute()).rejects.toThrow('broken');
    failure.error = null;
    expect(await relayJobs.execute()).toBe(3);
  });

  it.each([
    ['leases the jobs of messages again when the database was away', new StorageUnavailable(null), 3],
    ['leases nothing again when the database was there', new Error('broken'), 0],
  ])('RelayJobs, after a transaction that failed, %s', async (_, error, leased) => {
    world.clock.at = NOW + 3;
    capacity = 5;
    const { failure, unitOfWork } = failingUnitOfWork();
    const relayJobs = relaying(unitOfWork);
    expect(await relayJobs.execute()).toBe(3);
    failure.error = error;
    await expect(relayJobs.execute()).rejects.toBe(error);
    failure.error = null;
    expect(await relayJobs.execute()).toBe(leased);
    expect(await relayJobs.execute()).toBe(0);
  });

  it('RelayJobs leases a job again only when its lease has ended', async () => {
    world.clock.at = NOW + 3;
    capacity = 5;
    await relay();
    world.clock.at += LEASE_MS - 1;
    expect(await relay()).toBe(0);
    world.clock.at += 1;
    expect(await relay()).toBe(3);
    expect(published).toHaveLength(2);
  });
});
