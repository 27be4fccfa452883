import type { Report } from '../../domain/reports/report.ts';
import { matcherOf, REPORT_HEADER, reportRow } from '../../domain/reports/report-row.ts';
import type { BackgroundWork } from '../background-work.ts';
import { type LeasedJob, RENEW_EVERY_MS } from '../jobs/job.ts';
import type { RecordJobFailure } from '../jobs/record-job-failure.ts';
import type { RenewLeases } from '../jobs/renew-leases.ts';
import { type MakeReportWork, removeReportJob } from '../jobs/report-jobs.ts';
import { onNextTurn } from '../next-turn.ts';
import type { Clock } from '../ports/clock.ts';
import type { CsvEncoder } from '../ports/csv-encoder.ts';
import type { MessagePlace } from '../ports/message-store.ts';
import type { ReportFiles } from '../ports/report-files.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

interface MakePorts {
  readonly unitOfWork: UnitOfWork;
  readonly reportFiles: ReportFiles;
  readonly csvEncoder: CsvEncoder;
  readonly renewLeases: RenewLeases;
  readonly recordJobFailure: RecordJobFailure;
  readonly background: BackgroundWork;
  readonly clock: Clock;
}

/** Messages that are read and written at a time: the event loop has other work in between. */
export const REPORT_PAGE_ROWS = 500;

/** The report is not this process's any more: another one makes it, or has made it. */
class LeaseLost extends Error {}

/**
 * Specification 4.4: makes the files of reports, page by page, in bounded memory. A report that a crash interrupts is made
 * again from the beginning when its lease ends.
 */
export class MakeReports {
  readonly #ports: MakePorts;
  #isStopping = false;
  /** Ends when the page at hand is read: one page at a time, however many reports are made. */
  #page: Promise<unknown> = Promise.resolve();

  constructor(ports: MakePorts) {
    this.#ports = ports;
  }

  /** Resolves at once; the reports are made in the background. Never rejects. */
  async execute(jobs: readonly LeasedJob<MakeReportWork>[]): Promise<void> {
    const { background, recordJobFailure } = this.#ports;
    for (const job of jobs) {
      background.start(async () => {
        try {
          await this.#make(job);
        } catch (error) {
          if (!(error instanceof LeaseLost)) await recordJobFailure.execute(job, error);
        }
      });
    }
  }

  /** The reports at hand are left: their jobs come again when the leases end. */
  stop(): void {
    this.#isStopping = true;
  }

  async #make(job: LeasedJob<MakeReportWork>): Promise<void> {
    const { unitOfWork, reportFiles, clock } = this.#ports;
    const { reportId } = job.work;
    const [report] = await unitOfWork.read(({ reports }) => reports.find([reportId]));
    let recordCount = 0;
    if (report !== undefined && isToMake(report)) {
      await reportFiles.write(
        report.fileId,
        this.#linesOf(report, job, (rows) => {
          recordCount += rows;
        }),
      );
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

  async *#linesOf(
    report: Report,
    job: LeasedJob<MakeReportWork>,
    count: (rows: number) => void,
  ): AsyncGenerator<string> {
    const { csvEncoder, clock, renewLeases } = this.#ports;
    const isReported = matcherOf(report.filters);
    let renewedAt = clock.now();
    yield csvEncoder([REPORT_HEADER]);
    for (let after: MessagePlace | null = null; ; ) {
      if (this.#isStopping) throw new LeaseLost();
      if (clock.now() >= renewedAt + RENEW_EVERY_MS) {
        renewedAt = clock.now();
        if ((await renewLeases.execute(job)) === null) throw new LeaseLost();
      }
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
  #nextPage(report: Report, after: MessagePlace | null) {
    const { projectId, filters } = report;
    const page = this.#page.then(async () => {
      await new Promise<void>((resolve) => onNextTurn(resolve));
      return this.#ports.unitOfWork.read(({ messages }) =>
        messages.reported({
          projectId,
          from: filters.from,
          // What is created while the report is made is not in it.
          to: Math.min(filters.to, report.createdAt),
          after,
          limit: REPORT_PAGE_ROWS,
        }),
      );
    });
    this.#page = page.catch(() => undefined);
    return page;
  }
}

function isToMake({ recordCount, deletedAt }: Report): boolean {
  return recordCount === null && deletedAt === null;
}
