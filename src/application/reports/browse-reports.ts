import type { Project } from '../../domain/access/project.ts';
import {
  isFileId,
  type Report,
  type ReportStatus,
  type ReportSummary,
  reportStatus,
} from '../../domain/reports/report.ts';
import type { Page } from '../../domain/shared/page.ts';
import { Rejected } from '../errors/rejected.ts';
import { MinuteLog } from '../minute-log.ts';
import type { Clock } from '../ports/clock.ts';
import type { KeyHasher } from '../ports/key-hasher.ts';
import type { Logger } from '../ports/logger.ts';
import type { ReportFiles } from '../ports/report-files.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

interface BrowsePorts {
  readonly unitOfWork: UnitOfWork;
  readonly reportFiles: ReportFiles;
  readonly keyHasher: Pick<KeyHasher, 'checksum'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A report with the status it has now. */
export interface ListedReport {
  readonly report: ReportSummary;
  readonly status: ReportStatus;
}

/** Specification 4.5 and 2.4: the reports of a project, and their files. */
export class BrowseReports {
  readonly #ports: BrowsePorts;
  readonly #log: MinuteLog;

  constructor(ports: BrowsePorts) {
    this.#ports = ports;
    this.#log = new MinuteLog(ports);
  }

  /** One page of the reports that are made, the newest first; those of all statuses when none is given. */
  async list(
    project: Project,
    statuses: readonly ReportStatus[],
    page: Page,
  ): Promise<readonly ListedReport[]> {
    const { unitOfWork, clock } = this.#ports;
    const now = clock.now();
    const listed = await unitOfWork.read(({ reports }) => reports.list(project.id, { statuses, now }, page));
    return listed.map((report) => this.listed(report));
  }

  /** With the status it has now. */
  listed(report: ReportSummary): ListedReport {
    return { report, status: reportStatus(report, this.#ports.clock.now()) };
  }

  /** Whether a text is the id of a file that this installation made: only such a one is looked up. */
  isFileId(text: string): boolean {
    return isFileId(text, this.#ports.keyHasher.checksum);
  }

  /**
   * The report with the file of this id, one of `isFileId`, for everybody who knows it. Throws `Rejected` when there is none, or
   * not yet, and when the report is expired or deleted.
   */
  async ofFile(fileId: string): Promise<Report> {
    const { unitOfWork, clock } = this.#ports;
    const report = await unitOfWork.read(({ reports }) => reports.ofFile(fileId));
    if (report === null) throw new Rejected({ kind: 'report-not-found' });
    const status = reportStatus(report, clock.now());
    if (status !== 'available') throw new Rejected({ kind: 'report-gone', status });
    if (report.recordCount === null) throw new Rejected({ kind: 'report-not-found' });
    return report;
  }

  /** The file of a report that `ofFile` returned. Throws `Rejected` when it is missing. Rejects when the signal is aborted. */
  async download(
    { id, projectId, fileId }: Pick<Report, 'id' | 'projectId' | 'fileId'>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const content = await this.#ports.reportFiles.read(fileId, signal);
    if (content !== null) return content;
    this.#log.warn('report_file_missing', { projectId, reportId: id });
    throw new Rejected({ kind: 'report-not-found' });
  }
}
