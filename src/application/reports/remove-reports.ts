import type { LeasedJob } from '../jobs/job.ts';
import { type RemoveReportWork, removeReportJob } from '../jobs/report-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { ReportFiles } from '../ports/report-files.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

interface RemovePorts {
  readonly unitOfWork: UnitOfWork;
  readonly reportFiles: ReportFiles;
  readonly clock: Clock;
}

/** Specification 3.3: removes the files of reports that are expired or deleted. The reports stay listed. */
export class RemoveReports {
  readonly #ports: RemovePorts;

  constructor(ports: RemovePorts) {
    this.#ports = ports;
  }

  /** Removes files, then their jobs: a crash in between removes the file once more. */
  async execute(jobs: readonly LeasedJob<RemoveReportWork>[]): Promise<void> {
    const { unitOfWork, reportFiles } = this.#ports;
    const reports = await unitOfWork.read((stores) =>
      stores.reports.find(jobs.map(({ work }) => work.reportId)),
    );
    await Promise.all(reports.map(({ fileId }) => reportFiles.remove(fileId)));
    await unitOfWork.run((stores) => stores.jobs.complete(jobs));
  }

  /**
   * An operator deletes a report: its link ends at once, and a job removes its file. Resolves with false when there is no such
   * report; one that is deleted stays so.
   */
  delete(reportId: string): Promise<boolean> {
    const { unitOfWork, clock } = this.#ports;
    return unitOfWork.run(async ({ reports, jobs }) => {
      const now = clock.now();
      const [report] = await reports.lock([reportId]);
      if (report === undefined) return false;
      if (report.deletedAt !== null) return true;
      await reports.save([{ ...report, deletedAt: now, updatedAt: now }]);
      await jobs.add([removeReportJob(report, now)], now);
      return true;
    });
  }
}
