import type { StorageLocked } from '../errors/storage-locked.ts';
import { groupBy } from '../group-by.ts';
import type { Clock } from '../ports/clock.ts';
import type { Timeout } from '../ports/timeout.ts';
import type { LockWait } from '../ports/unit-of-work.ts';
import { BatchQueue } from './batch-queue.ts';
import { BatchRunner, type BatchWork, type ProjectsOf } from './batch-runner.ts';
import { IsolatedProject } from './isolated-project.ts';
import {
  asRepeated,
  type BatchItem,
  type ItemSettled,
  itemsOf,
  rejectAll,
  type WhenLocked,
  waitingOnce,
} from './waiting-items.ts';

interface BatcherOptions<Item> {
  /** Measures how long batches are repeated, and how long a project stays isolated. */
  readonly clock: Clock;
  /** After a batch has begun, the next one collects items for this long or until it is full. Without it there is no wait. */
  readonly batchWindow?: Timeout;
  /**
   * The project of each item, in their order. With it, a project that meets a lock is isolated: its items run in batches
   * of their own, and no other project waits for them. It is called only when a batch met a lock, or a project is isolated.
   */
  readonly projectsOf?: ProjectsOf<Item>;
  /** Called with items that are isolated from here on. */
  readonly onIsolated?: (items: readonly Item[]) => void;
}

/**
 * Turns single calls into batches. They wait in a `BatchQueue`; `BatchRunner` runs a batch and repeats what failed. When the
 * database was away for long, all that waits is rejected with the batch. A batch that met a lock is run again as one batch for
 * each project, all at once, and these are an `IsolatedProject` each for a while. `work` returns its results in the order of its
 * items.
 */
export class Batcher<Item, Result> {
  readonly #projectsOf: ProjectsOf<Item> | null;
  readonly #onIsolated: (items: readonly Item[]) => void;
  readonly #newIsolated: (projectId: string) => IsolatedProject<Item, Result>;
  readonly #isolated = new Map<string, IsolatedProject<Item, Result>>();
  readonly #runner: BatchRunner<Item, Result>;
  readonly #queue: BatchQueue<Item, Result>;

  constructor(
    work: BatchWork<Item, Result>,
    { clock, batchWindow, projectsOf, onIsolated }: BatcherOptions<Item>,
  ) {
    this.#projectsOf = projectsOf ?? null;
    this.#onIsolated = onIsolated ?? (() => {});
    const window = batchWindow ?? null;
    this.#newIsolated = (projectId) => {
      const project: IsolatedProject<Item, Result> = new IsolatedProject({
        work,
        clock,
        batchWindow: window,
        onEnd: () => this.#endIsolation(projectId, project),
      });
      return project;
    };
    this.#runner = new BatchRunner({
      work,
      clock,
      projectsOf: this.#projectsOf,
      // Items of other projects would wait with it.
      lockWaitOf: () => (this.#projectsOf === null ? 'long' : 'brief'),
      onSuccess: () => {},
      onLock: (batch, failure, lockWait) => this.#runByProject(batch, failure, lockWait),
      onAway: (failure) => rejectAll(this.#queue.takeAll(), failure),
    });
    this.#queue = new BatchQueue({
      batchWindow: window,
      run: (filled, letNextBegin) => this.#run(filled, letNextBegin),
    });
  }

  /** Whether a row of the project is locked, as far as is known: no batch of it has succeeded since it was isolated. */
  isLocked(projectId: string): boolean {
    return this.#isolated.get(projectId)?.isLocked === true;
  }

  /** Resolves with the item's own result once its batch is done; rejects with its own error. */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#queue.add([{ item, repeated: false, resolve, reject }]);
    });
  }

  /**
   * Calls `settled` once for each item: with null when it is done, else with its error. Resolves when no other item waits for
   * these: each is settled, or its project has met a lock. An item of a project that is locked already, and of which a full batch
   * waits, is settled with `StorageLocked` at once, and does not run. With `whenLocked` as `fail` so is any other item of a
   * locked project, but it runs all the same.
   */
  submitEach(items: readonly Item[], whenLocked: WhenLocked, settled: ItemSettled): Promise<void> {
    if (items.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      let open = items.length;
      const letGo = (): void => {
        open -= 1;
        if (open === 0) resolve();
      };
      this.#queue.add(
        items.map((item, index) =>
          waitingOnce(item, whenLocked, (failure) => settled(index, failure), letGo),
        ),
      );
    });
  }

  async #run(filled: readonly BatchItem<Item, Result>[], letNextBegin: () => void): Promise<void> {
    for (const [projectId, project] of this.#isolated) {
      if (project.isIdle) this.#endIsolation(projectId, project);
    }
    const batch = this.#isolated.size === 0 ? filled : await this.#withoutIsolated(filled);
    if (batch.length > 0) await this.#runner.run(batch, letNextBegin);
  }

  /** Hands the items of isolated projects to them, and returns the others. */
  async #withoutIsolated(
    batch: readonly BatchItem<Item, Result>[],
  ): Promise<readonly BatchItem<Item, Result>[]> {
    // Without the projects the batch runs as it is, and shows what is wrong.
    const projectIds = await this.#projectsOf?.(itemsOf(batch)).catch(() => undefined);
    if (projectIds === undefined) return batch;
    const shared: BatchItem<Item, Result>[] = [];
    const isolated: BatchItem<Item, Result>[] = [];
    for (const [index, waiting] of batch.entries()) {
      const project = this.#isolated.get(projectIds[index] ?? '');
      if (project === undefined) shared.push(waiting);
      else {
        isolated.push(waiting);
        project.add(waiting);
      }
    }
    this.#onIsolated(itemsOf(isolated));
    return shared;
  }

  /** Isolates the projects of a batch that met a lock, and runs it again there. One that has waited long for it is rejected. */
  async #runByProject(
    batch: readonly BatchItem<Item, Result>[],
    failure: StorageLocked,
    lockWait: LockWait,
  ): Promise<void> {
    if (lockWait === 'long' || this.#projectsOf === null) return rejectAll(batch, failure);
    try {
      const projectIds = await this.#projectsOf(itemsOf(batch));
      this.#onIsolated(itemsOf(batch));
      for (const { lock } of batch) lock?.isolated();
      const byProject = groupBy(batch.map(asRepeated), (_, index) => projectIds[index] ?? '');
      for (const [projectId, own] of byProject) this.#isolate(projectId).addAgain(own);
    } catch (error) {
      rejectAll(batch, error);
    }
  }

  /** The project, which has met a lock. */
  #isolate(projectId: string): IsolatedProject<Item, Result> {
    const project = this.#isolated.get(projectId) ?? this.#newIsolated(projectId);
    this.#isolated.set(projectId, project);
    project.meetLock();
    return project;
  }

  /** The items of the project that wait join the others again. */
  #endIsolation(projectId: string, project: IsolatedProject<Item, Result>): void {
    // A batch of a project that was isolated before may end behind a newer lock.
    if (this.#isolated.get(projectId) === project) this.#isolated.delete(projectId);
    this.#queue.add(project.takeAll());
  }
}
