import { MESSAGE_PRIORITIES } from '../../domain/jobs/job-priority.ts';
import type { Clock } from '../ports/clock.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** So many accepted messages of one project may wait for their first attempt. */
export const UNTRIED_MESSAGES_MAX = 100_000;
/** A process counts them after it has accepted so many of the project: a count costs as much as they are. */
const ACCEPTED_BETWEEN_COUNTS = 10_000;
/** A project that has too many is counted again so much later. */
const RECOUNT_MS = 1_000;

interface UntriedMessagesOptions {
  readonly unitOfWork: Pick<UnitOfWork, 'read'>;
  readonly clock: Clock;
  readonly untriedMax?: number;
  readonly acceptedBetweenCounts?: number;
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
 * what each process accepts between two counts.
 */
export class UntriedMessages {
  readonly #options: Required<UntriedMessagesOptions>;
  readonly #projects = new Map<string, ProjectCount>();

  constructor({
    unitOfWork,
    clock,
    untriedMax = UNTRIED_MESSAGES_MAX,
    acceptedBetweenCounts = ACCEPTED_BETWEEN_COUNTS,
  }: UntriedMessagesOptions) {
    this.#options = { unitOfWork, clock, untriedMax, acceptedBetweenCounts };
  }

  /** Whether the project had too many at the last count. */
  areTooMany(projectId: string): boolean {
    const project = this.#projects.get(projectId);
    if (project === undefined || !project.isFull) return false;
    const age = this.#options.clock.now() - project.countedAt;
    // A clock that was put back must not keep the project out.
    if (age >= RECOUNT_MS || age < 0) void this.#count(projectId, project);
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
    if (project.acceptedSince >= this.#options.acceptedBetweenCounts) void this.#count(projectId, project);
  }

  async #count(projectId: string, project: ProjectCount): Promise<void> {
    if (project.isCounting) return;
    const { unitOfWork, clock, untriedMax } = this.#options;
    project.isCounting = true;
    project.acceptedSince = 0;
    try {
      const waiting = await unitOfWork.read(({ jobs }) =>
        jobs.countAvailable(projectId, MESSAGE_PRIORITIES, untriedMax),
      );
      project.isFull = waiting >= untriedMax;
    } catch {
      // Without a database nothing is accepted either; the next count is as good.
    } finally {
      project.isCounting = false;
      project.countedAt = clock.now();
    }
  }
}
