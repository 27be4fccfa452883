import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAttemptJob } from '../../../src/application/jobs/attempt-jobs.ts';
import { startCampaignJob } from '../../../src/application/jobs/campaign-jobs.ts';
import { makeReportJob, removeReportJob } from '../../../src/application/jobs/report-jobs.ts';
import { runRetentionJob } from '../../../src/application/jobs/retention-jobs.ts';
import { deliverWebhooksJob } from '../../../src/application/jobs/webhook-jobs.ts';
import { DEAD_LETTER_SLICE_MAX, ManageJobs } from '../../../src/application/operators/manage-jobs.ts';
import { holdEntry } from '../../../src/domain/billing/ledger.ts';
import type { Job } from '../../../src/domain/jobs/job.ts';
import { newReport, type Report } from '../../../src/domain/reports/report.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aCampaign, aMessage, anSmsId, aProject, NOW, PROJECT_ID } from '../../support/builders.ts';

const ALL = { ids: null, kind: null };
const REPORT_ID = '664abc000000000000000009';

describe('the jobs of operators', () => {
  let world: ApplicationWorld;
  let manageJobs: ManageJobs;

  beforeEach(async () => {
    world = await openApplication();
    manageJobs = world.container.get(ManageJobs);
  });
  afterEach(() => world.close());

  /** Messages with their holds, whose first jobs are dead-lettered. */
  async function deadLetteredMessages(count: number): Promise<void> {
    const messages = Array.from({ length: count }, (_, index) => aMessage({ smsId: anSmsId(index + 1) }));
    await world.unitOfWork.run(async ({ messages: store, ledger }) => {
      await store.insert(messages);
      await ledger.post(
        messages.map(({ smsId, cost }) =>
          holdEntry({ projectId: PROJECT_ID, reference: smsId, at: NOW }, cost),
        ),
      );
    });
    await deadLetter(messages.map((message) => startAttemptJob(message, 0, NOW)));
  }

  async function deadLetter(jobs: readonly Job[]): Promise<void> {
    await world.unitOfWork.run(({ jobs: store }) => store.add(jobs, NOW));
    const leased = await world.lease(jobs.length);
    const failure = { reason: 'broken', at: NOW, retryAt: NOW, failuresMax: 1 };
    await world.unitOfWork.run(({ jobs: store }) => store.fail(leased, failure));
  }

  const left = () => world.unitOfWork.read(({ deadLetters }) => deadLetters.count(10));
  const records = () =>
    world.unitOfWork.read(({ auditLog }) => auditLog.list({ projectId: null, before: null, limit: 10 }));

  it('dropping the first job of a message fails the message, releases its hold and tells the audit log', async () => {
    await deadLetteredMessages(1);
    expect((await world.account()).held).toBe(aMessage().cost);

    expect(await manageJobs.drop('cli', { ids: null, kind: 'start-attempt' })).toEqual({
      jobs: 1,
      hasMore: false,
    });

    expect(await world.message(anSmsId(1))).toMatchObject({
      status: 'failed',
      isFinal: true,
      errorReason: 'An operator dropped the job of this message',
    });
    expect(await world.account()).toMatchObject({ held: 0, spent: 0 });
    expect(await left()).toBe(0);
    expect(await records()).toMatchObject([
      {
        actor: 'cli',
        action: 'jobs-dropped',
        projectId: PROJECT_ID,
        before: null,
        after: { kind: 'start-attempt', jobs: 1 },
      },
    ]);
  });

  it('a dropped job is not dropped again: nothing changes and no record is added', async () => {
    await deadLetteredMessages(1);
    await manageJobs.drop('operator', ALL);
    expect(await manageJobs.drop('operator', ALL)).toEqual({ jobs: 0, hasMore: false });
    expect(await records()).toHaveLength(1);
  });

  it('one request changes a slice, and says that more are there', async () => {
    await deadLetteredMessages(DEAD_LETTER_SLICE_MAX + 1);
    expect(await manageJobs.redrive('operator', ALL)).toEqual({
      jobs: DEAD_LETTER_SLICE_MAX,
      hasMore: true,
    });
    expect(await left()).toBe(1);
    expect(await manageJobs.redrive('operator', ALL)).toEqual({ jobs: 1, hasMore: false });
    expect(await left()).toBe(0);
  });

  it('one request drops a slice, and says that more are there', async () => {
    await deadLetteredMessages(DEAD_LETTER_SLICE_MAX + 1);
    expect(await manageJobs.drop('operator', ALL)).toEqual({ jobs: DEAD_LETTER_SLICE_MAX, hasMore: true });
    expect(await left()).toBe(1);
    expect(await manageJobs.drop('operator', ALL)).toEqual({ jobs: 1, hasMore: false });
    expect(await left()).toBe(0);
  });

  it('the audit log has a record for each project and kind of the jobs that were redriven', async () => {
    await deadLetteredMessages(2);
    await deadLetter([
      runRetentionJob(NOW),
      deliverWebhooksJob({ projectId: PROJECT_ID, endpoint: 'a.example/1' }, NOW),
    ]);
    world.clock.at = NOW + 5;
    expect(await manageJobs.redrive('cli', ALL)).toEqual({ jobs: 4, hasMore: false });
    const found = await records();
    expect(found.every(({ id }) => /^[0-9a-f]{24}$/.test(id))).toBe(true);
    const record = { at: NOW + 5, actor: 'cli', action: 'jobs-redriven', before: null };
    const byKind = [...found].sort((one, other) =>
      String(one.after?.kind) < String(other.after?.kind) ? -1 : 1,
    );
    expect(byKind.map(({ id: _, ...each }) => each)).toEqual([
      { ...record, projectId: PROJECT_ID, after: { kind: 'deliver-webhooks', jobs: 1 } },
      { ...record, projectId: null, after: { kind: 'run-retention', jobs: 1 } },
      { ...record, projectId: PROJECT_ID, after: { kind: 'start-attempt', jobs: 2 } },
    ]);
    expect((await world.lease()).length).toBe(4);
  });

  it('jobs that end different things are dropped together, each with what it ends', async () => {
    await deadLetteredMessages(1);
    const campaign = aCampaign({ status: 'scheduled', scheduledFor: NOW });
    await world.unitOfWork.run(({ campaigns }) => campaigns.insert([campaign]));
    await deadLetter([startCampaignJob(campaign, NOW)]);
    const report = await deadLetteredReport(null);

    expect(await manageJobs.drop('operator', ALL)).toEqual({ jobs: 3, hasMore: false });

    expect(await world.message(anSmsId(1))).toMatchObject({ status: 'failed', isFinal: true });
    expect(await campaignNow(campaign.id)).toMatchObject({ status: 'failed' });
    expect(await reportNow(report.id)).toMatchObject({ deletedAt: NOW });
  });

  it('dead-letter jobs are listed with the newest first, by kind and reason', async () => {
    await deadLetteredMessages(1);
    const any = { kind: null, reason: null, after: null, limit: 10 };
    const job = startAttemptJob(aMessage({ smsId: anSmsId(1) }), 0, NOW);
    const listed = {
      id: job.id,
      projectId: PROJECT_ID,
      work: job.work,
      reason: 'broken',
      deadLetteredAt: NOW,
    };
    expect(await manageJobs.deadLetters(any)).toEqual({ rows: [listed], next: null });
    expect(await manageJobs.deadLetters({ ...any, kind: 'start-attempt', reason: 'broken' })).toEqual({
      rows: [listed],
      next: null,
    });
    expect(await manageJobs.deadLetters({ ...any, kind: 'make-report' })).toEqual({ rows: [], next: null });
  });

  it('the overview has the jobs by kind and state, and the workers, the latest seen first', async () => {
    await deadLetteredMessages(1);
    await world.unitOfWork.run(async ({ jobs, workers }) => {
      await jobs.add(
        [
          runRetentionJob(NOW),
          removeReportJob({ id: REPORT_ID, projectId: PROJECT_ID, createdAt: NOW }, NOW),
        ],
        NOW,
      );
      await workers.markSeen('gone', NOW - 15_001);
      await workers.markSeen('newest', NOW - 1);
      await workers.markSeen('old', NOW - 15_000);
    });
    const { survey, depth, workers } = await manageJobs.overview();
    expect(survey).toMatchObject({ deadLetterJobs: 1, workers: 2, openWebhookCircuits: 0 });
    expect(depth.map(({ kind, jobs }) => [kind, jobs]).sort()).toEqual([
      ['remove-report', 1],
      ['run-retention', 1],
    ]);
    expect(workers).toEqual([
      { id: 'newest', seenAt: NOW - 1, isSeen: true },
      { id: 'old', seenAt: NOW - 15_000, isSeen: true },
      { id: 'gone', seenAt: NOW - 15_001, isSeen: false },
    ]);
  });

  it.each([
    ['remove-report', removeReportJob({ id: REPORT_ID, projectId: PROJECT_ID, createdAt: NOW }, NOW)],
    ['deliver-webhooks', deliverWebhooksJob({ projectId: PROJECT_ID, endpoint: 'a.example/1' }, NOW)],
  ])('a slice with a job that may not be dropped is not dropped at all: %s', async (jobKind, job) => {
    await deadLetteredMessages(1);
    await deadLetter([job]);
    await expect(manageJobs.drop('operator', ALL)).rejects.toMatchObject({
      rejection: { kind: 'job-not-droppable', jobKind },
    });
    expect(await left()).toBe(2);
    expect((await world.message(anSmsId(1))).isFinal).toBe(false);
    expect(await records()).toEqual([]);
  });

  it('a redriven job of a message is done as if it had never failed', async () => {
    await deadLetteredMessages(1);
    await manageJobs.redrive('operator', { ids: [startAttemptJob(aMessage(), 0, NOW).id], kind: null });
    await world.runDueJobs();
    expect(world.submitted.map(({ smsId }) => smsId)).toEqual([anSmsId(1)]);
  });

  it('dropping the start of a campaign fails the campaign, which holds nothing', async () => {
    const campaign = aCampaign({ status: 'scheduled', scheduledFor: NOW });
    await world.unitOfWork.run(({ campaigns }) => campaigns.insert([campaign]));
    await deadLetter([startCampaignJob(campaign, NOW)]);
    world.clock.at = NOW + 1;
    await manageJobs.drop('operator', ALL);
    expect(await campaignNow(campaign.id)).toEqual({
      ...campaign,
      status: 'failed',
      failureReason: 'An operator dropped the start of this campaign',
      completedAt: NOW + 1,
      updatedAt: NOW + 1,
    });
    expect(await left()).toBe(0);
  });

  it.each([
    ['planned anew', { status: 'scheduled', scheduledFor: NOW + 1 }],
    ['a draft again', { status: 'draft', scheduledFor: null }],
    ['running', { status: 'running', scheduledFor: NOW, startedAt: NOW }],
  ] as const)('dropping an old start of a campaign leaves one alone that is %s', async (_, state) => {
    const campaign = aCampaign(state);
    await world.unitOfWork.run(({ campaigns }) => campaigns.insert([campaign]));
    await deadLetter([startCampaignJob(campaign, NOW)]);
    await manageJobs.drop('operator', ALL);
    expect(await campaignNow(campaign.id)).toEqual(campaign);
    expect(await left()).toBe(0);
  });

  it('dropping the making of a report deletes the report, and a job removes its file', async () => {
    const report = await deadLetteredReport(null);
    await manageJobs.drop('operator', ALL);
    expect(await reportNow(report.id)).toEqual({ ...report, deletedAt: NOW });
    expect(await world.runDueJobs()).toEqual([removeReportJob(report).id]);
    expect(await left()).toBe(0);
  });

  it('dropping an old job of a report that is made leaves the report alone', async () => {
    const report = await deadLetteredReport(3);
    await manageJobs.drop('operator', ALL);
    expect(await reportNow(report.id)).toEqual(report);
    expect(await world.runDueJobs()).toEqual([]);
  });

  const campaignNow = async (id: string) =>
    (await world.unitOfWork.run(({ campaigns }) => campaigns.lock([id])))[0];
  const reportNow = async (id: string) =>
    (await world.unitOfWork.read(({ reports }) => reports.find([id])))[0];

  async function deadLetteredReport(recordCount: number | null): Promise<Report> {
    const filters = { startDate: '2030-01-01', endDate: '2030-01-02', phoneNumbers: [], statuses: [] };
    const ids = { id: REPORT_ID, fileId: '0'.repeat(40) };
    const asked = newReport(ids, aProject(), { from: 0, to: NOW, filters }, NOW);
    const report = { ...asked, recordCount };
    await world.unitOfWork.run(async ({ reports }) => {
      await reports.insert([asked]);
      await reports.save([report]);
    });
    await deadLetter([makeReportJob(report, NOW)]);
    return report;
  }
});
