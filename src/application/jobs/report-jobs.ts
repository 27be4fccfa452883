import type { Job } from '../../domain/jobs/job.ts';
import { expiresAt, type Report } from '../../domain/reports/report.ts';
import type { FieldsOf } from './work-codec.ts';

/** Make the file of a report. */
export interface MakeReportWork {
  readonly kind: 'make-report';
  readonly projectId: string;
  readonly reportId: string;
}

/** Remove the file of a report that is expired or deleted. */
export interface RemoveReportWork {
  readonly kind: 'remove-report';
  readonly projectId: string;
  readonly reportId: string;
}

export type ReportWork = MakeReportWork | RemoveReportWork;

export const REPORT_FIELDS: FieldsOf<ReportWork> = { projectId: 'id', reportId: 'id' };

/** The job that makes the file of a report. It comes with webhooks: a message never waits for it. */
export function makeReportJob(
  { id, projectId }: Pick<Report, 'id' | 'projectId'>,
  dueAt: number,
): Job<MakeReportWork> {
  return {
    id: makeReportJobId(id),
    projectId,
    priority: 'webhook',
    dueAt,
    work: { kind: 'make-report', projectId, reportId: id },
  };
}

/** The id of `makeReportJob`. */
export function makeReportJobId(reportId: string): string {
  return `reports/${reportId}/make`;
}

/** The job that removes the file of a report: when it expires, or at `dueAt`. */
export function removeReportJob(
  report: Pick<Report, 'id' | 'projectId' | 'createdAt'>,
  dueAt: number = expiresAt(report),
): Job<RemoveReportWork> {
  const { id, projectId } = report;
  return {
    id: removeReportJobId(id),
    projectId,
    priority: 'housekeeping',
    dueAt,
    work: { kind: 'remove-report', projectId, reportId: id },
  };
}

/** The id of `removeReportJob`. */
export function removeReportJobId(reportId: string): string {
  return `reports/${reportId}/remove`;
}
