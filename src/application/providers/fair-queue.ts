import type { Backlog } from '../../domain/jobs/fair-share.ts';
import type { ProviderCapacity } from '../../domain/providers/provider-capacity.ts';
import type { SubmitResult } from '../../domain/providers/submit-result.ts';
import { PriorityQueue } from '../concurrency/priority-queue.ts';
import { ProjectsInFlight } from './projects-in-flight.ts';
import { ThrottledRates } from './throttled-rates.ts';

/**
 * A priority queue in front of a provider, by the rules of `submission-share.ts`: a project that has too many items in flight
 * waits, and so does one that the provider throttles while its rate allows none. What is passed over has something in flight
 * already, or may not be taken now.
 */
export class FairQueue<Item extends { readonly backlog: Backlog }> {
  readonly #waiting = new PriorityQueue<Item>();
  readonly #inFlight: ProjectsInFlight;
  readonly #rates: ThrottledRates;
  /** Projects that were passed over for their rates. */
  readonly #heldByRate = new Set<string>();

  /** `now` is in milliseconds; only differences count. What is in flight is fresh for `freshMs`. */
  constructor(now: () => number, freshMs?: number) {
    this.#inFlight = new ProjectsInFlight(now, freshMs);
    this.#rates = new ThrottledRates(now);
  }

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.#waiting.isEmpty;
  }

  /** What is in flight. */
  get inFlight(): Pick<ProjectsInFlight, 'count' | 'fresh' | 'freshEndsMs'> {
    return this.#inFlight;
  }

  /**
   * In how many milliseconds a rate allows one that `take` has passed over for it since the last call; null when it passed over
   * none.
   */
  heldByRateMs(): number | null {
    let soonest: number | null = null;
    for (const projectId of this.#heldByRate) {
      const ms = this.#rates.waitMs(projectId);
      if (soonest === null || ms < soonest) soonest = ms;
    }
    this.#heldByRate.clear();
    return soonest;
  }

  /** How many items of the project go out in a second while the provider throttles it; null while it does not. */
  ratePerSecond(projectId: string): number | null {
    return this.#rates.perSecond(projectId);
  }

  /** Notes what the provider said to an item of the project: its rate follows that. */
  noteResult(projectId: string, result: SubmitResult): void {
    this.#rates.noteResult(projectId, result);
  }

  /**
   * How many more of a backlog are taken at once when `free` more may be in flight. What waits already goes first. A project with
   * its share in flight has no less: what waits of it takes the places that come back first.
   */
  capacity(backlog: Backlog, free: number): ProviderCapacity {
    const waitingOfProject = this.#waiting.sizeOfProject(backlog.projectId);
    const ofRate = this.#allowed(backlog);
    return {
      free: Math.max(0, free - this.#waiting.size),
      passing: Math.max(0, this.#moreOf(backlog, free) - waitingOfProject),
      waiting: this.#waiting.sizeOf(backlog),
      ahead: this.#waiting.sizeAhead(backlog.priority),
      ...(ofRate === null ? {} : { ofRate: Math.max(0, ofRate - waitingOfProject) }),
    };
  }

  add(item: Item): void {
    this.#waiting.add(item);
  }

  /** Adds an item that goes before those of its project and priority that were added with `add`. */
  addFirst(item: Item): void {
    this.#waiting.addFirst(item);
  }

  /** It waits no longer. Nothing happens when it does not wait. */
  drop(item: Item): void {
    this.#waiting.drop(item);
  }

  /**
   * Takes the item that is served next, or null; `free` is how many more may be in flight. While a project has its share in
   * flight, or no more at its rate, or its next item may not be taken, other projects and priorities are served.
   */
  take(free: number, mayTake: (item: Item) => boolean = () => true): Item | null {
    if (free <= 0) return null;
    return this.#waiting.take((item) => {
      if (this.#allowed(item.backlog) === 0) {
        this.#heldByRate.add(item.backlog.projectId);
        return false;
      }
      return this.#moreOf(item.backlog, free) > 0 && mayTake(item);
    });
  }

  /** Counts an item as in flight until the function that it returns is called, once. */
  begin({ backlog: { projectId, priority } }: Item): () => void {
    this.#rates.noteSent(projectId, priority === 'code');
    return this.#inFlight.begin(projectId);
  }

  /** Takes all that wait. */
  takeAll(): readonly Item[] {
    return this.#waiting.takeAll();
  }

  #moreOf(backlog: Backlog, free: number): number {
    const more = this.#inFlight.moreOf(backlog.projectId, free);
    return Math.min(more, this.#allowed(backlog) ?? more);
  }

  #allowed({ projectId, priority }: Backlog): number | null {
    return this.#rates.allowed(projectId, priority === 'code');
  }
}
