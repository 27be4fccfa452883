import { StorageLocked } from '../errors/storage-locked.ts';
import { groupBy } from '../group-by.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delay } from '../ports/delay.ts';
import type { LockWait } from '../ports/unit-of-work.ts';
import { BatchRunner, type BatchWork, type ProjectsOf } from './batch-runner.ts';
import { Isolation } from './isolation.ts';
import { onNextRound } from './next-round.ts';
import {
  asRepeated,
  type ItemSettled,
  itemsOf,
  rejectAll,
  type Waiting,
  type WhenLocked,
  waitingOnce,
} from './waiting-items.ts';

/** The most items of a batch: enough to share the cost of a commit, few enough to keep the tail short. */
export const BATCH_ITEMS_MAX = 256;

/** The most batches in flight at a time: one that works, and one that waits for its commit or is repeated. */
export const BATCHES_MAX = 2;

interface BatcherOptions<Item> {
  /** Measures how long batches are repeated, and how long a project stays isolated. */
  readonly clock: Clock;
  /** After a batch has begun, the next one collects items for this long or until it is full. Without it there is no wait. */
  readonly batchWindow?: Delay;
  /**
   * The project of each item, in their order. With it, a project that meets a lock is isolated: its items run in batches
   * of their own, and no other project waits for them. It is called only when a batch met a lock, or a project is isolated.
   */
  readonly projectsOf?: ProjectsOf<Item>;
  /** Called with items that are isolated from here on. */
  readonly onIsolated?: (items: readonly Item[]) => void;
}

/** The batcher of one isolated project. */
interface OfProject {
  readonly isolation: Isolation;
  /** Called when the project need not be isolated any longer. */
  readonly onEnd: () => void;
}

/**
 * Turns single calls into batches. While one batch runs the next one fills; a batch begins at the end of the round of
 * the event loop, or of the batch window if there is one. `BatchRunner` runs it and repeats what failed. When the database was
 * away for long, all that waits is rejected with the batch. A batch that met a lock is run again as one batch for each project,
 * all at once, and these projects have batchers of their own for a while. `work` returns its results in the order of its items.
 */
export class Batcher<Item, Result> {
  readonly #work: BatchWork<Item, Result>;
  readonly #clock: Clock;
  readonly #batchWindow: Delay | null;
  readonly #projectsOf: ProjectsOf<Item> | null;
  readonly #onIsolated: (items: readonly Item[]) => void;
  /** One batcher for each isolated project. */
  readonly #isolated = new Map<string, Batcher<Item, Result>>();
  readonly #ofProject: OfProject | null;
  readonly #runner: BatchRunner<Item, Result>;
  readonly #waiting: Waiting<Item, Result>[] = [];
  #isWorking = false;
  #inFlight = 0;
  /** The batch window since the newest batch began; null when it has ended. */
  #openWindow: object | null = null;

