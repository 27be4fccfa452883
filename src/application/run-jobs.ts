import type { BackgroundWork } from './background-work.ts';
import { REPEATS_END_MS } from './batcher.ts';
import {
  FAILED_JOB_PAUSE_MS,
  FAILURES_MAX,
  type LeasedJob,
  type MessageWork,
  type WebhookWork,
} from './jobs.ts';
import type { AdvanceMessages } from './messages/advance-messages.ts';
import type { SubmitAttempts } from './messages/submit-attempts.ts';
import type { Clock } from './ports/clock.ts';
import type { Logger } from './ports/logger.ts';
import type { Stores } from './ports/stores.ts';
import type { UnitOfWork } from './ports/unit-of-work.ts';
import type { WakeSignal } from './ports/wake-signal.ts';
import { StorageUnavailable } from './storage-unavailable.ts';
import type { DeliverWebhooks } from './webhooks/deliver-webhooks.ts';

interface RunPorts {
  readonly unitOfWork: UnitOfWork;
  readonly advanceMessages: AdvanceMessages;
  readonly submitAttempts: SubmitAttempts;
  readonly deliverWebhooks: DeliverWebhooks;
  readonly background: BackgroundWork;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly wakeSignal: WakeSignal;
}

/**
 * Does leased jobs. The removal of a job and its effect are one transaction, and only the holder of the newest
 * lease removes it: whatever the queue delivers twice, or a slow worker finishes late, has no effect. Jobs of webhooks
 * go to `DeliverWebhooks`, which keeps their leases while it posts.
 */
export class RunJobs {
  readonly #ports: RunPorts;

  constructor(ports: RunPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when every job is done, set aside or handed on; the calls to channels that follow from them go on in the
   * background, so that a slow channel holds up nothing else. A job that fails stays leased and comes again.
   */
  async execute(jobs: readonly LeasedJob[]): Promise<void> {
    const messages = jobs.filter(isMessageJob);
    const webhooks = jobs.filter(isWebhookJob);
    await Promise.all([this.#advanceAll(messages), this.#ports.deliverWebhooks.execute(webhooks)]);
    this.#ports.wakeSignal.wake();
  }

  /** A job that cannot be done must not keep its batch from being done. */
  async #advanceAll(jobs: readonly LeasedJob<MessageWork>[]): Promise<void> {
    if (jobs.length === 0) return;
    const { clock } = this.#ports;
    const end = clock.now() + REPEATS_END_MS;
    try {
      await this.#advance(jobs);
    } catch (error) {
      if (error instanceof StorageUnavailable) return this.#logFailure(jobs, error);
      for (const [index, job] of jobs.entries()) {
        if (clock.now() > end) return this.#logFailure(jobs.slice(index), error);
        await this.#advanceAlone(job);
      }
    }
  }

  async #advanceAlone(job: LeasedJob<MessageWork>): Promise<void> {
    try {
      await this.#advance([job]);
    } catch (error) {
      await this.#noteFailure(job, error).catch((own: unknown) => this.#logFailure([job], own));
    }
  }

  async #advance(jobs: readonly LeasedJob<MessageWork>[]): Promise<void> {
    const { unitOfWork, advanceMessages, submitAttempts, background } = this.#ports;
    const { started, projects } = await unitOfWork.run(async (stores) => {
      const attempts = await advanceMessages.execute(stores, [], jobs);
      return {
        started: attempts,
        projects: await projectsOf(
          stores,
          attempts.map(({ message }) => message.projectId),
        ),
      };
    });
    if (started.length === 0) return;
    background.start(started.length, () => submitAttempts.execute(started, projects));
    await background.waitForCapacity();
  }

  /** Only a job that failed by itself counts as failed: what fails in a batch may be another's fault. */
  async #noteFailure(job: LeasedJob, error: unknown): Promise<void> {
    const { unitOfWork, clock, logger } = this.#ports;
    this.#logFailure([job], error);
    const at = clock.now();
    const reason = error instanceof Error ? error.message : String(error);
    const failure = { reason, at, retryAt: at + FAILED_JOB_PAUSE_MS, failuresMax: FAILURES_MAX };
    const dead = await unitOfWork.run((stores) => stores.jobs.fail([job], failure));
    for (const { id, work } of dead) logger.warn('job_dead_lettered', { jobId: id, kind: work.kind });
  }

  #logFailure(jobs: readonly LeasedJob[], error: unknown): void {
    for (const job of jobs) {
      this.#ports.logger.error('job_failed', error, {
        jobId: job.id,
        kind: job.work.kind,
        fencingToken: job.fencingToken,
      });
    }
  }
}

function isMessageJob(job: LeasedJob): job is LeasedJob<MessageWork> {
  return !isWebhookJob(job);
}

function isWebhookJob(job: LeasedJob): job is LeasedJob<WebhookWork> {
  const { work } = job;
  switch (work.kind) {
    case 'deliver-webhooks':
      return true;
    case 'start-attempt':
    case 'attempt-deadline':
      return false;
    default:
      return work satisfies never;
  }
}

async function projectsOf(stores: Stores, projectIds: readonly string[]) {
  const ids = [...new Set(projectIds)];
  const projects = ids.length === 0 ? [] : await stores.projects.byIds(ids);
  return new Map(projects.map((project) => [project.id, project]));
}
