import { expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { ADMIN_TOKEN, runAdmin } from '../support/admin.ts';
import { deadLettered } from '../support/dead-letter.ts';
import { startService } from '../support/running-service.ts';
import { seedWith } from '../support/seeds.ts';

const LATER_MS = 60_000;

const start = () => startService({ adminToken: ADMIN_TOKEN, seed: seedWith({ rateLimit: null }) });

const run = (service: Harness, ...given: readonly string[]) => runAdmin(service, ['jobs', ...given]);

const statusOf = async (service: Harness, smsId: string) =>
  ((await service.request(`/sms/track/${smsId}`)).body as { status: string }).status;

it('barid admin jobs shows what waits, lists dead-letter jobs in pages, and redrives one by its id', async () => {
  const service = await start();
  const first = await deadLettered(service, 'start-attempt');
  await service.advance(1);
  const second = await deadLettered(service, 'start-attempt');
  const shown = await run(service, 'show');
  expect(shown.text).toMatch(/^deadLetterJobs +2$/m);
  expect(shown.text).toMatch(/^priorities:\npriority +due +oldestWaitedSeconds\ncode +0 /m);
  const page = await run(service, 'list', '--kind', 'start-attempt', '--reason', 'broken', '--limit', '1');
  expect(page.printed[0]).toMatch(/^deadLetteredAt +kind +id +project +reason$/);
  expect(page.printed[1]).toMatch(new RegExp(` start-attempt +${second.jobId} .* broken$`));
  const [, cursor = ''] = /^there is more: --cursor (\S+)$/.exec(page.errors[0] ?? '') ?? [];
  const rest = await run(service, 'list', '--cursor', cursor);
  expect([rest.printed.length, rest.printed[1]]).toEqual([2, expect.stringContaining(first.jobId)]);
  expect((await run(service, 'list', '--kind', 'make-report')).printed).toHaveLength(1);
  const redriven = await run(service, 'redrive', '--id', first.jobId);
  expect(redriven.printed).toEqual(['jobs     1', 'hasMore  false']);
  await service.advance(LATER_MS);
  expect(await statusOf(service, first.smsId)).toBe('delivered');
  expect(await statusOf(service, second.smsId)).not.toBe('delivered');
});

it('barid admin jobs drops the dead-letter jobs of a kind, and their messages fail', async () => {
  const service = await start();
  const { smsId } = await deadLettered(service, 'start-attempt');
  const dropped = await run(service, 'drop', '--kind', 'start-attempt');
  expect(dropped.printed).toEqual(['jobs     1', 'hasMore  false']);
  await service.advance(1_000);
  expect(await statusOf(service, smsId)).toBe('failed');
  expect((await run(service, 'list')).printed).toHaveLength(1);
});

it('barid admin jobs ends with 1 when an id is of no dead-letter job, and the jobs of the others are dropped', async () => {
  const service = await start();
  const { jobId } = await deadLettered(service, 'start-attempt');
  const { code, printed, errors } = await run(service, 'drop', '--id', jobId, jobId, 'f'.repeat(24));
  expect([code, printed]).toEqual([1, ['jobs     1', 'hasMore  false']]);
  expect(errors.join('')).toContain('ids without such a job: 1');
  expect((await run(service, 'list')).printed).toHaveLength(1);
});

it('barid admin jobs ends with 2 when neither a kind nor an id is named, and nothing changes', async () => {
  const service = await start();
  const { jobId } = await deadLettered(service, 'start-attempt');
  for (const name of ['redrive', 'drop']) {
    const { code, printed, errors } = await run(service, name);
    expect([code, printed, errors]).toEqual([2, [], [expect.stringContaining('say which jobs')]]);
  }
  expect((await run(service, 'list')).printed[1]).toContain(jobId);
});
