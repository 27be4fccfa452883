import { SINGLE_MESSAGE_PRIORITIES } from '../../domain/jobs/job-priority.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import { StorageUnavailable } from '../errors/storage-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobPlace } from '../ports/stores/job-store.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** About how many accepted messages of one project may wait for their first attempt. */
export const UNTRIED_MESSAGES_MAX = 100_000;
/**
 * How many messages one query counts, so that each query is short. A project is counted again after a process has accepted
 * this many more of its messages.
 */
export const COUNTED_SLICE = 10_000;
/** After how long a project with too many messages is counted again, in milliseconds. */
const RECOUNT_MS = 1_000;

interface UntriedMessagesOptions {
  readonly unitOfWork: Pick<UnitOfWork, 'read'>;
  readonly background: BackgroundWork;
  readonly clock: Clock;
  readonly untriedMax?: number;
  readonly countedSlice?: number;
}

interface ProjectCount {
  acceptedSince: number;
  isCounting: boolean;
  isFull: boolean;
  countedAt: number;
}

/**
 * Which projects have more messages waiting than workers can try soon: they may not have more accepted, because every
 * message takes its part of the database from the others. Counts beside the sends, so a project can exceed the bound by
 * what each process accepts between two counts. What a slow provider postpones for a moment is not counted.
 */
export class UntriedMessages {
  readonly #options: Required<UntriedMessagesOptions>;
  readonly #projects = new Map<string, ProjectCount>();

  constructor({
    unitOfWork,
    background,
    clock,
    untriedMax = UNTRIED_MESSAGES_MAX,
    countedSlice = COUNTED_SLICE,
  }: UntriedMessagesOptions) {
    this.#options = { unitOfWork, background, clock, untriedMax, countedSlice };
  }

  /** Whether the project had too many at the last count. */
  areTooMany(projectId: string): boolean {
    const project = this.#projects.get(projectId);
    if (project === undefined || !project.isFull) return false;
    const age = this.#options.clock.now() - project.countedAt;
    // A clock that was put back must not keep the project out.
    if (age >= RECOUNT_MS || age < 0) this.#startCount(projectId, project);
    return true;
  }

  /** One more message of the project was accepted. */
  noteAccepted(projectId: string): void {
    const project = this.#projects.get(projectId);
    if (project === undefined) {
      this.#projects.set(projectId, { acceptedSince: 1, isCounting: false, isFull: false, countedAt: 0 });
      return;
    }
    project.acceptedSince += 1;
    if (project.acceptedSince >= this.#options.countedSlice) this.#startCount(projectId, project);
  }

  #startCount(projectId: string, project: ProjectCount): void {
    if (project.isCounting) return;
    project.isCounting = true;
    project.acceptedSince = 0;
    this.#options.background.start(() => this.#count(projectId, project));
  }

  async #count(projectId: string, project: ProjectCount): Promise<void> {
    try {
      project.isFull = await this.#isFull(projectId);
    } catch (error) {
      // Without a database nothing is accepted either; the next count is as good.
      if (!(error instanceof StorageUnavailable)) throw error;
    } finally {
      project.isCounting = false;
      project.countedAt = this.#options.clock.now();
    }
  }

  /** Other work goes on between two slices. */
  async #isFull(projectId: string): Promise<boolean> {
    const { unitOfWork, untriedMax, countedSlice } = this.#options;
    let counted = 0;
    for (const priority of SINGLE_MESSAGE_PRIORITIES) {
      let after: JobPlace | null = null;
      do {
        const from: JobPlace | null = after;
        after = await unitOfWork.read(({ jobs }) =>
          jobs.skipAvailable({ projectId, priority, after: from, count: countedSlice }),
        );
        if (after !== null) counted += countedSlice;
      } while (after !== null && counted < untriedMax);
    }
    return counted >= untriedMax;
  }
}
