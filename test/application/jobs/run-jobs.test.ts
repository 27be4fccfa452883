import { ContainerModule } from 'inversify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { FAILED_JOB_RETRY_MS, JOB_FAILURES_MAX } from '../../../src/application/jobs/record-job-failure.ts';
import { RunJobs } from '../../../src/application/jobs/run-jobs.ts';
import { readConfig } from '../../../src/bootstrap/config/config.ts';
import { buildContainer } from '../../../src/bootstrap/container.ts';
import { adapters, ports } from '../../../src/bootstrap/tokens.ts';
import { LEASE_MS, type LeasedJob } from '../../../src/domain/jobs/job.ts';
import { aMessage, aNewAccount, anSmsId, aProject, NOW } from '../../support/builders.ts';
import { LossyUnitOfWork } from '../../support/lossy-unit-of-work.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const SOUND = anSmsId(1);
const POISONED = anSmsId(2);

/** RunJobs in its real surroundings, on a database in memory that can be lost. */
function world() {
  const logger = new RecordingLogger();
  const clock = { at: NOW, now: () => clock.at };
  const submitted: string[] = [];
  const lossy = new ContainerModule(({ rebind }) => {
    rebind(ports.unitOfWork).toResolvedValue(
      (inner: Database) => new LossyUnitOfWork(new SqlUnitOfWork(inner)),
      [adapters.database],
    );
  });
  const container = buildContainer({
    ...readConfig({
      DATABASE_URL: 'sqlite::memory:',
      SMS_PROVIDER: 'simulator',
      WHATSAPP_PROVIDER: 'simulator',
      TELEGRAM_PROVIDER: 'simulator',
    }),
    secretKey: Buffer.alloc(32),
    clock,
    logger,
    onSubmission: ({ smsId }) => submitted.push(smsId),
    overrides: [lossy],
  });
  const unitOfWork = container.get(ports.unitOfWork) as LossyUnitOfWork;
  const database = container.get(adapters.database);
  return {
    logger,
    clock,
    submitted,
    database,
    unitOfWork,
    runJobs: container.get(RunJobs),
    background: container.get(BackgroundWork),
    lease: (): Promise<readonly LeasedJob[]> =>
      unitOfWork.run((stores) =>
        stores.jobs.lease({ workerId: 'worker', now: clock.at, until: clock.at + LEASE_MS, limit: 100 }),
      ),
    attemptsOf: (smsId: string) =>
      unitOfWork.run(async (stores) => (await stores.messages.lock([smsId]))[0]?.attempts.length),
    countDeadLettered: () => unitOfWork.read((stores) => stores.deadLetters.count(10)),
    async prepare(): Promise<void> {
      await database.migrate();
      await unitOfWork.run(async (stores) => {
        await stores.projects.insert([aProject()]);
        await stores.accounts.insert([aNewAccount()]);
        await stores.messages.insert([aMessage({ smsId: SOUND }), aMessage({ smsId: POISONED })]);
        await stores.jobs.add(
          [
            startAttemptJob(aMessage({ smsId: SOUND }), 0, NOW),
            startAttemptJob(aMessage({ smsId: POISONED }), 0, NOW),
          ],
          NOW,
        );
      });
      await database.knex.raw(
        `CREATE TRIGGER poison BEFORE UPDATE ON messages WHEN NEW.sms_id = '${POISONED}'
         BEGIN SELECT RAISE(ABORT, 'poison'); END`,
      );
    },
  };
}

