import { ContainerModule } from 'inversify';
import { afterEach, expect, it } from 'vitest';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import { FAILED_JOB_RETRY_MS } from '../../../src/application/jobs/record-job-failure.ts';
import { removeReportJob } from '../../../src/application/jobs/report-jobs.ts';
import { RunJobs } from '../../../src/application/jobs/run-jobs.ts';
import { syncWhatsappJob } from '../../../src/application/jobs/whatsapp-jobs.ts';
import type { PlatformAccountResult } from '../../../src/application/ports/whatsapp-platform.ts';
import { RunWhatsappSync } from '../../../src/application/whatsapp/run-whatsapp-sync.ts';
import { ports } from '../../../src/bootstrap/tokens.ts';
import { LEASE_MS } from '../../../src/domain/jobs/job.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import { anId, aProject, aWhatsappBusiness, NOW } from '../../support/builders.ts';

const HOUR_MS = 3_600_000;
const JOB_ID = 'whatsapp/sync';
const AWAY: PlatformAccountResult = { kind: 'unavailable', reason: 'away' };

let world: ApplicationWorld;
let asked: string[];
/** What the platform does when it is asked for an account. */
let accountOf: () => Promise<PlatformAccountResult>;
/** Called when the lease of a synchronisation is to be renewed. */
const renewals = new Set<() => unknown>();

async function renewNow(): Promise<void> {
  const due = [...renewals];
  renewals.clear();
  for (const renew of due) await renew();
}

/** A worker with one live project and its account. */
async function open({ hasPlatform = true } = {}): Promise<RunWhatsappSync> {
  asked = [];
  accountOf = async () => AWAY;
  const platform = {
    accountOf(id: string) {
      asked.push(id);
      return accountOf();
    },
  };
  world = await openApplication({
    projects: [
      aSeedProject({
        project: aProject({ environment: 'live' }),
        whatsappBusinesses: [aWhatsappBusiness()],
      }),
    ],
    overrides: [
      new ContainerModule(({ rebind }) => {
        rebind(ports.whatsappPlatforms).toConstantValue(hasPlatform ? [platform] : []);
        rebind(ports.renewInterval).toConstantValue((expired) => {
          renewals.add(expired);
          return () => renewals.delete(expired);
        });
      }),
    ],
  });
  return world.container.get(RunWhatsappSync);
}
afterEach(() => world.close());

const nextDue = () => world.unitOfWork.read(({ jobs }) => jobs.nextDue());

it('a worker that starts makes the synchronisation due at once, and it is due again after an hour', async () => {
  const runs = await open();
  await runs.schedule();
  expect(await world.runDueJobs()).toEqual([JOB_ID]);
  expect(asked).toEqual(['103000000000001']);
  world.clock.at += HOUR_MS - 1;
  expect(await world.runDueJobs()).toEqual([]);
  world.clock.at += 1;
  expect(await world.runDueJobs()).toEqual([JOB_ID]);
  expect(asked).toHaveLength(2);
  expect(world.logger.entries.map(({ event }) => event)).toEqual([
    'whatsapp_sync_failed',
    'whatsapp_sync_failed',
  ]);
});

it('workers that start one after another have one job, which is due when the latest starts', async () => {
  const runs = await open();
  await runs.schedule();
  world.clock.at += 5;
  await runs.schedule();
  expect(await nextDue()).toEqual({ id: JOB_ID, dueAt: NOW });
  await world.runDueJobs();
  expect(await nextDue()).toEqual({ id: JOB_ID, dueAt: NOW + 5 + HOUR_MS });
  world.clock.at += 5;
  await runs.schedule();
  expect(await world.runDueJobs()).toEqual([JOB_ID]);
  expect(await world.database.knex('jobs')).toHaveLength(1);
});

it('a worker that starts while another one synchronises adds no second synchronisation', async () => {
  const runs = await open();
  await runs.schedule();
  accountOf = async () => {
    await runs.schedule();
    expect(await world.lease()).toEqual([]);
    return AWAY;
  };
  await world.runDueJobs();
  expect(await nextDue()).toEqual({ id: JOB_ID, dueAt: NOW + HOUR_MS });
});

it('a process without a platform adds no job, and quietly ends one that it is given', async () => {
  const runs = await open({ hasPlatform: false });
  await runs.schedule();
  expect(await nextDue()).toBeNull();
  await world.unitOfWork.run(({ jobs }) => jobs.add([syncWhatsappJob(NOW)], NOW));
  expect(await world.runDueJobs()).toEqual([JOB_ID]);
  expect(await nextDue()).toBeNull();
  expect(world.logger.entries).toEqual([]);
});

