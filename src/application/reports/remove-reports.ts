import type { Report } from '../../domain/reports/report.ts';
import type { LeasedJob } from '../jobs/job.ts';
import { type RemoveReportWork, removeReportJob } from '../jobs/report-jobs.ts';
import type { ReportFiles } from '../ports/report-files.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

interface RemovePorts {
  readonly unitOfWork: UnitOfWork;
  readonly reportFiles: ReportFiles;
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
}

/** Ends the links of locked reports, and adds the jobs that remove their files. Those that are deleted stay so. */
export async function deleteReports(
  { reports, jobs }: Pick<Stores, 'reports' | 'jobs'>,
  locked: readonly Report[],
  now: number,
): Promise<void> {
  const present = locked.filter(({ deletedAt }) => deletedAt === null);
  await reports.save(present.map((report) => ({ ...report, deletedAt: now, updatedAt: now })));
  await jobs.add(
    present.map((report) => removeReportJob(report, now)),
    now,
  );
}
