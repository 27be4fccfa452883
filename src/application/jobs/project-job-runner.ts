import type { LeasedJob, Work } from '../../domain/jobs/job.ts';
import { EventLoopShare } from '../concurrency/event-loop-share.ts';
import { FairGate } from '../concurrency/fair-gate.ts';
import { InFlight } from '../concurrency/in-flight.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventLoop } from '../ports/event-loop.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { WakeSignal } from '../ports/wake-signal.ts';
import { type LongJobPorts, LongJobRunner } from './long-job-runner.ts';

export interface ProjectJobPorts extends LongJobPorts {
  readonly clock: Clock;
  readonly lockRetryDelay: Timeout;
  readonly wakeSignal: WakeSignal;
  readonly eventLoop: EventLoop;
}

/** How many of the jobs are worked on at a time. */
interface ProjectJobMaxima {
  readonly perProject: number;
  readonly all: number;
  /** Whether pauses come between the jobs: each computes for long in one piece. */
  readonly isPaced: boolean;
}

/** Jobs of one kind in a process, those that wait too. More are left: they come again when their leases end. */
export const PROJECT_JOBS_HELD_MAX = 10_000;
export const PROJECT_JOBS_HELD_PER_PROJECT_MAX = 1_000;

/** Work of one project. */
export type ProjectWork = Work & { readonly projectId: string };

/**
 * Does jobs that each take long, or write much, in the background: they take no places in the queue, in which codes would wait
 * behind them. By project in rotation; a project whose rows are locked holds up no other.
 */
export class ProjectJobRunner {
  readonly #wakeSignal: WakeSignal;
  readonly #share: EventLoopShare | null;
  readonly #runner: LongJobRunner;
  readonly #gate: FairGate;
  readonly #held = new InFlight({ perKey: PROJECT_JOBS_HELD_PER_PROJECT_MAX, all: PROJECT_JOBS_HELD_MAX });

  constructor(ports: ProjectJobPorts, { perProject, all, isPaced }: ProjectJobMaxima) {
    this.#wakeSignal = ports.wakeSignal;
    this.#share = isPaced ? new EventLoopShare(ports.eventLoop) : null;
    this.#runner = new LongJobRunner(ports);
    this.#gate = new FairGate(
      { perKey: perProject, all },
      { clock: ports.clock, lockRetryDelay: ports.lockRetryDelay },
    );
  }

  /**
   * Resolves at once. `work` does one job and completes it, and may be run again when it meets a lock. Its signal is aborted when
   * the process stops, or when another one has the job. What fails before that is recorded.
   */
  async begin<Kind extends ProjectWork>(
    jobs: readonly LeasedJob<Kind>[],
    work: (job: LeasedJob<Kind>, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const held = jobs.filter((job) => this.#held.tryBegin(job.work.projectId));
    const doInTurn = async (job: LeasedJob<Kind>, signal: AbortSignal): Promise<void> => {
      await this.#gate.run(job.work.projectId, async () => {
        const doNow = async (): Promise<void> => {
          signal.throwIfAborted();
          await work(job, signal);
          this.#wakeSignal.wake();
        };
        await (this.#share === null ? doNow() : this.#share.run(doNow));
      });
    };
    this.#runner.begin(held, doInTurn, ({ work: { projectId } }) => this.#held.end(projectId));
  }
}
