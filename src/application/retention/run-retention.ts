import type { Project } from '../../domain/access/project.ts';
import type { Retention } from '../../domain/access/retention.ts';
import type { LeasedJob } from '../../domain/jobs/job.ts';
import { StorageUnavailable } from '../errors/storage-unavailable.ts';
import { type LongJobPorts, LongJobRunner } from '../jobs/long-job-runner.ts';
import { RecurringJob } from '../jobs/recurring-job.ts';
import {
  RETENTION_INTERVAL_MS,
  type RunRetentionWork,
  runRetentionJob,
  WEBHOOK_LOG_INTERVAL_MS,
} from '../jobs/retention-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Stores } from '../ports/stores.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { RetainCampaigns } from './retain-campaigns.ts';
import type { RetainMessages } from './retain-messages.ts';
import type { RetainReports } from './retain-reports.ts';
import type { RetainWebhooks } from './retain-webhooks.ts';
import { type SliceBudget, Slices } from './slices.ts';

interface RunPorts extends LongJobPorts {
  readonly unitOfWork: UnitOfWork;
  readonly retainMessages: RetainMessages;
  readonly retainCampaigns: RetainCampaigns;
  readonly retainReports: RetainReports;
  readonly retainWebhooks: RetainWebhooks;
  readonly sliceBudget: SliceBudget;
  readonly sliceDelay: Timeout;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Projects that are read at a time. */
const PROJECTS_PAGE = 200;

/**
 * Treats what projects do not keep any longer, and sweeps receipts that nobody waits for: at the start of a worker, and
 * `RETENTION_INTERVAL_MS` after each run, or `WEBHOOK_LOG_INTERVAL_MS` after it while no project has retention.
 */
export class RunRetention {
  readonly #ports: RunPorts;
  readonly #recurring: RecurringJob<RunRetentionWork>;
  readonly #runner: LongJobRunner;

  constructor(ports: RunPorts) {
    this.#ports = ports;
    this.#recurring = new RecurringJob(ports, runRetentionJob);
    this.#runner = new LongJobRunner(ports);
  }

  /** A worker starts: the job is due now. While another worker has it, it stays as it is. */
  schedule(): Promise<void> {
    return this.#recurring.schedule();
  }

  /** Resolves at once; the work is done in the background, in short transactions, and ends behind one when the process stops. */
  async execute(jobs: readonly LeasedJob<RunRetentionWork>[]): Promise<void> {
    this.#runner.begin(jobs, (job, signal) => this.#run(job, signal));
  }

  async #run(job: LeasedJob<RunRetentionWork>, signal: AbortSignal): Promise<void> {
    const retentions = await this.#ports.unitOfWork.read(retentionsIn);
    await this.#treat(retentions, signal);
    // Also where no project has retention: webhook events leave the log. Asked behind the lock of the job, because a setting
    // that is changed from there on makes it due at once.
    const intervalMs = async (stores: Stores) =>
      (await retentionsIn(stores)).size > 0 ? RETENTION_INTERVAL_MS : WEBHOOK_LOG_INTERVAL_MS;
    if (!signal.aborted) await this.#recurring.repeat(job, intervalMs);
  }

  /** What fails keeps nobody else waiting: it is logged, and tried again by the next run. Without a database the run ends. */
  async #treat(retentions: ReadonlyMap<string, Retention>, signal: AbortSignal): Promise<void> {
    const slices = new Slices(this.#ports, signal);
    for (const projectId of retentions.keys()) {
      if (signal.aborted) return;
      await this.#attempt({ projectId }, () => this.#treatProject(projectId, slices));
    }
    if (signal.aborted) return;
    await this.#attempt({}, () => this.#ports.retainWebhooks.execute(retentions, slices));
    await this.#attempt({}, () => this.#sweepSubmissions(slices));
  }

  /** Parked receipts may quote a message. They leave with what is submitted and parked later: here where nothing is. */
  #sweepSubmissions(slices: Slices): Promise<void> {
    const { unitOfWork, clock } = this.#ports;
    return slices.each(
      async (rows) =>
        (await unitOfWork.run(({ submissions }) => submissions.sweep(clock.now(), rows))) === rows,
    );
  }

  async #attempt(fields: { readonly projectId?: string }, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      this.#ports.logger.error('retention_failed', error, fields);
    }
  }

  async #treatProject(projectId: string, slices: Slices): Promise<void> {
    const { retainMessages, retainCampaigns, retainReports, logger } = this.#ports;
    const messages = await retainMessages.execute(projectId, slices);
    const recipients = await retainCampaigns.execute(projectId, slices);
    await retainReports.execute(projectId, slices);
    if (messages.anonymised + messages.removed + recipients === 0) return;
    logger.info('retention_applied', { projectId, ...messages, recipients });
  }
}

/** The settings of the projects that have retention, archived ones among them. */
async function retentionsIn({ projects }: Pick<Stores, 'projects'>): Promise<ReadonlyMap<string, Retention>> {
  const found = new Map<string, Retention>();
  for (let after: string | null = null; ; ) {
    const page: readonly Project[] = await projects.list(after, PROJECTS_PAGE);
    for (const { id, settings } of page) {
      if (settings.retention !== null) found.set(id, settings.retention);
    }
    after = page.at(-1)?.id ?? null;
    if (page.length < PROJECTS_PAGE) return found;
  }
}
