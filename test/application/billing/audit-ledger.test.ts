import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditLedger, problemsOf, unfinishedIn } from '../../../src/application/billing/audit-ledger.ts';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { ManageJobs } from '../../../src/application/operators/manage-jobs.ts';
import { holdEntry } from '../../../src/domain/billing/ledger.ts';
import { iqd, ZERO } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aCampaign, aMessage, anId, anSmsId, NOW, PROJECT_ID } from '../../support/builders.ts';
import { openCampaigns, testNumbers } from '../../support/campaign-world.ts';

const JOB = startAttemptJob(aMessage(), 0, NOW);

describe('the audit of the ledger', () => {
  let world: ApplicationWorld;
  const audit = () => world.container.get(AuditLedger).execute();

  beforeEach(async () => {
    world = await openApplication();
  });

  afterEach(() => world.close());

  async function deadLetterAJob(): Promise<void> {
    await world.unitOfWork.run(({ jobs }) => jobs.add([JOB], NOW));
    const leased = await world.lease();
    const failure = { reason: 'broken', at: NOW, retryAt: NOW, failuresMax: 1 };
    await world.unitOfWork.run(({ jobs }) => jobs.fail(leased, failure));
  }

  it('the audit of the ledger finds nothing wrong after a deposit', async () => {
    const found = await audit();
    expect(found).toEqual({
      projects: 1,
      differences: [],
      campaignDifferences: [],
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
    await world.container.get(ManageJobs).redrive('operator', { kind: null, ids: null });
    expect(problemsOf(await audit())).toEqual([]);
    expect((await world.lease()).map(({ id }) => id)).toEqual([JOB.id]);
  });

  it('the audit of the ledger tells holds and jobs that are left apart from what is wrong', async () => {
    await world.unitOfWork.run(async ({ jobs, ledger }) => {
      await jobs.add([JOB], NOW);
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

it('the audit of the ledger names every sum in which a campaign disagrees with its recipients', async () => {
  const world = await openCampaigns();
  const audit = () => world.container.get(AuditLedger).execute();
  await world.started(testNumbers(2));
  await world.unitOfWork.run(({ campaigns }) => campaigns.insert([aCampaign({ id: anId(2) })]));
  expect((await audit()).campaignDifferences).toEqual([]);
  await world.database.knex('campaigns').where({ id: anId() }).update({ sent_count: 1, reserved: 60_000 });
  await world.database
    .knex('campaigns')
    .where({ id: anId(2) })
    .update({ total_recipients: 3 });
  const found = await audit();
  expect(found.campaignDifferences).toEqual([
    { campaignId: anId(), name: 'sentCount', campaign: 1, recipients: 0 },
    { campaignId: anId(), name: 'reserved', campaign: iqd(60), recipients: iqd(120) },
    { campaignId: anId(2), name: 'totalRecipients', campaign: 3, recipients: 0 },
  ]);
  expect(problemsOf(found)).toEqual([
    `campaign ${anId()}: sentCount is 1, its recipients say 0`,
    `campaign ${anId()}: reserved is 60 IQD, its recipients say 120 IQD`,
    `campaign ${anId(2)}: totalRecipients is 3, its recipients say 0`,
  ]);
  await world.close();
});

it('the audit of the ledger counts several dead-letter jobs in one sentence', () => {
  const found = { projects: 0, differences: [], campaignDifferences: [], openHolds: [], nextJob: null };
  expect(problemsOf({ ...found, deadLetterJobs: { count: 2, latest: [] } })).toEqual([
    '2 jobs are dead-lettered',
  ]);
});
