import { expect, it, test } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { OTHER_KEY, startWithCampaigns } from '../support/campaigns.ts';
import { reportOf } from '../support/reports.ts';
import { DAY, errorOf, SECOND, startWith } from './world.ts';

const ALL = { startDate: '2029-01-01', endDate: '2031-01-01' };

const list = async (service: Harness, query = '') =>
  (await service.request(`/reports${query}`)).body as Record<string, unknown>[];
const idsOf = async (service: Harness, query = '') => (await list(service, query)).map(({ _id }) => _id);

it('4.5 the reply is a bare array with the newest report first', async () => {
  const service = await startWith();
  const first = await reportOf(service, ALL);
  await service.advance(SECOND);
  const second = await reportOf(service, { ...ALL, statuses: ['failed'] });
  const of = ({ reportId, downloadUrl }: typeof first, createdAt: string) => ({
    _id: reportId,
    reportId,
    filename: `delivery-report-demo-${createdAt.replaceAll(/[:.]/g, '-')}-${reportId.slice(-8)}.csv`,
    downloadUrl,
    recordCount: 0,
    dateRange: { startDate: '2029-01-01T00:00:00.000Z', endDate: '2031-01-01T23:59:59.999Z' },
    status: 'available',
    createdAt,
  });
  expect(await list(service)).toEqual([
    of(second, '2030-01-01T00:00:01.000Z'),
    of(first, '2030-01-01T00:00:00.000Z'),
  ]);
});

it('4.5 the list has pages', async () => {
  const service = await startWith();
  const ids: string[] = [];
  for (let made = 0; made < 3; made += 1) {
    ids.unshift((await reportOf(service, ALL)).reportId);
    await service.advance(1);
  }
  expect(await idsOf(service, '?limit=2')).toEqual(ids.slice(0, 2));
  expect(await idsOf(service, '?limit=2&page=2')).toEqual(ids.slice(2));
  expect(await idsOf(service, '?page=2')).toEqual([]);
});

it('4.5 the status filter takes a list, and knows what a report is now', async () => {
  const service = await startWith();
  const old = (await reportOf(service, ALL)).reportId;
  await service.advance(15 * DAY);
  const deleted = (await reportOf(service, ALL)).reportId;
  await service.service.roots.manageReports.delete('operator', deleted);
  await service.advance(15 * DAY);
  const recent = (await reportOf(service, ALL)).reportId;
  expect(await idsOf(service, '?status=available')).toEqual([recent]);
  expect(await idsOf(service, '?status=expired')).toEqual([old]);
  expect(await idsOf(service, '?status=deleted')).toEqual([deleted]);
  expect(await idsOf(service, '?status=available,expired')).toEqual([recent, old]);
  expect(await idsOf(service, '?status=deleted,%20expired')).toEqual([deleted, old]);
  expect((await list(service)).map(({ status }) => status)).toEqual(['available', 'deleted', 'expired']);
});

it('4.5 a project sees its own reports only', async () => {
  const service = await startWithCampaigns();
  await reportOf(service, ALL);
  expect((await service.request('/reports', { apiKey: OTHER_KEY })).body).toEqual([]);
});

test.each([
  ['?status=foo', 'Invalid report status: foo'],
  ['?status=available,Expired', 'Invalid report status: Expired'],
  ['?status=', 'Invalid report status: '],
  ['?limit=0', 'limit must be a whole number from 1 to 500'],
  ['?limit=501', 'limit must be a whole number from 1 to 500'],
  ['?page=0', 'page must be a whole number from 1 to 1000000'],
])('4.5 the query %s is an error', async (query, error) => {
  const service = await startWith();
  expect(errorOf(await service.request(`/reports${query}`))).toEqual({
    status: 400,
    code: 'validation-failed',
    body: { error },
  });
});
