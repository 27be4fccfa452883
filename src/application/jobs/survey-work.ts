import { JOB_PRIORITIES, type JobPriority } from '../../domain/jobs/job-priority.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobStore } from '../ports/stores/job-store.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { WORKER_SEEN_MS } from './worker-heartbeat.ts';

/** Counts of jobs stop here: more is told as this many. */
export const SURVEYED_JOBS_MAX = 10_000;

/** The jobs of one priority. */
export interface PrioritySurvey {
  readonly priority: JobPriority;
  /** Due and not leased, up to `SURVEYED_JOBS_MAX`. */
  readonly due: number;
  /** How long the oldest due job has waited, in milliseconds; 0 when none is due. */
  readonly oldestWaitedMs: number;
}

/** How the work of the installation stands: the same whichever process asks. */
export interface WorkSurvey {
  readonly priorities: readonly PrioritySurvey[];
  /** Up to `SURVEYED_JOBS_MAX`. */
  readonly deadLetterJobs: number;
  /** Those that were seen in the last `WORKER_SEEN_MS`. */
  readonly workers: number;
  /** Destinations whose circuit is not closed, of the `SURVEYED_JOBS_MAX` that were attempted last. */
  readonly openWebhookCircuits: number;
}

/** Tells how much work waits, for monitoring. The cost grows with the projects that have work, not with their jobs. */
export class SurveyWork {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock };

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly clock: Clock }) {
    this.#ports = ports;
  }

  execute(): Promise<WorkSurvey> {
    const { unitOfWork, clock } = this.#ports;
    const now = clock.now();
    return unitOfWork.read(async ({ jobs, jobSurvey, deadLetters, workers, circuitBreakers }) => {
      const due = await jobSurvey.countDue(now, SURVEYED_JOBS_MAX);
      const priorities: PrioritySurvey[] = [];
      for (const priority of JOB_PRIORITIES) {
        priorities.push({
          priority,
          due: Math.min(due.get(priority) ?? 0, SURVEYED_JOBS_MAX),
          oldestWaitedMs: await oldestWaitedMs(jobs, now, [priority]),
        });
      }
      return {
        priorities,
        deadLetterJobs: await deadLetters.count(SURVEYED_JOBS_MAX),
        workers: (await workers.seenSince(now - WORKER_SEEN_MS)).count,
        openWebhookCircuits: await circuitBreakers.countOpen(SURVEYED_JOBS_MAX),
      };
    });
  }
}

/** For how long the oldest due job of these priorities has waited, in milliseconds; 0 when none is due. */
export async function oldestWaitedMs(
  jobs: JobStore,
  now: number,
  priorities?: readonly JobPriority[],
): Promise<number> {
  const next = await jobs.nextDue(priorities);
  return next === null ? 0 : Math.max(0, now - next.dueAt);
}
