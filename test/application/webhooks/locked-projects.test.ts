import { describe, expect, it } from 'vitest';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { RenewLeases } from '../../../src/application/jobs/renew-leases.ts';
import { deliverWebhooksJob, type WebhookWork } from '../../../src/application/jobs/webhook-jobs.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { LockWait, UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { FetchDueEvents } from '../../../src/application/webhooks/fetch-due-events.ts';
import { RecordDeliveries } from '../../../src/application/webhooks/record-deliveries.ts';
import { ReleaseJobs } from '../../../src/application/webhooks/release-jobs.ts';
import { LEASE_MS, type LeasedJob, type Work } from '../../../src/domain/jobs/job.ts';
import { CLOSED_CIRCUIT } from '../../../src/domain/shared/circuit-breaker.ts';
import { destinationKey } from '../../../src/domain/webhooks/destination.ts';
import { aWebhookEvent, NOW } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { uncancelled } from '../../support/uncancelled.ts';
import { until } from '../../support/until.ts';

const clock = { now: () => NOW };

function jobOf(projectId: string): LeasedJob<WebhookWork> {
  const { id, work } = deliverWebhooksJob({ projectId, endpoint: 'customer.example/status' }, NOW);
  return { id, work, fencingToken: 1 };
}

/** Stores in which each destination has an event, and its circuit is half-open. `touch` is called with the ids of jobs. */
function storesWith(touch: (ids: readonly string[]) => void): Stores {
  const halfOpen = { ...CLOSED_CIRCUIT, failuresInRow: 10, openUntil: NOW, consecutiveOpens: 1 };
  const circuitsOf = (keys: readonly string[]) => new Map(keys.map((key) => [key, halfOpen]));
  const touched = async (jobs: readonly LeasedJob[]) => {
    touch(jobs.map(({ id }) => id));
    return jobs;
  };
  return {
    jobs: {
      stillLeased: async (jobs: readonly LeasedJob[]) => jobs,
      lockLeased: touched,
      renew: touched,
      complete: async () => [],
      add: async () => {},
    },
    circuitBreakers: {
      read: async (keys: readonly string[]) => circuitsOf(keys),
      async lock(keys: readonly string[]) {
        touch(keys);
        return circuitsOf(keys);
      },
      save: async () => {},
    },
    webhookEvents: {
      due: async (fetches: readonly unknown[]) => fetches.map(() => [aWebhookEvent({})]),
      nextDueAt: async (works: readonly unknown[]) => works.map(() => null),
      save: async () => [],
      lockOpen: async () => [],
    },
    webhookAttempts: { insert: async () => {} },
  } as unknown as Stores;
}

/** What a transaction waits for a lock, and for how long. */
type Waits = { ids: readonly string[]; lockWait: LockWait | undefined }[];

/** Of the project `locked` a row is locked until the test lets go of it; it is rejected then. */
function lockedUnits() {
  const waits: Waits = [];
  let giveUp = () => {};
  const isGivenUp = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  const unitOfWork: Pick<UnitOfWork, 'run' | 'read'> = {
    async run(work, _, lockWait) {
      let ids: readonly string[] = [];
      const result = await work(storesWith((touched) => (ids = touched)));
      if (!ids.some((id) => id.includes('locked'))) return result;
      waits.push({ ids, lockWait });
      if (lockWait !== 'brief') await isGivenUp;
      throw new StorageLocked(new Error('lock timeout'));
    },
    read: (work) => work(storesWith(() => {})),
  };
  return { unitOfWork: unitOfWork as UnitOfWork, waits, giveUp };
}

const ports = { clock, wakeSignal: { wake() {} }, logger: new RecordingLogger(), workerId: 'w1' };