it('other jobs of the batch are done while the platform is asked, and no transaction is open meanwhile', async () => {
  const runs = await open();
  await runs.schedule();
  await world.unitOfWork.run(({ jobs }) =>
    jobs.add([removeReportJob({ id: anId(1), projectId: aProject().id, createdAt: NOW }, NOW)], NOW),
  );
  let respond: (result: PlatformAccountResult) => void = () => undefined;
  const isAsked = new Promise<void>((reached) => {
    accountOf = () => {
      reached();
      return new Promise((resolve) => {
        respond = resolve;
      });
    };
  });
  await world.container.get(RunJobs).execute(await world.lease());
  await isAsked;
  // The database in memory has one connection: a transaction that was open would hold this up.
  expect(await world.database.knex('jobs').pluck('id')).toEqual([JOB_ID]);
  respond(AWAY);
  await world.container.get(BackgroundWork).idle();
  expect(await nextDue()).toEqual({ id: JOB_ID, dueAt: NOW + HOUR_MS });
});

it('a synchronisation that takes long keeps its lease', async () => {
  const runs = await open();
  await runs.schedule();
  accountOf = async () => {
    for (let renewal = 0; renewal < 3; renewal += 1) {
      world.clock.at += LEASE_MS - 1;
      await renewNow();
      expect(await world.lease()).toEqual([]);
    }
    return AWAY;
  };
  await world.runDueJobs();
  expect(renewals.size).toBe(0);
  expect(await nextDue()).toEqual({ id: JOB_ID, dueAt: world.clock.at + HOUR_MS });
});

it('a worker that lost the lease ends its synchronisation, and the job stays with the one that has it', async () => {
  const runs = await open();
  await runs.schedule();
  let leasedUntil = 0;
  accountOf = async () => {
    world.clock.at += LEASE_MS + 1;
    expect(await world.lease()).toHaveLength(1);
    leasedUntil = world.clock.at + LEASE_MS;
    await renewNow();
    return new Promise(() => undefined);
  };
  await world.runDueJobs();
  expect(await nextDue()).toEqual({ id: JOB_ID, dueAt: leasedUntil });
  expect(world.logger.entries).toEqual([]);
});

it('a synchronisation whose lease ended unseen does not make the job of another worker due later', async () => {
  const runs = await open();
  await runs.schedule();
  accountOf = async () => {
    world.clock.at += LEASE_MS + 1;
    await world.lease();
    return AWAY;
  };
  await world.runDueJobs();
  expect(await nextDue()).toEqual({ id: JOB_ID, dueAt: world.clock.at + LEASE_MS });
});

it('the fencing token of the job rises from hour to hour, so that no earlier lease is valid again', async () => {
  const runs = await open();
  await runs.schedule();
  const tokens: number[] = [];
  for (let hour = 0; hour < 3; hour += 1) {
    const leased = await world.lease();
    tokens.push(...leased.map(({ fencingToken }) => fencingToken));
    await world.container.get(RunJobs).execute(leased);
    await world.container.get(BackgroundWork).idle();
    world.clock.at += HOUR_MS;
  }
  const [first = 0, second = 0, third = 0] = tokens;
  expect([tokens.length, first < second, second < third]).toEqual([3, true, true]);
});

it('a process that stops waits for no platform, and leaves the job to the end of its lease', async () => {
  const runs = await open();
  await runs.schedule();
  accountOf = () => {
    world.container.get(BackgroundWork).stop();
    return new Promise(() => undefined);
  };
  await world.runDueJobs();
  expect(await nextDue()).toEqual({ id: JOB_ID, dueAt: NOW + LEASE_MS });
  world.clock.at += LEASE_MS;
  await world.runDueJobs();
  expect([asked.length, world.logger.entries]).toEqual([1, []]);
});

it('a synchronisation that fails is due again half a minute later', async () => {
  const runs = await open();
  await runs.schedule();
  accountOf = () => Promise.reject(new Error('A platform that breaks its promise'));
  await world.runDueJobs();
  expect(world.logger.count('job_failed')).toBe(1);
  expect(await nextDue()).toEqual({ id: JOB_ID, dueAt: NOW + FAILED_JOB_RETRY_MS });
});
