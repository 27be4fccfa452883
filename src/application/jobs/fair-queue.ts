import { type Backlog, LOWER_PRIORITY_EVERY } from '../../domain/jobs/fair-share.ts';
import { JOB_PRIORITIES, type JobPriority } from '../../domain/jobs/job-priority.ts';
import { RotatingQueue } from '../concurrency/rotating-queue.ts';

interface Waiting<Item> {
  /** By project. */
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
    const { priority, projectId } = item.backlog;
    const waiting = this.#waiting.get(priority) ?? { items: new RotatingQueue<Item>(), passed: 0 };
    this.#waiting.set(priority, waiting);
    waiting.items.add(projectId, item);
  }

  /** It waits no longer. Nothing happens when it does not wait. */
  drop(item: Item): void {
    const { priority } = item.backlog;
    this.#waiting.get(priority)?.items.drop(item);
    this.#forgetEmpty(priority);
  }

  /** Takes the item that is served next, or null. */
  take(): Item | null {
    const item = this.#nextWaiting()?.items.take() ?? null;
    if (item !== null) this.#forgetEmpty(item.backlog.priority);
    return item;
  }

  /** Takes all of them. */
  takeAll(): readonly Item[] {
    const items = [...this.#waiting.values()].flatMap((waiting) => waiting.items.takeAll());
    this.#waiting.clear();
    return items;
  }

  #forgetEmpty(priority: JobPriority): void {
    if (this.#waiting.get(priority)?.items.isEmpty) this.#waiting.delete(priority);
  }

  /** Of the most urgent priority, unless a lower one was passed too often. */
  #nextWaiting(): Waiting<Item> | null {
    let next: Waiting<Item> | null = null;
    for (const priority of JOB_PRIORITIES) {
      const waiting = this.#waiting.get(priority);
      if (waiting === undefined) continue;
      if (next === null) {
        next = waiting;
      } else if (waiting.passed >= LOWER_PRIORITY_EVERY - 1) {
        next = waiting;
        break;
      }
    }
    for (const waiting of this.#waiting.values()) waiting.passed = waiting === next ? 0 : waiting.passed + 1;
    return next;
  }
}
