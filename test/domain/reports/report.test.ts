import { describe, expect, it } from 'vitest';
import {
  expiresAt,
  FILE_ID_PATTERN,
  isFileId,
  newestExpired,
  newFileId,
  newReport,
  REPORT_LIFETIME_DAYS,
  REPORT_STATUSES,
  REPORTS_PER_DAY_MAX,
  type ReportSelection,
  reportStatus,
  STORED_RECORDS_MAX,
  tooManyReports,
  UNMADE_REPORTS_MAX,
  unexpiredSince,
} from '../../../src/domain/reports/report.ts';

const DAY_MS = 86_400_000;
const CREATED = Date.parse('2030-01-31T09:08:07.006Z');
const SELECTION: ReportSelection = {
  from: 1,
  to: 2,
  filters: { startDate: '2030-01-01', endDate: '2030-01-31', phoneNumbers: ['0770'], statuses: ['sent'] },
};

describe('a report', () => {
  it('a new report is not made, and its file is named after project, time and id', () => {
    const ids = { id: '0123456789abcdef01234567', fileId: 'f'.repeat(40) };
    expect(newReport(ids, { id: 'p1', slug: 'souq' }, SELECTION, CREATED)).toEqual({
      id: '0123456789abcdef01234567',
      projectId: 'p1',
      fileName: 'delivery-report-souq-2030-01-31T09-08-07-006Z-01234567.csv',
      fileId: 'f'.repeat(40),
      ...SELECTION,
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

  it('the statuses are those of specification 3.3', () => {
    expect(REPORT_STATUSES).toEqual(['available', 'expired', 'deleted']);
  });
});

describe('the id of a file', () => {
  it('the id of a file is 40 lower-case hexadecimal digits, and nothing before or behind them', () => {
    const fileId = '0123456789abcdef0123456789abcdef01234567';
    expect(FILE_ID_PATTERN.test(fileId)).toBe(true);
    const others = [fileId.slice(1), `${fileId}0`, `/${fileId}`, `${fileId}.csv`, fileId.toUpperCase()];
    expect(others.filter((each) => FILE_ID_PATTERN.test(each))).toEqual([]);
    expect(FILE_ID_PATTERN.test(`g${fileId.slice(1)}`)).toBe(false);
  });
});

describe('the reports that a project may request', () => {
  const recent = (count: number, isUnmade: boolean, first = CREATED) =>
    Array.from({ length: count }, (_, index) => ({ requestedAt: first + index, records: 0, isUnmade }));
  const HOUR_MS = 3_600_000;

  it('nine unmade reports leave space for one more, ten do not', () => {
    expect(UNMADE_REPORTS_MAX).toBe(10);
    expect(tooManyReports([...recent(9, true), ...recent(20, false)], CREATED + 500)).toBeNull();
    expect(tooManyReports([...recent(20, false), ...recent(10, true)], CREATED + 500)).toEqual({
      kind: 'too-many-reports',
      retryAfterMs: 10_000,
    });
  });

  it('a report that is unmade for an hour keeps nobody from a new one', () => {
    expect(tooManyReports(recent(10, true), CREATED + HOUR_MS - 1)).not.toBeNull();
    expect(tooManyReports(recent(10, true), CREATED + HOUR_MS)).toBeNull();
  });

  it('a hundred reports in a day are the limit, until the first of them is a day old', () => {
    expect(REPORTS_PER_DAY_MAX).toBe(100);
    expect(tooManyReports(recent(99, false), CREATED + 500)).toBeNull();
    expect(tooManyReports(recent(100, false), CREATED + 500)).toEqual({
      kind: 'too-many-reports',
      retryAfterMs: DAY_MS - 500,
    });
    expect(tooManyReports(recent(103, false), CREATED + 500)).toEqual({
      kind: 'too-many-reports',
      retryAfterMs: DAY_MS - 497,
    });
    expect(tooManyReports(recent(100, false), CREATED + DAY_MS)).toBeNull();
  });

  it('a project may have 100,000,000 messages in its files, until enough of them have expired', () => {
    const files = (...records: readonly number[]) =>
      records.map((count, index) => ({ requestedAt: CREATED + index, records: count, isUnmade: false }));
    expect(STORED_RECORDS_MAX).toBe(100_000_000);
    expect(unexpiredSince(CREATED)).toBe(CREATED - 30 * DAY_MS);
    expect(tooManyReports(files(60_000_000, 39_999_999), CREATED + 500)).toBeNull();
    expect(tooManyReports(files(60_000_000, 40_000_000), CREATED + 500)).toEqual({
      kind: 'too-many-reports',
      retryAfterMs: 30 * DAY_MS - 500,
    });
    expect(tooManyReports(files(1, 9, 60_000_000, 99_999_999), CREATED + 500)).toEqual({
      kind: 'too-many-reports',
      retryAfterMs: 30 * DAY_MS - 498,
    });
  });
});

describe('the id of a report file', () => {
  const RANDOM = '0123456789abcdef0123456789abcdef';
  /** Knows one text only. */
  const digest = (text: string) => (text === RANDOM ? 'feedc0de1234567890' : '00000000ffffffff');

  it('the id of a report file is 32 random characters and a checksum of this installation', () => {
    expect(newFileId(`${RANDOM}89abcdef`, digest)).toBe(`${RANDOM}feedc0de`);
  });

  it.each([
    ['an id that was made here', `${RANDOM}feedc0de`, true],
    ['an id with another checksum', `${RANDOM}feedc0df`, false],
    ['another id with the same checksum', `1${RANDOM.slice(1)}feedc0de`, false],
    ['a shorter text with a checksum', '00000000', false],
    ['a longer text with a checksum', `${'z'.repeat(40)}00000000`, false],
    ['a text with a NUL and a checksum', `${'\0'.repeat(32)}00000000`, false],
  ])('the id of a report file is known from what somebody made up: %s', (_, text, expected) => {
    expect(isFileId(text, digest)).toBe(expected);
  });
});