  constructor(
    work: BatchWork<Item, Result>,
    { clock, batchWindow, projectsOf, onIsolated }: BatcherOptions<Item>,
    ofProject: OfProject | null = null,
  ) {
    this.#work = work;
    this.#clock = clock;
    this.#batchWindow = batchWindow ?? null;
    this.#projectsOf = projectsOf ?? null;
    this.#onIsolated = onIsolated ?? (() => {});
    this.#ofProject = ofProject;
    this.#runner = new BatchRunner({
      work,
      clock,
      projectsOf: this.#projectsOf,
      lockWaitOf: (batch) => this.#lockWaitOf(batch),
      onSuccess: () => ofProject?.isolation.succeed(),
      onLock: (batch, failure, lockWait) => this.#runBehindLock(batch, failure, lockWait),
      onAway: (failure) => rejectAll(this.#waiting.splice(0), failure),
    });
  }

  /** Whether a row of the project is locked, as far as is known: no batch of it has succeeded since it was isolated. */
  isLocked(projectId: string): boolean {
    const batcher = this.#isolated.get(projectId);
    if (batcher === undefined) return false;
    return batcher.#isLocked && !batcher.#isIdleBeyondIsolation;
  }

  /** Resolves with the item's own result once its batch is done; rejects with its own error. */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#add([{ item, repeated: false, resolve, reject }]);
    });
  }

  /** Resolves once all items are done, in one batch or several; rejects with the first error. */
  submitAll(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let open = items.length;
      const done = (): void => {
        open -= 1;
        if (open === 0) resolve();
      };
      this.#add(items.map((item) => ({ item, repeated: false, resolve: done, reject })));
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
      this.#add(
        items.map((item, index) =>
          waitingOnce(item, whenLocked, (failure) => settled(index, failure), letGo),
        ),
      );
    });
  }

  #add(batch: readonly Waiting<Item, Result>[]): void {
    for (const waiting of batch) this.#waiting.push(waiting);
    this.#begin();
  }

  #begin(): void {
    if (this.#isWorking || this.#inFlight === BATCHES_MAX || this.#waiting.length === 0) return;
    if (this.#openWindow !== null && this.#waiting.length < BATCH_ITEMS_MAX) return;
    this.#isWorking = true;
    this.#inFlight += 1;
    this.#startWindow();
    onNextRound(() => void this.#runNext());
  }

  /** Nothing runs or waits, and the time of the isolation is over. */
  get #isIdleBeyondIsolation(): boolean {
    return this.#inFlight === 0 && this.#waiting.length === 0 && this.#ofProject?.isolation.isOver === true;
  }

  get #isLocked(): boolean {
    return this.#ofProject?.isolation.isLocked === true;
  }

  async #runNext(): Promise<void> {
    this.#endIdleIsolations();
    const filled = this.#waiting.splice(0, BATCH_ITEMS_MAX);
    const batch = this.#isolated.size === 0 ? filled : await this.#withoutIsolated(filled);
    let holdsNext = true;
    const letNextBegin = (): void => {
      if (!holdsNext) return;
      holdsNext = false;
      this.#isWorking = false;
      this.#begin();
    };
    if (batch.length > 0) await this.#runner.run(batch, letNextBegin);
    this.#inFlight -= 1;
    if (!this.#isLocked && this.#ofProject?.isolation.isOver === true) this.#ofProject.onEnd();
    letNextBegin();
    this.#begin();
  }

  #startWindow(): void {
    if (this.#batchWindow === null) return;
    const window = {};
    this.#openWindow = window;
    this.#batchWindow(() => {
      // A full batch began meanwhile, and with it a window of its own.
      if (this.#openWindow !== window) return;
      this.#openWindow = null;
      this.#begin();
    });
  }

  /** A batch of an isolated project waits long only behind a lock that it has met. Items that can come again wait in it, too. */
  #lockWaitOf(batch: readonly Waiting<Item, Result>[]): LockWait {
    if (this.#ofProject === null) return this.#projectsOf === null ? 'long' : 'brief';
    return this.#isLocked || batch.some(({ repeated }) => repeated) ? 'long' : 'brief';
  }

  /** Runs a batch that met a lock again, by project. A batch that has waited long for the lock is rejected. */
  async #runBehindLock(
    batch: readonly Waiting<Item, Result>[],
    failure: StorageLocked,
    lockWait: LockWait,
  ): Promise<void> {
    this.#meetLock();
    if (lockWait === 'long') return rejectAll(batch, failure);
    try {
      const again = batch.map(asRepeated);
      const projectIds = await this.#projectsOf?.(itemsOf(batch));
      this.#onIsolated(itemsOf(batch));
      for (const { lock } of batch) lock?.isolated();
      if (projectIds === undefined) return this.#add(again);
      const byProject = groupBy(again, (_, index) => projectIds[index] ?? '');
      for (const [projectId, own] of byProject) this.#isolate(projectId).#add(own);
    } catch (error) {
      rejectAll(batch, error);
    }
  }

  /** Hands the items of isolated projects to their batchers, and returns the others. */
  async #withoutIsolated(batch: readonly Waiting<Item, Result>[]): Promise<readonly Waiting<Item, Result>[]> {
    // Without the projects the batch runs as it is, and shows what is wrong.
    const projectIds = await this.#projectsOf?.(itemsOf(batch)).catch(() => undefined);
    if (projectIds === undefined) return batch;
    const shared: Waiting<Item, Result>[] = [];
    const isolated: Waiting<Item, Result>[] = [];
    for (const [index, waiting] of batch.entries()) {
      const batcher = this.#isolated.get(projectIds[index] ?? '');
      if (batcher === undefined) shared.push(waiting);
      else {
        isolated.push(waiting);
        batcher.#addIsolated(waiting);
      }
    }
    this.#onIsolated(itemsOf(isolated));
    return shared;
  }

  /** Adds an item of the isolated project whose batcher this is. */
  #addIsolated(waiting: Waiting<Item, Result>): void {
    const { lock, reject } = waiting;
    if (this.#isLocked && lock !== undefined) {
      lock.isolated();
      const isFull = this.#waiting.length >= BATCH_ITEMS_MAX;
      if (isFull || lock.whenLocked === 'fail') reject(new StorageLocked('A row of the project is locked'));
      if (isFull) return;
    }
    this.#add([waiting]);
  }

  /** The batcher of a project that has met a lock. */
  #isolate(projectId: string): Batcher<Item, Result> {
    const batcher = this.#isolated.get(projectId) ?? this.#newIsolated(projectId);
    batcher.#meetLock();
    return batcher;
  }

  /** What waits in this batcher of a project runs behind the lock, too. */
  #meetLock(): void {
    if (this.#ofProject === null) return;
    this.#ofProject.isolation.meetLock();
    for (const { lock } of this.#waiting) lock?.isolated();
  }

  #newIsolated(projectId: string): Batcher<Item, Result> {
    const batchWindow = this.#batchWindow;
    const batcher: Batcher<Item, Result> = new Batcher(
      this.#work,
      { clock: this.#clock, ...(batchWindow === null ? {} : { batchWindow }) },
      { isolation: new Isolation(this.#clock), onEnd: () => this.#endIsolation(projectId, batcher) },
    );
    this.#isolated.set(projectId, batcher);
    return batcher;
  }

  #endIdleIsolations(): void {
    for (const [projectId, batcher] of this.#isolated) {
      if (batcher.#isIdleBeyondIsolation) this.#endIsolation(projectId, batcher);
    }
  }

  /** The items of the project that wait join the others again. */
  #endIsolation(projectId: string, batcher: Batcher<Item, Result>): void {
    if (this.#isolated.get(projectId) !== batcher) return;
    this.#isolated.delete(projectId);
    this.#add(batcher.#waiting.splice(0));
  }
}
