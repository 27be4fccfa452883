import { type Backlog, LOWER_PRIORITY_EVERY } from '../../domain/jobs/fair-share.ts';
import { JOB_PRIORITIES, type JobPriority, upTo } from '../../domain/jobs/job-priority.ts';
import { RotatingQueue } from './rotating-queue.ts';

interface Waiting<Item> {
  /** By project. */
  readonly items: RotatingQueue<Item>;
  /** How many items of other priorities were taken since the last item of this one, also while none of this one waited. */
  passed: number;
}

/**
 * Items that wait in memory, by the rule of `fair-share.ts`: the most urgent priority gets all but a tenth for each lower one.
 * Within a priority projects are served in rotation, whatever their weights. Adding, dropping and taking one item takes the same
 * time however many projects wait. Only projects that are passed over take more.
 */
export class PriorityQueue<Item extends { readonly backlog: Backlog }> {
  readonly #waiting = new Map<JobPriority, Waiting<Item>>();

  get isEmpty(): boolean {
    for (const { items } of this.#waiting.values()) if (!items.isEmpty) return false;
    return true;
  }

  /** How many wait. */
  get size(): number {
    let size = 0;
    for (const { items } of this.#waiting.values()) size += items.size;
    return size;
  }

  /** How many of a backlog wait. */
  sizeOf({ priority, projectId }: Backlog): number {
    return this.#waiting.get(priority)?.items.sizeOf(projectId) ?? 0;
  }

  /** How many of a project wait, of whatever priority. */
  sizeOfProject(projectId: string): number {
    let size = 0;
    for (const { items } of this.#waiting.values()) size += items.sizeOf(projectId);
    return size;
  }

  /** How many of a priority and of more urgent ones wait. */
  sizeAhead(priority: JobPriority): number {
    return upTo(priority).reduce((size, each) => size + (this.#waiting.get(each)?.items.size ?? 0), 0);
  }

  /** Whether anything of a more urgent priority waits. */
  hasBefore(priority: JobPriority): boolean {
    return this.sizeAhead(priority) > (this.#waiting.get(priority)?.items.size ?? 0);
  }

  add(item: Item): void {
    this.#waitingAs(item).items.add(item.backlog.projectId, item);
  }

  /** Adds an item that goes before those of its project and priority that were added with `add`. */
  addFirst(item: Item): void {
    this.#waitingAs(item).items.addFirst(item.backlog.projectId, item);
  }

  /** Removes an item. Nothing happens when it does not wait. */
  drop(item: Item): void {
    this.#waiting.get(item.backlog.priority)?.items.drop(item);
  }

  /**
   * Takes the item that is served next, or null. While the next item of a project may not be taken, other projects and priorities
   * are served.
   */
  take(mayTake: (item: Item) => boolean = () => true): Item | null {
    const blocked = new Set<Waiting<Item>>();
    for (let next = this.#nextWaiting(blocked); next !== null; next = this.#nextWaiting(blocked)) {
      const item = next.items.take((_, each) => mayTake(each));
      if (item !== undefined) {
        for (const each of this.#waiting.values()) each.passed = each === next ? 0 : each.passed + 1;
        return item;
      }
      blocked.add(next);
    }
    return null;
  }

  /** Takes all of them. */
  takeAll(): readonly Item[] {
    return [...this.#waiting.values()].flatMap(({ items }) => items.takeAll());
  }

  #waitingAs({ backlog: { priority } }: Item): Waiting<Item> {
    const waiting = this.#waiting.get(priority) ?? { items: new RotatingQueue<Item>(), passed: 0 };
    this.#waiting.set(priority, waiting);
    return waiting;
  }

  /** The most urgent priority that is not blocked, or a lower one that was passed too often. */
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
