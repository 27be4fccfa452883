import type { Report, ReportStatus, ReportSummary, RequestedReport } from '../../../domain/reports/report.ts';
import type { Page } from '../../../domain/shared/page.ts';

export interface ReportStore {
  /** Fails the unit on an id that exists. */
  insert(reports: readonly Report[]): Promise<void>;
  /** The reports that exist, in the order of their ids, locked until the transaction ends. */
  lock(ids: readonly string[]): Promise<readonly Report[]>;
  /** Writes how many messages reports have, when they were changed, and when they were deleted. */
  save(reports: readonly Report[]): Promise<void>;
  /** The same as `lock`, without a lock. */
  find(ids: readonly string[]): Promise<readonly Report[]>;
  /** The report with this file, or null. */
  ofFile(fileId: string): Promise<Report | null>;
  /** The reports of the project that were requested after `since`, the oldest first. */
  requested(projectId: string, since: number): Promise<readonly RequestedReport[]>;
  /**
   * One page of the reports of a project that are made, the newest first; `statuses` as they are at `now`, all when it is
   * empty.
   */
  list(
    projectId: string,
    filter: { readonly statuses: readonly ReportStatus[]; readonly now: number },
    page: Page,
  ): Promise<readonly ReportSummary[]>;
}
