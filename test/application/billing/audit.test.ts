import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VerifyLedger } from '../../../src/application/billing/verify-ledger.ts';
import { CheckInvariants } from '../../../src/application/check-invariants.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { RedriveJobs } from '../../../src/application/jobs/redrive-jobs.ts';
import { holdEntry } from '../../../src/domain/billing/ledger.ts';
import { iqd, ZERO } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { anSmsId, NOW, PROJECT_ID } from '../../support/builders.ts';

const JOB = startAttemptJob(anSmsId(), 0, NOW);

describe('the audit of the ledger', () => {
  let world: ApplicationWorld;
  const verify = () => world.container.get(VerifyLedger).execute();
  const check = (quiet: boolean) => world.container.get(CheckInvariants).execute({ quiet });

  beforeEach(async () => {
    world = await openApplication();
  });

  afterEach(() => world.close());

  async function deadLetterAJob(): Promise<void> {
    await world.unitOfWork.run(({ jobs }) => jobs.add([JOB]));
    const leased = await world.lease();
    const failure = { reason: 'broken', at: NOW, retryAt: NOW, failuresMax: 1 };
    await world.unitOfWork.run(({ jobs }) => jobs.fail(leased, failure));
  }

  it('finds nothing wrong after a deposit', async () => {
    expect(await verify()).toEqual({ projects: 1, differences: [], deadJobs: 0, latestDead: [] });
    expect(await check(true)).toEqual([]);
  });

  it('finds a column of an account that is not the sum of its entries', async () => {
    await world.database.knex('accounts').update({ spent: 5_000 });
    const difference = { projectId: PROJECT_ID, column: 'spent', account: iqd(5), entries: ZERO };
    expect((await verify()).differences).toEqual([difference]);
    expect(await check(false)).toEqual([`project ${PROJECT_ID}: spent is 5 IQD, its entries say 0 IQD`]);
  });

  it('finds dead-letter jobs until they are made due again', async () => {
    await deadLetterAJob();
    expect(await verify()).toMatchObject({
      deadJobs: 1,
      latestDead: [{ id: JOB.id, reason: 'broken', deadLetteredAt: NOW }],
    });
    expect(await check(false)).toEqual(['1 jobs are dead-lettered']);
    expect(await world.container.get(RedriveJobs).execute()).toBe(1);
    expect(await check(false)).toEqual([]);
    expect((await world.lease()).map(({ id }) => id)).toEqual([JOB.id]);
  });

  it('finds holds and jobs that are left only where everything has to be over', async () => {
    await world.unitOfWork.run(async ({ jobs, ledger }) => {
      await jobs.add([JOB]);
      await ledger.post([holdEntry({ projectId: PROJECT_ID, reference: anSmsId(), at: NOW }, iqd(80))]);
    });
    expect(await check(false)).toEqual([]);
    expect(await check(true)).toEqual([
      `project ${PROJECT_ID}: 80 IQD are still held`,
      `a job is due at 2026-01-15T12:00:00.000Z: ${JOB.id}`,
    ]);
  });
});
