import { type Backlog, LOWER_PRIORITY_EVERY } from '../../domain/jobs/fair-share.ts';
import { JOB_PRIORITIES, type JobPriority } from '../../domain/jobs/job-priority.ts';
import { RotatingQueue } from '../concurrency/rotating-queue.ts';

interface Waiting<Item> {
  /** By project; those of `first` go before the others. */
  readonly first: RotatingQueue<Item>;
  readonly items: RotatingQueue<Item>;
  /** How many items of other priorities were taken since the last one of this. */
  passed: number;
}

/**
 * Items that wait in memory, by the rules of `fair-share.ts`: the most urgent priority gets all but a tenth for each lower
 * one. Within a priority projects are served in rotation, whatever their weights. Adding, dropping and taking one item takes
 * the same time however many wait.
 */
export class FairQueue<Item extends { readonly backlog: Backlog }> {
  readonly #waiting = new Map<JobPriority, Waiting<Item>>();

  add(item: Item): void {
    this.#waitingOf(item).items.add(item.backlog.projectId, item);
  }

  /** Adds an item that goes before those of its priority that were added with `add`. */
  addFirst(item: Item): void {
    this.#waitingOf(item).first.add(item.backlog.projectId, item);
  }

  /** It waits no longer. Nothing happens when it does not wait. */
  drop(item: Item): void {
    const { priority } = item.backlog;
    const waiting = this.#waiting.get(priority);
    waiting?.first.drop(item);
    waiting?.items.drop(item);
    this.#forgetEmpty(priority);
  }

  /**
   * Takes the item that is served next, or null. While the next item of a project may not be taken, other projects and
   * priorities are served; items that were added with `addFirst` always may.
   */
  take(mayTake: (item: Item) => boolean = () => true): Item | null {
    const blocked = new Set<Waiting<Item>>();
    for (let next = this.#nextWaiting(blocked); next !== null; next = this.#nextWaiting(blocked)) {
      const item = this.#takeOf(next, mayTake);
      if (item !== null) return item;
      blocked.add(next);
    }
    return null;
  }

  /** Takes all of them. */
  takeAll(): readonly Item[] {
    const items = [...this.#waiting.values()].flatMap(({ first, items }) => [
      ...first.takeAll(),
      ...items.takeAll(),
    ]);
    this.#waiting.clear();
    return items;
  }

  #waitingOf({ backlog: { priority } }: Item): Waiting<Item> {
    const waiting = this.#waiting.get(priority) ?? {
      first: new RotatingQueue<Item>(),
      items: new RotatingQueue<Item>(),
      passed: 0,
    };
    this.#waiting.set(priority, waiting);
    return waiting;
  }

  #takeOf(waiting: Waiting<Item>, mayTake: (item: Item) => boolean): Item | null {
    const item = waiting.first.take() ?? waiting.items.take((_, next) => mayTake(next)) ?? null;
    if (item === null) return null;
    for (const each of this.#waiting.values()) each.passed = each === waiting ? 0 : each.passed + 1;
    this.#forgetEmpty(item.backlog.priority);
    return item;
  }

  #forgetEmpty(priority: JobPriority): void {
    const waiting = this.#waiting.get(priority);
    if (waiting?.first.isEmpty === true && waiting.items.isEmpty) this.#waiting.delete(priority);
  }

  /** Of the most urgent priority that is not blocked, unless a lower one was passed too often. */
  #nextWaiting(blocked: ReadonlySet<Waiting<Item>>): Waiting<Item> | null {
    let next: Waiting<Item> | null = null;
    for (const priority of JOB_PRIORITIES) {
      const waiting = this.#waiting.get(priority);
      if (waiting === undefined || blocked.has(waiting)) continue;
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
