import { type Backlog, LOWER_PRIORITY_EVERY } from '../../domain/jobs/fair-share.ts';
import { JOB_PRIORITIES, type JobPriority } from '../../domain/jobs/job-priority.ts';
import { mayHaveMore, type ProviderCapacity, SLOW_AFTER_MS } from '../../domain/messages/submission-share.ts';
import { RotatingQueue } from './rotating-queue.ts';

interface Waiting<Item> {
  /** By project. */
  readonly items: RotatingQueue<Item>;
  /** How many items of other priorities were taken since the last one of this, also while none of this waited. */
  passed: number;
}

/** An item in flight: when it began, in milliseconds. */
interface Begun {
  readonly at: number;
}

const NONE: ReadonlySet<never> = new Set();

/**
 * Items that wait in memory, by the rules of `fair-share.ts` and `submission-share.ts`: the most urgent priority gets all but a
 * tenth for each lower one. Within a priority projects are served in rotation, whatever their weights. A project that has too
 * many in flight waits. Adding, dropping and taking one item takes the same time however many projects wait: what is passed over
 * has something in flight already, or may not be taken now.
 */
export class FairQueue<Item extends { readonly backlog: Backlog }> {
  readonly #waiting = new Map<JobPriority, Waiting<Item>>();
  /** When each of a project began, the oldest first, in milliseconds. */
  readonly #inFlight = new Map<string, Set<Begun>>();
  /** Those of all projects that were not slow when they were counted last, the oldest first. */
  readonly #fresh = new Set<Begun>();
  readonly #slowAfterMs: number;
  readonly #now: () => number;
  #inFlightOfAll = 0;

  /** `now` is in milliseconds; only differences count. */
  constructor(now: () => number, slowAfterMs = SLOW_AFTER_MS) {
    this.#now = now;
    this.#slowAfterMs = slowAfterMs;
  }

  get isEmpty(): boolean {
    for (const waiting of this.#waiting.values()) if (!waiting.items.isEmpty) return false;
    return true;
  }

  /** How many wait. */
  get size(): number {
    let size = 0;
    for (const { items } of this.#waiting.values()) size += items.size;
    return size;
  }

  /** How many are in flight. */
  get inFlight(): number {
    return this.#inFlightOfAll;
  }

  /** How many in flight are not slow. */
  fresh(): number {
    const before = this.#now() - this.#slowAfterMs;
    for (const begun of this.#fresh) {
      if (begun.at > before) break;
      this.#fresh.delete(begun);
    }
    return this.#fresh.size;
  }

  /** In how many milliseconds the next one in flight is slow; null when all are. */
  nextSlowMs(): number | null {
    for (const { at } of this.#fresh) return Math.max(0, at + this.#slowAfterMs - this.#now());
    return null;
  }

  /**
   * How many more of a backlog are taken at once when `free` more may be in flight. What waits already goes first. A project with
   * its share in flight has no less: what waits of it takes the places that come back first.
   */
  capacity(backlog: Backlog, free: number): ProviderCapacity {
    return { free: Math.max(0, free - this.size), waiting: this.waitingOf(backlog) };
  }

  /** How many of a backlog wait. */
  waitingOf({ priority, projectId }: Backlog): number {
    return this.#waiting.get(priority)?.items.sizeOf(projectId) ?? 0;
  }

  add(item: Item): void {
    this.#waitingOf(item).items.add(item.backlog.projectId, item);
  }

  /** Adds an item that goes before those of its project and priority that were added with `add`. */
  addFirst(item: Item): void {
    this.#waitingOf(item).items.addFirst(item.backlog.projectId, item);
  }

  /** It waits no longer. Nothing happens when it does not wait. */
  drop(item: Item): void {
    this.#waiting.get(item.backlog.priority)?.items.drop(item);
  }

  /**
   * Takes the item that is served next, or null; `free` is how many more may be in flight. While a project has its share in
   * flight, or its next item may not be taken, other projects and priorities are served.
   */
  take(free: number, mayTake: (item: Item) => boolean = () => true): Item | null {
    if (free <= 0) return null;
    const blocked = new Set<Waiting<Item>>();
    for (let next = this.#nextWaiting(blocked); next !== null; next = this.#nextWaiting(blocked)) {
      const item = this.#takeOf(next, free, mayTake);
      if (item !== null) return item;
      blocked.add(next);
    }
    return null;
  }

  /** Counts an item as in flight until the function that it returns is called, once. */
  begin({ backlog: { projectId } }: Item): () => void {
    const begun = { at: this.#now() };
    const own = this.#inFlight.get(projectId) ?? new Set();
    this.#inFlight.set(projectId, own.add(begun));
    this.#fresh.add(begun);
    this.#inFlightOfAll += 1;
    return () => {
      this.#inFlightOfAll -= 1;
      own.delete(begun);
      this.#fresh.delete(begun);
      if (own.size === 0) this.#inFlight.delete(projectId);
    };
  }

  /** Takes all of them. */
  takeAll(): readonly Item[] {
    return [...this.#waiting.values()].flatMap(({ items }) => items.takeAll());
  }

  #waitingOf({ backlog: { priority } }: Item): Waiting<Item> {
    const waiting = this.#waiting.get(priority) ?? { items: new RotatingQueue<Item>(), passed: 0 };
    this.#waiting.set(priority, waiting);
    return waiting;
  }

  #takeOf(waiting: Waiting<Item>, free: number, mayTake: (item: Item) => boolean): Item | null {
    const item = waiting.items.take((projectId, next) => this.#mayHaveMore(projectId, free) && mayTake(next));
    if (item === undefined) return null;
    for (const each of this.#waiting.values()) each.passed = each === waiting ? 0 : each.passed + 1;
    return item;
  }

  #mayHaveMore(projectId: string, free: number): boolean {
    const own = this.#inFlight.get(projectId) ?? NONE;
    const inFlight = own.size;
    const places = this.#inFlightOfAll + free;
    return mayHaveMore({ inFlight, slow: this.#slowOf(own, free) }, { free, places });
  }

  /** `countMax` at most. */
  #slowOf(own: ReadonlySet<Begun>, countMax: number): number {
    const before = this.#now() - this.#slowAfterMs;
    let slow = 0;
    for (const { at } of own) {
      if (at > before || slow === countMax) break;
      slow += 1;
    }
    return slow;
  }

  /** Of the most urgent priority that is not blocked, unless a lower one was passed too often. */
  #nextWaiting(blocked: ReadonlySet<Waiting<Item>>): Waiting<Item> | null {
    let next: Waiting<Item> | null = null;
    for (const priority of JOB_PRIORITIES) {
      const waiting = this.#waiting.get(priority);
      if (waiting === undefined || waiting.items.isEmpty || blocked.has(waiting)) continue;
      if (next === null) {
        next = waiting;
      } else if (waiting.passed >= LOWER_PRIORITY_EVERY - 1) {
        next = waiting;
        break;
      }
    }
    return next;
  }
}
