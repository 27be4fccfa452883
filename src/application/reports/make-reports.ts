import type { LeasedJob } from '../../domain/jobs/job.ts';
import type { Report } from '../../domain/reports/report.ts';
import { matcherOf, REPORT_HEADER, reportRow } from '../../domain/reports/report-row.ts';
import { nextRound } from '../concurrency/next-round.ts';
import { type ProjectJobPorts, ProjectJobRunner } from '../jobs/project-job-runner.ts';
import { type MakeReportWork, removeReportJob } from '../jobs/report-jobs.ts';
import type { CsvEncoder } from '../ports/csv-encoder.ts';
import type { ReportFiles } from '../ports/report-files.ts';
import type { MessagePlace } from '../ports/stores/message-store.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

interface MakePorts extends ProjectJobPorts {
  readonly unitOfWork: UnitOfWork;
  readonly reportFiles: ReportFiles;
  readonly csvEncoder: CsvEncoder;
}

/** Messages that are read and written at a time: the event loop has other work in between. */
export const REPORT_PAGE_ROWS = 200;

/**
 * How many reports a process writes at a time, and how many it removes; each may have a file or an upload open. More wait, and
 * keep their leases.
 */
export const REPORT_JOB_LIMITS = { perProject: 2, all: 10, isPaced: false };

/**
 * Specification 4.4: makes the files of reports, page by page, in bounded memory. A report that a crash interrupts is made
 * again from the beginning when its lease ends.
 */
export class MakeReports {
  readonly #ports: MakePorts;
  readonly #runner: ProjectJobRunner;
  /** Ends when the page at hand is read: one page at a time, however many reports are made. */
  #page: Promise<unknown> = Promise.resolve();

  constructor(ports: MakePorts) {
    this.#ports = ports;
    this.#runner = new ProjectJobRunner(ports, REPORT_JOB_LIMITS);
  }

  /** Resolves at once; the reports are made in the background. Never rejects. */
  execute(jobs: readonly LeasedJob<MakeReportWork>[]): Promise<void> {
    return this.#runner.begin(jobs, (job, signal) => this.#make(job, signal));
  }

  async #make(job: LeasedJob<MakeReportWork>, signal: AbortSignal): Promise<void> {
    const { unitOfWork, reportFiles, clock } = this.#ports;
    const { reportId } = job.work;
    const [report] = await unitOfWork.read(({ reports }) => reports.find([reportId]));
    let recordCount = 0;
    if (report !== undefined && isToMake(report)) {
      const lines = this.#linesOf(report, signal, (rows) => {
        recordCount += rows;
      });
      await reportFiles.write(report.fileId, lines, signal);
    }
    await unitOfWork.run(async (stores) => {
      const [held] = await stores.jobs.complete([job]);
      const [locked] = await stores.reports.lock([reportId]);
      const now = clock.now();
      if (held === undefined || locked === undefined || locked.recordCount !== null) return;
      if (locked.deletedAt !== null) {
        // The file may have come after its removal.
        await stores.jobs.add([removeReportJob(locked, now)], now);
        return;
      }
      await stores.reports.save([{ ...locked, recordCount, updatedAt: now }]);
      await stores.jobs.add([removeReportJob(locked)], now);
    });
  }

  /** Rejects when the signal is aborted. */
  async *#linesOf(
    report: Report,
    signal: AbortSignal,
    count: (rows: number) => void,
  ): AsyncGenerator<string> {
    const { csvEncoder } = this.#ports;
    const isReported = matcherOf(report.filters);
    yield csvEncoder([REPORT_HEADER]);
    for (let after: MessagePlace | null = null; ; ) {
      signal.throwIfAborted();
      const page = await this.#nextPage(report, after);
      const rows = page.filter(isReported).map(reportRow);
      count(rows.length);
      if (rows.length > 0) yield csvEncoder(rows);
      const last = page.at(-1);
      if (last === undefined || page.length < REPORT_PAGE_ROWS) return;
      after = last;
    }
  }

  /** The pages of all reports are read one after another, and the event loop turns in between. */
  #nextPage({ projectId, from, to, createdAt }: Report, after: MessagePlace | null) {
    const page = this.#page.then(async () => {
      await nextRound();
      // What is created while the report is made is not in it.
      const query = { projectId, from, to: Math.min(to, createdAt), after, limit: REPORT_PAGE_ROWS };
      return this.#ports.unitOfWork.read(({ messages }) => messages.reported(query));
    });
    this.#page = page.catch(() => undefined);
    return page;
  }
}

function isToMake({ recordCount, deletedAt }: Report): boolean {
  return recordCount === null && deletedAt === null;
}