describe('RunJobs', () => {
  let here: ReturnType<typeof world>;

  beforeEach(async () => {
    here = world();
    await here.prepare();
  });

  afterEach(async () => {
    await here.background.idle();
    await here.database.close();
  });

  it('RunJobs does the sound jobs of a batch and leaves the poisoned one leased', async () => {
    const jobs = await here.lease();
    expect(jobs.map(({ work }) => work.kind)).toEqual(['start-attempt', 'start-attempt']);
    await here.runJobs.execute(jobs);
    await here.background.idle();
    expect(await here.attemptsOf(SOUND)).toBe(1);
    expect(await here.attemptsOf(POISONED)).toBe(0);
    expect(here.logger.count('job_failed')).toBe(1);
    const dueNow = await here.lease();
    expect(dueNow).toEqual([]);
  });

  it('RunJobs dead-letters a job once it failed five times by itself, and does it when it is redriven', async () => {
    expect(JOB_FAILURES_MAX).toBe(5);
    const poisoned = async () =>
      (await here.lease()).filter(({ work }) => JSON.stringify(work).includes(POISONED));
    for (let failure = 1; failure <= JOB_FAILURES_MAX; failure += 1) {
      expect(await here.countDeadLettered()).toBe(0);
      await here.runJobs.execute(await poisoned());
      here.clock.at += FAILED_JOB_RETRY_MS;
    }
    expect(await here.countDeadLettered()).toBe(1);
    expect(here.logger.entries.filter(({ event }) => event === 'job_dead_lettered')).toEqual([
      {
        level: 'warn',
        event: 'job_dead_lettered',
        fields: { jobId: `${POISONED}/start/0`, kind: 'start-attempt' },
      },
    ]);
    expect(await poisoned()).toEqual([]);
    expect(await here.database.knex('dead_letter_jobs').select('id', 'reason', 'dead_lettered_at')).toEqual([
      { id: `${POISONED}/start/0`, reason: 'poison', dead_lettered_at: NOW + 4 * FAILED_JOB_RETRY_MS },
    ]);
    await here.database.knex.raw('DROP TRIGGER poison');
    await here.unitOfWork.run(async ({ deadLetters }) =>
      deadLetters.redrive(await deadLetters.lock({ kind: null, ids: null }, 1), here.clock.at),
    );
    await here.runJobs.execute(await poisoned());
    expect([await here.countDeadLettered(), await here.attemptsOf(POISONED)]).toEqual([0, 1]);
  });

  it('RunJobs does not count leases that ran out against a job', async () => {
    for (let lease = 1; lease <= 3 * JOB_FAILURES_MAX; lease += 1) {
      expect(await here.lease()).toHaveLength(2);
      here.clock.at += LEASE_MS;
    }
    await here.runJobs.execute(await here.lease());
    expect([await here.attemptsOf(SOUND), await here.countDeadLettered()]).toEqual([1, 0]);
  });

  it('RunJobs does nothing for a job that was leased again meanwhile', async () => {
    const late = await here.lease();
    here.clock.at += LEASE_MS;
    const fresh = await here.lease();
    await here.runJobs.execute(late);
    expect(await here.attemptsOf(SOUND)).toBe(0);
    await here.runJobs.execute(fresh);
    expect(await here.attemptsOf(SOUND)).toBe(1);
  });

  it('RunJobs does a job that is handed over twice only once', async () => {
    const [sound] = (await here.lease()).filter(({ work }) => JSON.stringify(work).includes(SOUND));
    if (sound === undefined) throw new Error('The job is due');
    await here.runJobs.execute([sound]);
    await here.background.idle();
    const submitted = await here.attemptsOf(SOUND);
    await here.runJobs.execute([sound]);
    await here.background.idle();
    expect([submitted, await here.attemptsOf(SOUND)]).toEqual([1, 1]);
    expect(here.logger.entries).toEqual([]);
  });

  it('RunJobs submits nothing of a batch that was not committed, and all of it once it is', async () => {
    await here.database.knex.raw('DROP TRIGGER poison');
    const jobs = await here.lease();
    here.unitOfWork.losses = ['before-commit', 'before-commit', 'before-commit'];
    await here.runJobs.execute(jobs);
    await here.background.idle();
    expect(here.submitted).toEqual([]);
    here.clock.at += LEASE_MS;
    await here.runJobs.execute(await here.lease());
    await here.background.idle();
    expect(here.submitted.toSorted()).toEqual([SOUND, POISONED]);
  });

  it('RunJobs counts no failure against the jobs of a batch that lost the database', async () => {
    await here.database.knex.raw('DROP TRIGGER poison');
    for (let outage = 1; outage <= JOB_FAILURES_MAX; outage += 1) {
      const jobs = await here.lease();
      expect(jobs).toHaveLength(2);
      const before = here.unitOfWork.transactions;
      // A database that comes and goes: the note of a failure would be stored.
      here.unitOfWork.losses = ['before-commit', 'before-commit', 'before-commit', null, null];
      await here.runJobs.execute(jobs);
      expect(here.unitOfWork.transactions - before).toBe(3);
      here.unitOfWork.losses = [];
      here.clock.at += FAILED_JOB_RETRY_MS;
    }
    expect(await here.countDeadLettered()).toBe(0);
    expect(here.logger.count('job_failed')).toBe(2 * JOB_FAILURES_MAX);
    await here.runJobs.execute(await here.lease());
    expect([await here.attemptsOf(SOUND), await here.attemptsOf(POISONED)]).toEqual([1, 1]);
  });
});
