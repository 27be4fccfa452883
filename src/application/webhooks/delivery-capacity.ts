import type { DeliveryLimits } from './delivery-limits.ts';
import { SurplusLine } from './surplus-line.ts';

type InHandLimits = Pick<
  DeliveryLimits,
  | 'fetchedPerDestination'
  | 'fetchedPerProject'
  | 'fetched'
  | 'fetchedMin'
  | 'destinationsPerProject'
  | 'destinations'
>;

interface InHand {
  destinations: number;
  /** Events that are fetched and not recorded yet, and those that fetches in flight may bring. */
  fetched: number;
}

interface ProjectInHand extends InHand {
  /** The line of the jobs whose destinations are too many. */
  readonly surplus: SurplusLine;
}

/** Bounds the destinations and the fetched events that this process has in hand, of each project and in all. */
export class DeliveryCapacity {
  readonly #limits: InHandLimits;
  readonly #projects = new Map<string, ProjectInHand>();
  readonly #all: InHand = { destinations: 0, fetched: 0 };

  constructor(limits: InHandLimits) {
    this.#limits = limits;
  }

  /** The capacity of one more destination; null when its project or this process has as many as it may. */
  open(projectId: string): DestinationCapacity | null {
    const project = this.#projects.get(projectId) ?? nothingInHand();
    if (project.destinations >= this.#limits.destinationsPerProject) return null;
    if (this.#all.destinations >= this.#limits.destinations) return null;
    this.#projects.set(projectId, project);
    for (const each of [project, this.#all]) each.destinations += 1;
    return new DestinationCapacity(this.#limits, projectId, project, this.#all);
  }

  /**
   * When the job of a destination that found no capacity is due again. Each project has a line of its own: the jobs of others may
   * fill a line for minutes.
   */
  surplusDueAt(projectId: string, now: number): number {
    const project = this.#projects.get(projectId) ?? nothingInHand();
    // The line is kept until the project has had a destination, which it gets once the process has a place: one for each project.
    this.#projects.set(projectId, project);
    return project.surplus.next(now);
  }

  /** The destination is done, and has nothing in hand. */
  close({ projectId, project }: DestinationCapacity, now: number): void {
    for (const each of [project, this.#all]) each.destinations -= 1;
    project.surplus.noteEnded(now);
    if (project.destinations === 0) this.#projects.delete(projectId);
  }
}

function nothingInHand(): ProjectInHand {
  return { destinations: 0, fetched: 0, surplus: new SurplusLine() };
}

export class DestinationCapacity {
  readonly projectId: string;
  readonly project: ProjectInHand;
  readonly #limits: InHandLimits;
  readonly #all: InHand;

  constructor(limits: InHandLimits, projectId: string, project: ProjectInHand, all: InHand) {
    this.#limits = limits;
    this.projectId = projectId;
    this.project = project;
    this.#all = all;
  }

  /** Counts events that are fetched, or that a beginning fetch may bring. */
  take(events: number): void {
    for (const each of [this.project, this.#all]) each.fetched += events;
  }

  /** Stops counting events that are recorded or dropped, or that the fetch has not brought. */
  release(events: number): void {
    for (const each of [this.project, this.#all]) each.fetched -= events;
  }

  /**
   * How many new events to fetch, while `queued` events wait or are in flight and `unrecorded` ones are not recorded yet. A small
   * fetch is not worth it: it may read the events in hand once more.
   */
  left(queued: number, unrecorded: number): number {
    const limits = this.#limits;
    const left = Math.min(
      limits.fetchedPerDestination - queued,
      limits.fetchedPerProject - this.project.fetched,
      limits.fetched - this.#all.fetched,
    );
    if (left >= limits.fetchedMin) return left;
    return unrecorded === 0 ? limits.fetchedMin : 0;
  }
}
