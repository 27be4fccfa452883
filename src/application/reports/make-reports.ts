import type { Report } from '../../domain/reports/report.ts';
import { matcherOf, REPORT_HEADER, reportRow } from '../../domain/reports/report-row.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import { InFlight } from '../concurrency/in-flight.ts';
import { onNextRound } from '../concurrency/next-round.ts';
import type { LeasedJob } from '../jobs/job.ts';
import { keepLease, type LeasePorts } from '../jobs/keep-lease.ts';
import type { RecordJobFailure } from '../jobs/record-job-failure.ts';
import { type MakeReportWork, removeReportJob } from '../jobs/report-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { CsvEncoder } from '../ports/csv-encoder.ts';
import type { MessagePlace } from '../ports/message-store.ts';
import type { ReportFiles } from '../ports/report-files.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

interface MakePorts extends LeasePorts {
  readonly unitOfWork: UnitOfWork;
  readonly reportFiles: ReportFiles;
  readonly csvEncoder: CsvEncoder;
  readonly recordJobFailure: RecordJobFailure;
  readonly background: BackgroundWork;
  readonly clock: Clock;
}

/** Messages that are read and written at a time: the event loop has other work in between. */
export const REPORT_PAGE_ROWS = 500;

/**
 * Reports that a process writes at a time, and those of one project; each has a file or an upload open. More wait, and keep
 * their leases.
 */
export const REPORTS_WRITTEN_MAX = 10;
export const REPORTS_WRITTEN_PER_PROJECT_MAX = 2;

/** Ends the writing of a report: the process stops, or another one has the job by now. */
class Abandoned extends Error {}

/** A report at hand. */
interface Making {
  readonly job: LeasedJob<MakeReportWork>;
  isAbandoned: boolean;
}

/**
 * Specification 4.4: makes the files of reports, page by page, in bounded memory. A report that a crash interrupts is made
 * again from the beginning when its lease ends.
 */
export class MakeReports {
  readonly #ports: MakePorts;
  #isStopping = false;
  /** Ends when the page at hand is read: one page at a time, however many reports are made. */
  #page: Promise<unknown> = Promise.resolve();
  /** By project. */
  readonly #written = new InFlight({ perKey: REPORTS_WRITTEN_PER_PROJECT_MAX, all: REPORTS_WRITTEN_MAX });
  /** Those that wait to be written, in their order. */
  readonly #waiting: { readonly projectId: string; readonly begin: () => void }[] = [];

  constructor(ports: MakePorts) {
    this.#ports = ports;
  }

  /** Resolves at once; the reports are made in the background. Never rejects. */
  async execute(jobs: readonly LeasedJob<MakeReportWork>[]): Promise<void> {
    const { background, recordJobFailure } = this.#ports;
    for (const job of jobs) {
      background.start(async () => {
        const making: Making = { job, isAbandoned: false };
        // Also while a page is being written, which may take longer than a lease.
        const stopRenewing = keepLease(this.#ports, job, () => {
          making.isAbandoned = true;
        });
        const { projectId } = job.work;
        await this.#begin(projectId);
        try {
          await this.#make(making);
        } catch (error) {
          if (!(error instanceof Abandoned)) await recordJobFailure.execute(job, error);
        } finally {
          stopRenewing();
          this.#end(projectId);
        }
      });
    }
  }

  /** The reports at hand are left: their jobs come again when the leases end. */
  stop(): void {
    this.#isStopping = true;
  }

  async #begin(projectId: string): Promise<void> {
    if (this.#written.tryBegin(projectId)) return;
    await new Promise<void>((begin) => this.#waiting.push({ projectId, begin }));
  }

  #end(projectId: string): void {
    this.#written.end(projectId);
    const next = this.#waiting.findIndex((waiting) => this.#written.tryBegin(waiting.projectId));
    for (const { begin } of next === -1 ? [] : this.#waiting.splice(next, 1)) begin();
  }

  async #make(making: Making): Promise<void> {
    const { unitOfWork, reportFiles, clock } = this.#ports;
    const { job } = making;
    const { reportId } = job.work;
    const [report] = await unitOfWork.read(({ reports }) => reports.find([reportId]));
    let recordCount = 0;
    if (report !== undefined && isToMake(report)) {
      const lines = this.#linesOf(report, making, (rows) => {
        recordCount += rows;
      });
      await reportFiles.write(report.fileId, lines);
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

  async *#linesOf(report: Report, making: Making, count: (rows: number) => void): AsyncGenerator<string> {
    const { csvEncoder } = this.#ports;
    const isReported = matcherOf(report.filters);
    yield csvEncoder([REPORT_HEADER]);
    for (let after: MessagePlace | null = null; ; ) {
      if (this.#isStopping || making.isAbandoned) throw new Abandoned();
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
      await new Promise<void>((resolve) => onNextRound(resolve));
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
