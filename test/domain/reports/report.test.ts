import { describe, expect, it } from 'vitest';
import {
  expiresAt,
  newestExpired,
  newReport,
  REPORT_LIFETIME_DAYS,
  REPORT_STATUSES,
  type ReportFilters,
  reportStatus,
  UNMADE_REPORTS_MAX,
} from '../../../src/domain/reports/report.ts';

const DAY_MS = 86_400_000;
const CREATED = Date.parse('2030-01-31T09:08:07.006Z');
const FILTERS: ReportFilters = {
  startDate: '2030-01-01',
  endDate: '2030-01-31',
  from: 1,
  to: 2,
  phoneNumbers: [],
  statuses: [],
};

describe('a report', () => {
  it('a new report is not made, and its file is named after project, time and id', () => {
    const ids = { id: '0123456789abcdef01234567', fileId: 'f'.repeat(40) };
    expect(newReport(ids, { id: 'p1', slug: 'souq' }, FILTERS, CREATED)).toEqual({
      id: '0123456789abcdef01234567',
      projectId: 'p1',
      fileName: 'delivery-report-souq-2030-01-31T09-08-07-006Z-01234567.csv',
      fileId: 'f'.repeat(40),
      filters: FILTERS,
      recordCount: null,
      createdAt: CREATED,
      updatedAt: CREATED,
      deletedAt: null,
    });
  });

  it('a report is available for 30 days, and expired from that instant on', () => {
    const report = { createdAt: CREATED, deletedAt: null };
    const end = CREATED + 30 * DAY_MS;
    expect(REPORT_LIFETIME_DAYS).toBe(30);
    expect(expiresAt(report)).toBe(end);
    expect(reportStatus(report, CREATED)).toBe('available');
    expect(reportStatus(report, end - 1)).toBe('available');
    expect(reportStatus(report, end)).toBe('expired');
    expect(newestExpired(end)).toBe(CREATED);
  });

  it('a deleted report stays deleted, also when its time is over', () => {
    const report = { createdAt: CREATED, deletedAt: CREATED + 1 };
    expect(reportStatus(report, CREATED + 1)).toBe('deleted');
    expect(reportStatus(report, CREATED + 31 * DAY_MS)).toBe('deleted');
  });

  it('the statuses and the limit are those of the interface', () => {
    expect(REPORT_STATUSES).toEqual(['available', 'expired', 'deleted']);
    expect(UNMADE_REPORTS_MAX).toBe(10);
  });
});
