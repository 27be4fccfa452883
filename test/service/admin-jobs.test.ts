import { describe, expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { ADMIN_TOKEN, admin } from '../support/admin.ts';
import { deadLettered } from '../support/dead-letter.ts';
import { startService } from '../support/running-service.ts';
import { seedWith } from '../support/seeds.ts';

const LATER_MS = 60_000;

const start = () => startService({ adminToken: ADMIN_TOKEN, seed: seedWith({ rateLimit: null }) });

const statusOf = async (service: Harness, smsId: string) =>
  ((await service.request(`/sms/track/${smsId}`)).body as { status: string }).status;
const listOf = async (service: Harness, query = '') =>
  (await admin(service, `/dead-letter-jobs${query}`)).body as { jobs: { id: string }[]; next: string | null };
const auditOf = async (service: Harness) =>
  ((await admin(service, '/audit')).body as { records: Record<string, unknown>[] }).records;

describe('the jobs in the admin interface', () => {
  it('an operator sees the due jobs by priority and kind, and the worker', async () => {
    const service = await start();
    const reply = await admin(service, '/jobs');
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      priorities: [
        { priority: 'code', due: 0, oldestWaitedSeconds: 0 },
        { priority: 'text' },
        { priority: 'campaign' },
        { priority: 'webhook' },
        { priority: 'housekeeping' },
      ],
      deadLetterJobs: 0,
      workers: [{ id: expect.stringMatching(/^[0-9a-f]{24}$/), isSeen: true }],
    });
  });

  it('dead-letter jobs are listed in pages, by kind and by reason', async () => {
    const service = await start();
    const first = await deadLettered(service, 'attempt-deadline');
    await service.advance(1);
    const second = await deadLettered(service, 'attempt-deadline');
    const page = await listOf(service, '?limit=1');
    expect(page.jobs).toMatchObject([{ id: second.jobId, kind: 'attempt-deadline', reason: 'broken' }]);
    const rest = await listOf(service, `?limit=1&cursor=${page.next}`);
    expect(rest).toMatchObject({ jobs: [{ id: first.jobId }], next: null });
    expect((await listOf(service, '?kind=make-report')).jobs).toEqual([]);
    expect((await listOf(service, '?kind=attempt-deadline&reason=broken')).jobs).toHaveLength(2);
    expect((await listOf(service, '?reason=other')).jobs).toEqual([]);
    expect((await admin(service, '/dead-letter-jobs?kind=a%25')).status).toBe(400);
  });

  it('a redriven job is done, once, and the audit log says so without its id', async () => {
    const service = await start();
    const { smsId, jobId } = await deadLettered(service, 'attempt-deadline');
    const redrive = () => admin(service, '/dead-letter-jobs/redrive', { body: { ids: [jobId] } });
    expect((await redrive()).body).toEqual({ jobs: 1, hasMore: false });
    expect((await redrive()).body).toEqual({ jobs: 0, hasMore: false });
    expect((await listOf(service)).jobs).toEqual([]);
    const records = await auditOf(service);
    expect(records).toMatchObject([
      { action: 'jobs-redriven', actor: 'operator', after: { kind: 'attempt-deadline', jobs: 1 } },
    ]);
    expect(JSON.stringify(records)).not.toContain(smsId);
    await service.advance(LATER_MS);
    expect(await statusOf(service, smsId)).toBe('delivered');
  });

  it('dropping a job that ends an attempt is rejected, and nothing changes', async () => {
    const service = await start();
    const { jobId } = await deadLettered(service, 'attempt-deadline');
    const reply = await admin(service, '/dead-letter-jobs/drop', { body: { kind: 'attempt-deadline' } });
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([409, 'job-not-droppable']);
    expect((await listOf(service)).jobs).toMatchObject([{ id: jobId }]);
    expect(await auditOf(service)).toEqual([]);
  });

  it('a request that misspells the ids of jobs does not change all jobs of the kind', async () => {
    const service = await start();
    const { jobId } = await deadLettered(service, 'start-attempt');
    for (const path of ['/dead-letter-jobs/drop', '/dead-letter-jobs/redrive']) {
      const reply = await admin(service, path, { body: { kind: 'start-attempt', id: ['another'] } });
      expect([reply.status, reply.body]).toEqual([
        400,
        { error: 'The request body has a field of an unknown name: id' },
      ]);
    }
    expect((await listOf(service)).jobs).toMatchObject([{ id: jobId }]);
  });

  it('dropping by ids and by kind are checked before anything is done', async () => {
    const service = await start();
    for (const body of [{}, { ids: [] }, { ids: 'a' }, { kind: 'A%' }, { kind: 1 }]) {
      const reply = await admin(service, '/dead-letter-jobs/drop', { body });
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([400, 'validation-failed']);
    }
    expect((await admin(service, '/dead-letter-jobs/drop', { body: { ids: ['none'] } })).body).toEqual({
      jobs: 0,
      hasMore: false,
    });
  });
});
