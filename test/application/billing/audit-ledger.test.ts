import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditLedger, problemsOf, unfinishedIn } from '../../../src/application/billing/audit-ledger.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { RedriveJobs } from '../../../src/application/jobs/redrive-jobs.ts';
import { holdEntry } from '../../../src/domain/billing/ledger.ts';
import { iqd, ZERO } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aMessage, anSmsId, NOW, PROJECT_ID } from '../../support/builders.ts';

const JOB = startAttemptJob(aMessage(), 0, NOW);

describe('the audit of the ledger', () => {
  let world: ApplicationWorld;
  const audit = () => world.container.get(AuditLedger).execute();

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

  it('the audit of the ledger finds nothing wrong after a deposit', async () => {
    const found = await audit();
    expect(found).toEqual({
      projects: 1,
      differences: [],
      deadLetterJobs: { count: 0, latest: [] },
      openHolds: [],
      nextJob: null,
    });
    expect([problemsOf(found), unfinishedIn(found)]).toEqual([[], []]);
  });

  it('the audit of the ledger finds a column of an account that is not the sum of its entries', async () => {
    await world.database.knex('accounts').update({ spent: 5_000 });
    const found = await audit();
    expect(found.differences).toEqual([
      { projectId: PROJECT_ID, column: 'spent', account: iqd(5), entries: ZERO },
    ]);
    expect(problemsOf(found)).toEqual([`project ${PROJECT_ID}: spent is 5 IQD, its entries say 0 IQD`]);
  });

  it('the audit of the ledger finds dead-letter jobs until they are made due again', async () => {
    await deadLetterAJob();
    const found = await audit();
    expect(found.deadLetterJobs).toMatchObject({
      count: 1,
      latest: [{ id: JOB.id, reason: 'broken', deadLetteredAt: NOW }],
    });
    expect(problemsOf(found)).toEqual(['1 job is dead-lettered']);
    expect(await world.container.get(RedriveJobs).execute()).toBe(1);
    expect(problemsOf(await audit())).toEqual([]);
    expect((await world.lease()).map(({ id }) => id)).toEqual([JOB.id]);
  });

  it('the audit of the ledger tells holds and jobs that are left apart from what is wrong', async () => {
    await world.unitOfWork.run(async ({ jobs, ledger }) => {
      await jobs.add([JOB]);
      await ledger.post([holdEntry({ projectId: PROJECT_ID, reference: anSmsId(), at: NOW }, iqd(80))]);
    });
    const found = await audit();
    expect(problemsOf(found)).toEqual([]);
    expect(unfinishedIn(found)).toEqual([
      `project ${PROJECT_ID}: 80 IQD are still held`,
      `a job is due at 2026-01-15T12:00:00.000Z: ${JOB.id}`,
    ]);
  });
});

it('the audit of the ledger counts several dead-letter jobs in one sentence', () => {
  const found = { projects: 0, differences: [], openHolds: [], nextJob: null };
  expect(problemsOf({ ...found, deadLetterJobs: { count: 2, latest: [] } })).toEqual([
    '2 jobs are dead-lettered',
  ]);
});
