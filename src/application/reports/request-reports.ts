import type { Project } from '../../domain/access/project.ts';
import type { KeyedRequest } from '../../domain/idempotency/idempotency.ts';
import {
  newFileId,
  newReport,
  type Report,
  type ReportSelection,
  tooManyReports,
  unexpiredSince,
} from '../../domain/reports/report.ts';
import { FairGate } from '../concurrency/fair-gate.ts';
import { Rejected } from '../errors/rejected.ts';
import { runKeyed } from '../idempotency.ts';
import { makeReportJob } from '../jobs/report-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { KeyHasher } from '../ports/key-hasher.ts';
import type { RequestHasher } from '../ports/request-hasher.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';

interface RequestPorts {
  readonly unitOfWork: UnitOfWork;
  readonly requestHasher: RequestHasher;
  readonly keyHasher: Pick<KeyHasher, 'checksum'>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly wakeSignal: WakeSignal;
  readonly reportPollingInterval: Timeout;
  readonly lockRetryDelay: Timeout;
}

export interface ReportCommand {
  readonly project: Project;
  readonly selection: ReportSelection;
  /** Null for a request without an Idempotency-Key. */
  readonly idempotency: KeyedRequest | null;
}

/** A report, and whether it is that of an earlier request with the same Idempotency-Key. */
export interface ReportResult {
  readonly report: Report;
  readonly replayed: boolean;
}

/** The most polling intervals between two reads of the report. */
const INTERVALS_MAX = 10;
/** How long a polling interval lasts, in milliseconds. */
export const REPORT_POLLING_INTERVAL_MS = 25;
/** After how long the caller is told that the report is still to be made, in milliseconds. */
export const REPORT_WAIT_MS = 8_000;
const INTERVALS_IN_ALL = REPORT_WAIT_MS / REPORT_POLLING_INTERVAL_MS;

/**
 * Requests of reports that a process stores at a time, and those of one project, which lock its account. With the requests about
 * campaigns they are fewer than the connections of the usual pool. Those whose account is locked by others do not count.
 */
export const REPORTS_REQUESTED_MAX = 3;
export const REPORTS_REQUESTED_PER_PROJECT_MAX = 1;

/** Specification 4.4: a job makes the report, and the caller waits for it. */
export class RequestReports {
  readonly #ports: RequestPorts;
  readonly #gate: FairGate;
  /** One poll for all who wait for the same report, by its id. */
  readonly #polls = new Map<string, Promise<Report>>();

  constructor(ports: RequestPorts) {
    this.#ports = ports;
    this.#gate = new FairGate(
      { perKey: REPORTS_REQUESTED_PER_PROJECT_MAX, all: REPORTS_REQUESTED_MAX },
      { clock: ports.clock, lockRetryDelay: ports.lockRetryDelay },
    );
  }

  /**
   * Resolves with the report when it is made, or after 8 s as it stands: its `recordCount` is null then. Throws `Rejected`,
   * and there is no report.
   */
  async execute(command: ReportCommand): Promise<ReportResult> {
    const { id, replayed } = await this.#gate.run(command.project.id, () => this.#request(command));
    this.#ports.wakeSignal.wake();
    const poll = this.#polls.get(id) ?? this.#made(id).finally(() => this.#polls.delete(id));
    this.#polls.set(id, poll);
    return { report: await poll, replayed };
  }

  async #request({
    project,
    selection,
    idempotency,
  }: ReportCommand): Promise<{ id: string; replayed: boolean }> {
    const { unitOfWork, requestHasher, keyHasher, clock, ids } = this.#ports;
    const keyed = { projectId: project.id, request: idempotency };
    return unitOfWork.run(
      async (stores) => {
        const now = clock.now();
        await stores.accounts.lock([project.id]);
        return runKeyed({ store: stores.idempotency, requestHasher }, keyed, now, async () => {
          const requested = await stores.reports.requested(project.id, unexpiredSince(now));
          const tooMany = tooManyReports(requested, now);
          if (tooMany !== null) throw new Rejected(tooMany);
          const fileId = newFileId(ids.secret(), keyHasher.checksum);
          const report = newReport({ id: ids.hex24(now), fileId }, project, selection, now);
          await Promise.all([
            stores.reports.insert([report]),
            stores.jobs.add([makeReportJob(report, now)], now),
          ]);
          return { id: report.id, replayed: false };
        });
      },
      'full',
      'brief',
    );
  }

  /** Asks often at first, then less often: another process may make the report. */
  async #made(id: string): Promise<Report> {
    const { unitOfWork } = this.#ports;
    for (let passed = 0, next = 1; ; next = Math.min(2 * next, INTERVALS_MAX)) {
      const [report] = await unitOfWork.read(({ reports }) => reports.find([id]));
      if (report === undefined) throw new Error(`Report ${id} is gone`);
      if (report.recordCount !== null || passed >= INTERVALS_IN_ALL) return report;
      for (let interval = 0; interval < next; interval += 1) await this.#interval();
      passed += next;
    }
  }

  #interval(): Promise<void> {
    return new Promise((resolve) => this.#ports.reportPollingInterval(resolve));
  }
}
