import { expect, it } from 'vitest';
import { RandomIdSource } from '../../src/adapters/node/random-id-source.ts';
import { BackgroundWork } from '../../src/application/concurrency/background-work.ts';
import { RecordJobFailure } from '../../src/application/jobs/record-job-failure.ts';
import { RenewLeases } from '../../src/application/jobs/renew-leases.ts';
import { SYNC_WHATSAPP_JOB_ID, type SyncWhatsappWork } from '../../src/application/jobs/whatsapp-jobs.ts';
import { RunWhatsappSync } from '../../src/application/whatsapp/run-whatsapp-sync.ts';
import { SyncWhatsapp } from '../../src/application/whatsapp/sync-whatsapp.ts';
import { WhatsappPlatforms } from '../../src/application/whatsapp/whatsapp-platforms.ts';
import { LEASE_MS, type LeasedJob } from '../../src/domain/jobs/job.ts';
import { NOW } from '../support/builders.ts';
import { IDLE_EVENT_LOOP } from '../support/idle-event-loop.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { type Storage, storageOfSuite } from './storage.ts';

const HOUR_MS = 3_600_000;
const WORKERS = 4;

/** What workers on one storage promise about the job that synchronises whatsapp accounts. */
export function whatsappSyncContract(open: () => Promise<Storage>): void {
  const storage = storageOfSuite(open);
  const clock = { at: NOW, now: () => clock.at };
  const platform = {
    accountOf: async () => ({ kind: 'unavailable', reason: 'There is no account here' }) as const,
  };

  function worker(workerId: string) {
    const { unitOfWork } = storage;
    const logger = new RecordingLogger();
    const background = new BackgroundWork({ logger });
    const runs = new RunWhatsappSync({
      unitOfWork,
      whatsappPlatforms: new WhatsappPlatforms({ platforms: [platform] }),
      syncWhatsapp: new SyncWhatsapp({
        unitOfWork,
        platform,
        clock,
        ids: new RandomIdSource(),
        logger,
        eventLoop: IDLE_EVENT_LOOP,
      }),
      renewLeases: new RenewLeases({ unitOfWork, clock, workerId }),
      renewInterval: () => () => undefined,
      recordJobFailure: new RecordJobFailure({ unitOfWork, clock, logger }),
      background,
      clock,
    });
    const lease = () =>
      storage.run(({ jobs }) =>
        jobs.lease({ workerId, now: clock.at, until: clock.at + LEASE_MS, limit: 10 }),
      ) as Promise<readonly LeasedJob<SyncWhatsappWork>[]>;
    return { runs, background, lease };
  }

  /** Every worker leases at once, and does what it gets; resolves with the number of jobs. */
  async function leaseAndRun(workers: readonly ReturnType<typeof worker>[]): Promise<number> {
    const leased = await Promise.all(workers.map(({ lease }) => lease()));
    for (const [index, { runs, background }] of workers.entries()) {
      await runs.execute(leased[index] ?? []);
      await background.idle();
    }
    return leased.flat().length;
  }

  it('the workers of an installation have one synchronisation an hour, also when they start at the same moment', async () => {
    clock.at = NOW;
    const workers = Array.from({ length: WORKERS }, (_, index) => worker(`worker-${index}`));
    await Promise.all(workers.map(({ runs }) => runs.schedule()));
    expect(await leaseAndRun(workers)).toBe(1);
    for (let hour = 1; hour <= 3; hour += 1) {
      expect(await storage.read(({ jobs }) => jobs.nextDue())).toEqual({
        id: SYNC_WHATSAPP_JOB_ID,
        dueAt: NOW + hour * HOUR_MS,
      });
      clock.at = NOW + hour * HOUR_MS - 1;
      expect(await leaseAndRun(workers)).toBe(0);
      clock.at += 1;
      expect(await leaseAndRun(workers)).toBe(1);
    }
  });
}
