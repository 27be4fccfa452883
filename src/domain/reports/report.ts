import { millisecondsInDay, millisecondsInHour } from 'date-fns/constants';
import type { MessageStatus } from '../messages/message-status.ts';
import { hasChecksum, type KeyedDigest, withChecksum } from '../shared/checksum.ts';
import { isoOf } from '../shared/instant.ts';

/** Specification 3.3. */
export const REPORT_STATUSES = ['available', 'expired', 'deleted'] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

/** Specification 8: a report is available for 30 days. */
export const REPORT_LIFETIME_DAYS = 30;
const REPORT_LIFETIME_MS = REPORT_LIFETIME_DAYS * millisecondsInDay;

/** The most reports of one project that are still to be made. */
export const UNMADE_REPORTS_MAX = 10;
/** The most reports that one project requests within a day: files are kept for 30 days, and all projects share the disk. */
export const REPORTS_PER_DAY_MAX = 100;
/** The number of messages in all files of a project from which no further file is made: they take some 12 GB. */
export const STORED_RECORDS_MAX = 100_000_000;

/** Of 32 random characters, and a checksum: an id that somebody makes up costs no query. */
export const FILE_ID_PATTERN = /^[a-f0-9]{40}$/;

const FILE_ID_RANDOM_CHARACTERS = 32;

/** A new file id of `random`, which has at least so many hex characters. */
export function newFileId(random: string, digest: KeyedDigest): string {
  return withChecksum(random.slice(0, FILE_ID_RANDOM_CHARACTERS), digest);
}

/** Whether a text is a file id that this installation made. */
export function isFileId(text: string, digest: KeyedDigest): boolean {
  return FILE_ID_PATTERN.test(text) && hasChecksum(text, digest);
}

/** Too many reports of the project are still to be made, or were requested within a day, or its files are too large. */
export interface TooManyReports {
  readonly kind: 'too-many-reports';
  /** When the next request may be accepted. */
  readonly retryAfterMs: number;
}

/** A report that has not expired. */
export interface RequestedReport {
  readonly requestedAt: number;
  /** Messages in its file; 0 when there is none. */
  readonly records: number;
  /** Still to be made, and not deleted. */
  readonly isUnmade: boolean;
}

/** What is unmade now may be made after this time. */
const UNMADE_RETRY_MS = 10_000;
/** What is unmade for longer has failed, and keeps nobody from a new one. */
const UNMADE_COUNTED_MS = millisecondsInHour;

/** Reports that were requested after this instant have not expired. */
export function unexpiredSince(now: number): number {
  return now - REPORT_LIFETIME_MS;
}

/** Null when the project may request one more. `requested` are those that have not expired, the oldest first. */
export function tooManyReports(requested: readonly RequestedReport[], now: number): TooManyReports | null {
  const recent = requested.filter(({ requestedAt }) => requestedAt > now - millisecondsInDay);
  const unmade = recent.filter(
    ({ isUnmade, requestedAt }) => isUnmade && requestedAt > now - UNMADE_COUNTED_MS,
  );
  if (unmade.length >= UNMADE_REPORTS_MAX) return { kind: 'too-many-reports', retryAfterMs: UNMADE_RETRY_MS };
  const first = recent.at(-REPORTS_PER_DAY_MAX);
  const ends = [
    ...(first === undefined ? [] : [first.requestedAt + millisecondsInDay]),
    ...storedTooMuchUntil(requested),
  ];
  return ends.length === 0 ? null : { kind: 'too-many-reports', retryAfterMs: Math.max(...ends) - now };
}

/** When enough files have expired; empty when there is space for one more. */
function storedTooMuchUntil(requested: readonly RequestedReport[]): readonly number[] {
  let stored = requested.reduce((sum, { records }) => sum + records, 0);
  if (stored < STORED_RECORDS_MAX) return [];
  for (const { requestedAt, records } of requested) {
    stored -= records;
    if (stored < STORED_RECORDS_MAX) return [requestedAt + REPORT_LIFETIME_MS];
  }
  return [];
}

/** Which messages a report has, as the caller wrote it. */
export interface ReportFilters {
  readonly startDate: string;
  readonly endDate: string;
  /** Empty for all. */
  readonly phoneNumbers: readonly string[];
  readonly statuses: readonly MessageStatus[];
}

/** Filters, with the first and the last instant of creation that their dates stand for. */
export interface ReportSelection {
  readonly from: number;
  readonly to: number;
  readonly filters: ReportFilters;
}

/** Specification 2.4: a csv file with the messages of a project. Instants are milliseconds since 1970. */
export interface Report extends ReportSelection {
  readonly id: string;
  readonly projectId: string;
  readonly fileName: string;
  /** Names the file where reports are stored, and in its link: who knows it may read the file. */
  readonly fileId: string;
  /** Messages in the file; null until it is made. */
  readonly recordCount: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When an operator deleted it. */
  readonly deletedAt: number | null;
}

/** A report as lists have it: its filters may be long. */
export type ReportSummary = Omit<Report, 'filters'>;

/** A report that is to be made. `slug` is the project's, `fileId` is one of `newFileId`. */
export function newReport(
  ids: { readonly id: string; readonly fileId: string },
  project: { readonly id: string; readonly slug: string },
  selection: ReportSelection,
  now: number,
): Report {
  const timestamp = isoOf(now).replaceAll(/[:.]/g, '-');
  return {
    id: ids.id,
    projectId: project.id,
    fileName: `delivery-report-${project.slug}-${timestamp}-${ids.id.slice(-8)}.csv`,
    fileId: ids.fileId,
    from: selection.from,
    to: selection.to,
    filters: selection.filters,
    recordCount: null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
}

/** The first instant at which a report is not available any more. */
export function expiresAt({ createdAt }: Pick<Report, 'createdAt'>): number {
  return createdAt + REPORT_LIFETIME_MS;
}

/** Specification 3.3: `expired` from `expiresAt` on, whether the file is removed by then or not. */
export function reportStatus(report: Pick<Report, 'createdAt' | 'deletedAt'>, now: number): ReportStatus {
  if (report.deletedAt !== null) return 'deleted';
  return now < expiresAt(report) ? 'available' : 'expired';
}

/** Reports that were created at this instant or before have expired. */
export function newestExpired(now: number): number {
  return now - REPORT_LIFETIME_MS;
}