const USE_CASES: readonly [
  string,
  (unitOfWork: UnitOfWork) => (job: LeasedJob<WebhookWork>) => Promise<unknown>,
][] = [
  [
    'RecordDeliveries',
    (unitOfWork) => {
      const ids = { fraction: () => 0 } as never;
      const recordDeliveries = new RecordDeliveries({
        ...ports,
        unitOfWork,
        ids,
        recordBatchWindow: uncancelled((over) => over()),
      });
      const result = { kind: 'responded', status: 204, retryAfterMs: null } as const;
      const event = aWebhookEvent({});
      return (job) => recordDeliveries.execute({ job, event, result, startedAt: NOW, endedAt: NOW });
    },
  ],
  [
    'FetchDueEvents',
    (unitOfWork) => {
      const fetchDueEvents = new FetchDueEvents({ ...ports, unitOfWork });
      return (job) => fetchDueEvents.execute({ job, after: null, limit: 1 });
    },
  ],
  [
    'ReleaseJobs',
    (unitOfWork) => {
      const releaseJobs = new ReleaseJobs({ ...ports, unitOfWork });
      return (job) => releaseJobs.execute({ job, notBefore: 0 });
    },
  ],
  [
    'RenewLeases',
    (unitOfWork) => {
      const renewLeases = new RenewLeases({ ...ports, unitOfWork });
      return (job) => renewLeases.execute(job);
    },
  ],
];

describe('while a row of one project is locked', () => {
  it.each(USE_CASES)(
    '%s waits briefly for it, then long for that project alone, and rejects it alone',
    async (_, use) => {
      const { unitOfWork, waits, giveUp } = lockedUnits();
      const execute = use(unitOfWork);
      const [locked, other] = [jobOf('locked'), jobOf('other')];
      const rejected = expect(execute(locked)).rejects.toBeInstanceOf(StorageLocked);
      await execute(other);
      await execute(other);
      const isOf = (job: LeasedJob<WebhookWork>) => (id: string) =>
        [job.id, destinationKey(job.work)].includes(id);
      expect(waits.map(({ lockWait }) => lockWait)).toEqual(['brief', 'long']);
      expect(waits.map(({ ids }) => [ids.some(isOf(locked)), ids.some(isOf(other))])).toEqual([
        [true, true],
        [true, false],
      ]);
      giveUp();
      await rejected;
    },
  );

  it('ReleaseJobs holds up no other jobs behind those of that project that nobody has begun, and tells of each that it cannot release', async () => {
    const { unitOfWork, waits, giveUp } = lockedUnits();
    const releaseJobs = new ReleaseJobs({ ...ports, unitOfWork });
    const failures: unknown[] = [];
    const release = (...projectIds: readonly string[]) =>
      releaseJobs.releaseUnbegun(
        projectIds.map((projectId) => ({ job: jobOf(projectId), notBefore: 0 })),
        (error) => failures.push(error),
      );
    await release('locked', 'other');
    await releaseJobs.execute({ job: jobOf('other'), notBefore: 0 });
    expect(waits.map(({ lockWait }) => lockWait)).toEqual(['brief', 'long']);
    expect(failures).toEqual([]);
    await release('locked', 'other');
    expect(failures).toEqual([expect.any(StorageLocked)]);
    giveUp();
    await until(() => failures.length > 1);
    expect(failures).toEqual([expect.any(StorageLocked), expect.any(StorageLocked)]);
  });

  it('RenewLeases waits for it also with the jobs that belong to no project, which go together', async () => {
    const { unitOfWork, waits, giveUp } = lockedUnits();
    const renewLeases = new RenewLeases({ ...ports, unitOfWork });
    const jobs: readonly LeasedJob<Work>[] = [
      jobOf('locked'),
      { id: 'retention/run', fencingToken: 1, work: { kind: 'run-retention' } },
      { id: 'whatsapp/sync', fencingToken: 1, work: { kind: 'sync-whatsapp' } },
    ];
    const [locked, ...others] = jobs.map((job) => renewLeases.execute(job));
    const rejected = expect(locked).rejects.toBeInstanceOf(StorageLocked);
    const lease = { at: NOW, until: NOW + LEASE_MS };
    expect(await Promise.all(others)).toEqual([lease, lease]);
    expect(waits.map(({ ids }) => ids.length)).toEqual([3, 1]);
    giveUp();
    await rejected;
  });
});
