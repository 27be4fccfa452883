import { expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { reportOf } from '../support/reports.ts';
import { DAY, errorOf, startWith } from './world.ts';

const ALL = { startDate: '2029-01-01', endDate: '2031-01-01' };

const statusOf = async (service: Harness) =>
  ((await service.request('/reports')).body as [{ status: string }])[0].status;
const download = (service: Harness, url: string) => service.request(new URL(url).pathname, { apiKey: null });

it('3.3 a report expires 30 days after it was generated, and its file is removed', async () => {
  const service = await startWith();
  const { downloadUrl } = await reportOf(service, ALL);
  await service.advance(30 * DAY - 1);
  expect(await statusOf(service)).toBe('available');
  expect((await fetch(downloadUrl)).status).toBe(200);
  await service.advance(1);
  expect(await statusOf(service)).toBe('expired');
  expect(errorOf(await download(service, downloadUrl))).toEqual({
    status: 410,
    code: 'report-gone',
    body: { message: 'This report has expired' },
  });
  await service.assertQuiet();
});

it('3.3 a report that an operator deletes is gone at once, and stays listed', async () => {
  const service = await startWith();
  const { downloadUrl, reportId } = await reportOf(service, ALL);
  const { manageReports, readAuditLog } = service.service.roots;
  expect(await manageReports.delete('cli-database', reportId)).toBe(true);
  expect(errorOf(await download(service, downloadUrl))).toEqual({
    status: 410,
    code: 'report-gone',
    body: { message: 'This report was deleted' },
  });
  await service.settle();
  expect(await manageReports.delete('cli-database', reportId)).toBe(true);
  await service.advance(31 * DAY);
  expect(await statusOf(service)).toBe('deleted');
  expect(await manageReports.delete('cli-database', '0'.repeat(24))).toBe(false);
  expect((await readAuditLog.list(null, null, 9)).rows, 'one change, one record').toMatchObject([
    { actor: 'cli-database', action: 'report-deleted', after: { reportId } },
  ]);
  await service.assertQuiet();
});
