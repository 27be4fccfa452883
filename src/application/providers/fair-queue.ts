import type { Backlog } from '../../domain/jobs/fair-share.ts';
import {
  FRESH_MS,
  LATENCY_REMEMBERED_MS,
  type Latency,
  latencyOf,
  moreInFlight,
  type ProviderCapacity,
  SLOW_AFTER_MS,
} from '../../domain/providers/submission-share.ts';
import type { SubmitResult } from '../../domain/providers/submit-result.ts';
import { PriorityQueue } from '../concurrency/priority-queue.ts';
import { ThrottledRates } from './throttled-rates.ts';

/** An item in flight: when it began, in milliseconds. */
interface Begun {
  readonly at: number;
}

const NONE: ReadonlySet<never> = new Set();

/**
 * A priority queue in front of a provider, by the rules of `submission-share.ts`: a project that has too many items in flight
 * waits, and so does one that the provider throttles while its rate allows none. What is passed over has something in flight
 * already, or may not be taken now.
 */
export class FairQueue<Item extends { readonly backlog: Backlog }> {
  readonly #waiting = new PriorityQueue<Item>();
  /** When each of a project began, the oldest first, in milliseconds. */
  readonly #inFlight = new Map<string, Set<Begun>>();
  /** Until when the latency of each project is remembered, the earliest first, in milliseconds. */
  readonly #latencies: Readonly<Record<Exclude<Latency, 'quick'>, Map<string, number>>> = {
    long: new Map(),
    slow: new Map(),
  };
  /** Those of all projects that were fresh when they were counted last, the oldest first. */
  readonly #fresh = new Set<Begun>();
  readonly #rates: ThrottledRates;
  /** Projects that were passed over for their rates. */
  readonly #heldByRate = new Set<string>();
  readonly #freshMs: number;
  readonly #now: () => number;
  #inFlightOfAll = 0;

  /** `now` is in milliseconds; only differences count. What is in flight is fresh for `freshMs`. */
  constructor(now: () => number, freshMs = FRESH_MS) {
    this.#now = now;
    this.#freshMs = freshMs;
    this.#rates = new ThrottledRates(now);
  }

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.#waiting.isEmpty;
  }

  /** How many are in flight. */
  get inFlight(): number {
    return this.#inFlightOfAll;
  }

  /** How many in flight are fresh. */
  fresh(): number {
    const before = this.#now() - this.#freshMs;
    for (const begun of this.#fresh) {
      if (begun.at > before) break;
      this.#fresh.delete(begun);
    }
    return this.#fresh.size;
  }

  /** In how many milliseconds the next one in flight is fresh no longer; null when none is. */
  freshEndsMs(): number | null {
    for (const { at } of this.#fresh) return Math.max(0, at + this.#freshMs - this.#now());
    return null;
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

  /** Whether the provider throttles the project. */
  isAtRate(projectId: string): boolean {
    return this.#rates.allowed(projectId) !== null;
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
    const ofRate = this.#rates.allowed(backlog.projectId);
    return {
      free: Math.max(0, free - this.#waiting.size),
      passing: Math.max(0, this.#moreOf(backlog.projectId, free) - waitingOfProject),
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
      const { projectId } = item.backlog;
      if (this.#rates.allowed(projectId) === 0) {
        this.#heldByRate.add(projectId);
        return false;
      }
      return this.#moreOf(projectId, free) > 0 && mayTake(item);
    });
  }

  /** Counts an item as in flight until the function that it returns is called, once. */
  begin({ backlog: { projectId } }: Item): () => void {
    const begun = { at: this.#now() };
    const own = this.#inFlight.get(projectId) ?? new Set();
    this.#inFlight.set(projectId, own.add(begun));
    this.#fresh.add(begun);
    this.#inFlightOfAll += 1;
    this.#rates.noteSent(projectId);
    return () => {
      this.#inFlightOfAll -= 1;
      own.delete(begun);
      this.#noteLatency(projectId, begun);
      this.#fresh.delete(begun);
      if (own.size === 0) this.#inFlight.delete(projectId);
    };
  }

  /** Takes all that wait. */
  takeAll(): readonly Item[] {
    return this.#waiting.takeAll();
  }

  #moreOf(projectId: string, free: number): number {
    const own = this.#inFlight.get(projectId) ?? NONE;
    const inFlight = own.size;
    const places = this.#inFlightOfAll + free;
    const now = this.#now();
    const latency = this.#latencyOf(projectId, own, now);
    const more = moreInFlight({ inFlight, slow: slowIn(own, now, free), latency }, { free, places });
    return Math.min(more, this.#rates.allowed(projectId) ?? more);
  }

  #noteLatency(projectId: string, { at }: Begun): void {
    const now = this.#now();
    const latency = latencyOf(now - at);
    if (latency === 'quick') return;
    const remembered = this.#latencies[latency];
    remembered.delete(projectId);
    remembered.set(projectId, now + LATENCY_REMEMBERED_MS);
    for (const [each, until] of remembered) {
      if (until > now) break;
      remembered.delete(each);
    }
  }

  /** The slowest latency of what is in flight, and of what ended lately. */
  #latencyOf(projectId: string, own: ReadonlySet<Begun>, now: number): Latency {
    const [oldest] = own;
    const present = oldest === undefined ? 'quick' : latencyOf(now - oldest.at);
    const was = (latency: 'long' | 'slow') => (this.#latencies[latency].get(projectId) ?? 0) > now;
    if (present === 'slow' || was('slow')) return 'slow';
    return present === 'long' || was('long') ? 'long' : 'quick';
  }
}

/** How many in flight are slow; `countMax` at most. */
function slowIn(own: ReadonlySet<Begun>, now: number, countMax: number): number {
  let slow = 0;
  for (const { at } of own) {
    if (now - at < SLOW_AFTER_MS || slow === countMax) break;
    slow += 1;
  }
  return slow;
}
