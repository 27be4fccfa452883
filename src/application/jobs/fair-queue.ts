import { type Backlog, LOWER_PRIORITY_EVERY } from '../../domain/jobs/fair-share.ts';
import { JOB_PRIORITIES, type JobPriority } from '../../domain/jobs/job-priority.ts';

interface Waiting<Item> {
  /** Of each project in the order they came; the project that is served next is the first. */
  readonly byProject: Map<string, Set<Item>>;
  /** How many items of other priorities were taken since the last one of this. */
  passed: number;
}

/**
 * Items that wait in memory, by the rules of `fair-share.ts`: the most urgent priority gets all but a tenth for each lower
 * one. Within a priority projects are served in rotation, whatever their weights. Adding, deleting and taking one item takes
 * the same time however many wait.
 */
export class FairQueue<Item extends { readonly backlog: Backlog }> {
  readonly #waiting = new Map<JobPriority, Waiting<Item>>();

  add(item: Item): void {
    const { priority, projectId } = item.backlog;
    const waiting = this.#waiting.get(priority) ?? { byProject: new Map(), passed: 0 };
    this.#waiting.set(priority, waiting);
    const own = waiting.byProject.get(projectId) ?? new Set();
    waiting.byProject.set(projectId, own.add(item));
  }

  /** It waits no longer. Nothing happens when it does not wait. */
  delete(item: Item): void {
    const { priority, projectId } = item.backlog;
    const waiting = this.#waiting.get(priority);
    const own = waiting?.byProject.get(projectId);
    if (waiting === undefined || own === undefined) return;
    own.delete(item);
    if (own.size === 0) waiting.byProject.delete(projectId);
    if (waiting.byProject.size === 0) this.#waiting.delete(priority);
  }

  /** Takes the item that is served next, or null. */
  take(): Item | null {
    const byProject = this.#nextWaiting()?.byProject;
    if (byProject === undefined) return null;
    for (const [projectId, own] of byProject) {
      if (byProject.size > 1) {
        // The project moves to the end of the rotation.
        byProject.delete(projectId);
        byProject.set(projectId, own);
      }
      for (const item of own) {
        this.delete(item);
        return item;
      }
    }
    return null;
  }

  /** Takes all of them. */
  takeAll(): readonly Item[] {
    const items = [...this.#waiting.values()].flatMap(({ byProject }) =>
      [...byProject.values()].flatMap((own) => [...own]),
    );
    this.#waiting.clear();
    return items;
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
