import type { LeasedJob } from '../../domain/jobs/job.ts';
import type { Report } from '../../domain/reports/report.ts';
import { type ProjectJobPorts, ProjectJobRunner } from '../jobs/project-job-runner.ts';
import { type RemoveReportWork, removeReportJob } from '../jobs/report-jobs.ts';
import type { ReportFiles } from '../ports/report-files.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { REPORT_JOB_LIMITS } from './make-reports.ts';

interface RemovePorts extends ProjectJobPorts {
  readonly unitOfWork: UnitOfWork;
  readonly reportFiles: ReportFiles;
}

/** Specification 3.3: removes the files of reports that are expired or deleted. The reports stay listed. */
export class RemoveReports {
  readonly #ports: RemovePorts;
  /** Of its own: a file that cannot be removed for a while holds up no other job. */
  readonly #runner: ProjectJobRunner;

  constructor(ports: RemovePorts) {
    this.#ports = ports;
    this.#runner = new ProjectJobRunner(ports, REPORT_JOB_LIMITS);
  }

  /** Resolves at once; the files are removed in the background. Never rejects. */
  execute(jobs: readonly LeasedJob<RemoveReportWork>[]): Promise<void> {
    return this.#runner.begin(jobs, (job, signal) => this.#remove(job, signal));
  }

  /** Removes the file, then the job: a crash in between removes the file once more. */
  async #remove(job: LeasedJob<RemoveReportWork>, signal: AbortSignal): Promise<void> {
    const { unitOfWork, reportFiles } = this.#ports;
    const [report] = await unitOfWork.read((stores) => stores.reports.find([job.work.reportId]));
    if (report !== undefined) await reportFiles.remove(report.fileId, signal);
    await unitOfWork.run((stores) => stores.jobs.complete([job]), 'full', 'brief');
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
