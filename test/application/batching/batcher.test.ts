import { describe, expect, it } from 'vitest';
import { BATCH_ITEMS_MAX, BATCHES_MAX } from '../../../src/application/batching/batch-queue.ts';
import {
  type BatchRun,
  type BatchWork,
  REPEATS_END_MS,
} from '../../../src/application/batching/batch-runner.ts';
import { Batcher } from '../../../src/application/batching/batcher.ts';
import { ISOLATION_MS } from '../../../src/application/batching/isolated-project.ts';
import type { WhenLocked } from '../../../src/application/batching/waiting-items.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { StorageAway, StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import type { Timeout } from '../../../src/application/ports/timeout.ts';
import { uncancelled } from '../../support/uncancelled.ts';

interface Batch {
  readonly items: readonly number[];
  readonly run: BatchRun;
  readonly finish: (results: readonly string[]) => void;
  readonly fail: (error: Error) => void;
}

/** Work that ends when the test says so, batch by batch. */
class HeldWork {
  readonly #begun: Batch[] = [];
  readonly #waiters: ((batch: Batch) => void)[] = [];

  readonly work = (items: readonly number[], run: BatchRun): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      const batch: Batch = { items, run, finish: resolve, fail: reject };
      const waiter = this.#waiters.shift();
      if (waiter === undefined) this.#begun.push(batch);
      else waiter(batch);
    });

  /** The next batch that is begun. */
  next(): Promise<Batch> {
    const batch = this.#begun.shift();
    if (batch !== undefined) return Promise.resolve(batch);
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  get waiting(): number {
    return this.#begun.length;
  }
}

/** The end of the round of the event loop, at which batches begin. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

const named = (items: readonly number[]) => items.map((item) => `result ${item}`);

const STANDING_CLOCK = { now: () => 0 };

function batcherOf(work: BatchWork<number, string>, batchWindow?: Timeout): Batcher<number, string> {
  return new Batcher(work, {
    clock: STANDING_CLOCK,
    ...(batchWindow === undefined ? {} : { batchWindow }),
  });
}

describe('the batcher', () => {
  it('a batcher takes the items of one turn as one batch, and gives each caller its own result', async () => {
    const held = new HeldWork();
    const batcher = batcherOf(held.work);
    const outcomes = [3, 1, 2].map((item) => batcher.submit(item));
    const batch = await held.next();
    expect(batch.items).toEqual([3, 1, 2]);
    expect(batch.run.repeated).toBe(false);
    batch.finish(named(batch.items));
    expect(await Promise.all(outcomes)).toEqual(['result 3', 'result 1', 'result 2']);
  });

  it('a batcher fills the next batch while one runs, and begins it when that one ends', async () => {
    const held = new HeldWork();
    const batcher = batcherOf(held.work);
    const first = batcher.submit(1);
    const running = await held.next();
    const later = [batcher.submit(2), batcher.submit(3)];
    await turn();
    later.push(batcher.submit(4));
    expect(held.waiting).toBe(0);
    running.finish(named([1]));
    expect(await first).toBe('result 1');
    const second = await held.next();
    expect(second.items).toEqual([2, 3, 4]);
    second.finish(named([2, 3, 4]));
    expect(await Promise.all(later)).toEqual(['result 2', 'result 3', 'result 4']);
  });

  it('a batcher begins the next batch as soon as the one before lets it, whichever of them ends first', async () => {
    const held = new HeldWork();
    const batcher = batcherOf(held.work);
    const outcomes = [batcher.submit(1)];
    const first = await held.next();
    outcomes.push(batcher.submit(2));
    await turn();
    expect(held.waiting).toBe(0);
    first.run.letNextBegin();
    const second = await held.next();
    expect(second.items).toEqual([2]);
    second.finish(named([2]));
    expect(await outcomes[1]).toBe('result 2');
    first.finish(named([1]));
    expect(await outcomes[0]).toBe('result 1');
  });

  it('a batcher begins no further batch when a batch lets the next begin a second time, or in a repeat', async () => {
    const held = new HeldWork();
    const batcher = batcherOf(held.work);
    const outcomes = [batcher.submit(1)];
    const first = await held.next();
    first.run.letNextBegin();
    outcomes.push(batcher.submit(2));
    (await held.next()).finish(named([2]));
    await outcomes[1];
    outcomes.push(batcher.submit(3));
    const third = await held.next();
    first.run.letNextBegin();
    first.finish(named([1]));
    await outcomes[0];
    outcomes.push(batcher.submit(4));
    await turn();
    expect(held.waiting).toBe(0);
    third.fail(new Error('once'));
    const again = await held.next();
    again.run.letNextBegin();
    await turn();
    expect([again.run.repeated, held.waiting]).toEqual([true, 0]);
    again.finish(named([3]));
    (await held.next()).finish(named([4]));
    expect(await Promise.all(outcomes)).toEqual(named([1, 2, 3, 4]));
  });

  it('a batcher repeats a batch that failed after it let the next begin, beside that one', async () => {
    const held = new HeldWork();
    const batcher = batcherOf(held.work);
    const outcomes = [batcher.submit(1)];
    const first = await held.next();
    first.run.letNextBegin();
    outcomes.push(batcher.submit(2));
    const second = await held.next();
    first.fail(new Error('its commit failed'));
    const again = await held.next();
    expect([again.items, again.run.repeated]).toEqual([[1], true]);
    again.finish(named([1]));
    second.finish(named([2]));
    expect(await Promise.all(outcomes)).toEqual(named([1, 2]));
  });

  it('a batcher has no more batches in flight than its maximum, however early they let the next begin', async () => {
    const held = new HeldWork();
    const batcher = batcherOf(held.work);
    const begun: Batch[] = [];
    const outcomes: Promise<string>[] = [];
    for (let count = 1; count <= BATCHES_MAX; count += 1) {
      outcomes.push(batcher.submit(count));
      begun.push(await held.next());
      begun.at(-1)?.run.letNextBegin();
    }
    outcomes.push(batcher.submit(99));
    await turn();
    expect(held.waiting).toBe(0);
    begun.shift()?.finish(['first']);
    (await held.next()).finish(['last']);
    for (const batch of begun) batch.finish(['middle']);
    expect(await Promise.all(outcomes)).toEqual(['first', 'middle', 'last']);
  });

  describe('with a batch window', () => {
    /** Batch windows that end when the test says so. */
    class HeldWindow {
      readonly #held: (() => void)[] = [];
      readonly open = uncancelled((over) => this.#held.push(over));
      end(): void {
        this.#held.shift()?.();
      }
    }

    it('a batcher begins an item after its window at once, and collects the items that come within the next window', async () => {
      const held = new HeldWork();
      const windows = new HeldWindow();
      const batcher = batcherOf(held.work, windows.open);
      const outcomes = [batcher.submit(1)];
      const first = await held.next();
      expect(first.items).toEqual([1]);
      first.finish(named([1]));
      await outcomes[0];
      outcomes.push(batcher.submit(2));
      await turn();
      outcomes.push(batcher.submit(3));
      await turn();
      expect(held.waiting).toBe(0);
      windows.end();
      const second = await held.next();
      expect(second.items).toEqual([2, 3]);
      second.finish(named([2, 3]));
      windows.end();
      outcomes.push(batcher.submit(4));
      (await held.next()).finish(named([4]));
      expect(await Promise.all(outcomes)).toEqual(named([1, 2, 3, 4]));
    });

    it('a batcher does not wait for its window when a batch is full, and opens a new window with it', async () => {
      const sizes: number[] = [];
      const windows = new HeldWindow();
      const batcher = batcherOf(async (items: readonly number[]) => {
        sizes.push(items.length);
        return named(items);
      }, windows.open);
      await batcher.submit(0);
      await Promise.all(Array.from({ length: BATCH_ITEMS_MAX }, (_, item) => batcher.submit(item)));
      const late = batcher.submit(0);
      windows.end();
      await turn();
      expect(sizes).toEqual([1, 256]);
      windows.end();
      await late;
      expect(sizes).toEqual([1, 256, 1]);
    });
  });

  it('a batcher begins a batch again after it was idle', async () => {
    const batcher = batcherOf(async (items: readonly number[]) => named(items));
    expect(await batcher.submit(1)).toBe('result 1');
    expect(await batcher.submit(2)).toBe('result 2');
  });

  it('a batcher splits many items into batches of its maximum, and leaves none out', async () => {
    const sizes: number[] = [];
    const batcher = batcherOf(async (items: readonly number[]) => {
      sizes.push(items.length);
      return named(items);
    });
    const count = 2 * BATCH_ITEMS_MAX + 1;
    const outcomes = await Promise.all(Array.from({ length: count }, (_, item) => batcher.submit(item)));
    expect(sizes).toEqual([256, 256, 1]);
    expect(outcomes).toEqual(Array.from({ length: count }, (_, item) => `result ${item}`));
  });

  it('a batcher repeats a failed batch item by item, marked as repeated, and lets the poisoned item fail alone', async () => {
    const runs: { items: readonly number[]; repeated: boolean }[] = [];
    const poisoned = 2;
    const batcher = batcherOf(async (items: readonly number[], { repeated }) => {
      runs.push({ items, repeated });
      if (items.includes(poisoned)) throw new Error(`poison among ${items.length}`);
      return named(items);
    });
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 'result 1' },
      { status: 'rejected', reason: new Error('poison among 1') },
      { status: 'fulfilled', value: 'result 3' },
    ]);
    expect(runs).toEqual([
      { items: [1, 2, 3], repeated: false },
      { items: [1], repeated: true },
      { items: [2], repeated: true },
      { items: [3], repeated: true },
    ]);
  });

  it.each([
    { afterMs: REPEATS_END_MS, repeats: 2 },
    { afterMs: REPEATS_END_MS + 1, repeats: 0 },
  ])(
    'a batcher repeats $repeats of two items when their batch failed after $afterMs ms',
    async ({ afterMs, repeats }) => {
      const clock = { at: 0, now: () => clock.at };
      const runs: BatchRun[] = [];
      const batcher = new Batcher(
        async (items: readonly number[], run): Promise<readonly string[]> => {
          runs.push(run);
          if (run.repeated) return named(items);
          clock.at += afterMs;
          throw new Error('silence');
        },
        { clock },
      );
      const outcomes = await Promise.allSettled([batcher.submit(1), batcher.submit(2)]);
      expect(runs.filter(({ repeated }) => repeated)).toHaveLength(repeats);
      expect(outcomes.map(({ status }) => status)).toEqual(
        [1, 2].map(() => (repeats === 0 ? 'rejected' : 'fulfilled')),
      );
    },
  );

  it('a batcher rejects the items that it had no time to repeat with StorageUnavailable, and one that ran alone with its own error', async () => {
    const clock = { at: 0, now: () => clock.at };
    const batcher = new Batcher(
      async (items: readonly number[]): Promise<readonly string[]> => {
        clock.at += items.length > 1 ? REPEATS_END_MS : 1;
        throw new Error(`of ${items.length}`);
      },
      { clock },
    );
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason))).toEqual([
      'Error: of 1',
      'StorageUnavailable: of 3',
      'StorageUnavailable: of 3',
    ]);
    clock.at = 0;
    const alone = new Batcher(
      async (): Promise<readonly string[]> => {
        clock.at += REPEATS_END_MS + 1;
        throw new Error('of its own');
      },
      { clock },
    );
    await expect(alone.submit(1)).rejects.toThrow(/^of its own$/);
    await expect(alone.submit(1)).rejects.not.toBeInstanceOf(StorageUnavailable);
  });

  it('a batcher repeats a batch by halves when the database was unavailable', async () => {
    const runs: unknown[] = [];
    const batcher = batcherOf(async (items: readonly number[], { repeated }) => {
      runs.push({ items, repeated });
      if (!repeated) throw new StorageUnavailable(new Error('lost'));
      return named(items);
    });
    expect(await Promise.all([batcher.submit(1), batcher.submit(2)])).toEqual(['result 1', 'result 2']);
    expect(runs).toEqual([
      { items: [1, 2], repeated: false },
      { items: [1], repeated: true },
      { items: [2], repeated: true },
    ]);
  });

  it('an item for which the database is away does not hold up the others of its batch', async () => {
    const runs: (readonly number[])[] = [];
    const batcher = batcherOf(async (items: readonly number[]) => {
      runs.push(items);
      if (items.includes(6)) throw new StorageUnavailable(new Error('a block that cannot be read'));
      return named(items);
    });
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7].map((item) => batcher.submit(item)));
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 5 }, () => 'fulfilled'),
      'rejected',
      'fulfilled',
    ]);
    expect(runs).toEqual([[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4], [5, 6, 7], [5, 6], [7], [5], [6]]);
  });

  it('a batcher halves a batch twice when the database is away for all, and once when no time is left', async () => {
    const clock = { at: 0, now: () => clock.at };
    let took = 0;
    let runs = 0;
    const batcher = new Batcher(
      async (): Promise<readonly string[]> => {
        runs += 1;
        clock.at += took;
        throw new StorageUnavailable(new Error(`run ${runs}`));
      },
      { clock },
    );
    const reasons = async () => {
      const outcomes = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.submit(item)));
      return outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message);
    };
    expect(await reasons()).toEqual(['run 4', 'run 5', 'run 6', 'run 7']);
    took = REPEATS_END_MS + 1;
    expect(await reasons()).toEqual(['run 9', 'run 9', 'run 10', 'run 10']);
  });

  it('a batch is repeated when the connection was lost, and neither waited for twice nor halved while the database is away', async () => {
    const clock = { at: 0, now: () => clock.at };
    let took = 0;
    let isAwayUntil = 1;
    let runs = 0;
    const batcher = new Batcher(
      async (items: readonly number[]) => {
        runs += 1;
        clock.at += took;
        if (runs <= isAwayUntil) throw new StorageAway(new Error(`run ${runs}`));
        return named(items);
      },
      { clock },
    );
    const reasons = async () => {
      const outcomes = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.submit(item)));
      return outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.message : 'done'));
    };
    expect(await reasons()).toEqual(['done', 'done', 'done', 'done']);
    expect(runs).toBe(3);
    isAwayUntil = Number.POSITIVE_INFINITY;
    expect(await reasons()).toEqual(['run 5', 'run 5', 'run 5', 'run 5']);
    expect(runs).toBe(5);
    took = REPEATS_END_MS + 1;
    expect(await reasons()).toEqual(['run 6', 'run 6', 'run 6', 'run 6']);
    expect(runs).toBe(6);
  });

  it('what waits is rejected with a batch for which the database was away for all its time, and is not run', async () => {
    const clock = { at: 0, now: () => clock.at };
    const held = new HeldWork();
    const batcher = new Batcher(held.work, { clock });
    const away = new StorageAway(new Error('silence'));
    const first = expect(batcher.submit(1)).rejects.toBe(away);
    const batch = await held.next();
    const waiting = [2, 3].map((item) => expect(batcher.submit(item)).rejects.toBe(away));
    clock.at += REPEATS_END_MS + 1;
    batch.fail(away);
    await Promise.all([first, ...waiting]);
    const later = batcher.submit(4);
    const next = await held.next();
    expect([next.items, held.waiting]).toEqual([[4], 0]);
    next.finish(named([4]));
    expect(await later).toBe('result 4');
  });

  it('what waits is rejected with a half for which the database was away until the time of its batch was over', async () => {
    const clock = { at: 0, now: () => clock.at };
    const held = new HeldWork();
    const batcher = new Batcher(held.work, { clock });
    const away = new StorageAway(new Error('silence'));
    const first = expect(batcher.submit(1)).rejects.toBe(away);
    (await held.next()).fail(new StorageAway(new Error('the connection was lost')));
    const half = await held.next();
    const second = batcher.submit(2);
    const other = await held.next();
    const waiting = expect(batcher.submit(3)).rejects.toBe(away);
    clock.at += REPEATS_END_MS + 1;
    half.fail(away);
    await Promise.all([first, waiting]);
    other.finish(named([2]));
    expect(await second).toBe('result 2');
    await turn();
    expect(held.waiting).toBe(0);
  });

  it.each([
    { name: 'away for less', error: new StorageAway(new Error('lost')), tookMs: REPEATS_END_MS / 2 },
    { name: 'too slow', error: new StorageUnavailable(new Error('silence')), tookMs: REPEATS_END_MS + 1 },
  ])('what waits is run while the database is $name', async ({ error, tookMs }) => {
    const clock = { at: 0, now: () => clock.at };
    const batcher = new Batcher(
      async (items: readonly number[]) => {
        if (!items.includes(1)) return named(items);
        waiting ??= batcher.submit(2);
        clock.at += tookMs;
        throw error;
      },
      { clock },
    );
    let waiting: Promise<string> | null = null;
    await expect(batcher.submit(1)).rejects.toBe(error);
    expect(await waiting).toBe('result 2');
  });

  it('one half is done though the batch took all its time to fail, and the other is halved no further', async () => {
    const clock = { at: 0, now: () => clock.at };
    const batcher = new Batcher(
      async (items: readonly number[]) => {
        if (!items.includes(1)) return named(items);
        clock.at += REPEATS_END_MS + 1;
        throw new StorageUnavailable(new Error('too slow'));
      },
      { clock },
    );
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.submit(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  });

  it('items for which the database is away do not hold up the others, also when both halves have some', async () => {
    const batcher = batcherOf(async (items: readonly number[]) => {
      if (items.some((item) => item % 4 === 1)) throw new StorageUnavailable(new Error('unreadable'));
      return named(items);
    });
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7, 8].map((item) => batcher.submit(item)));
    expect(outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index + 1] : []))).toEqual([
      1, 5,
    ]);
  });

  it('items of a project for which the database is away are halved together', async () => {
    const batcher = new Batcher(
      async (items: readonly number[]) => {
        if (items.some((item) => item % 2 === 1)) throw new StorageUnavailable(new Error('unreadable'));
        return named(items);
      },
      {
        clock: STANDING_CLOCK,
        projectsOf: async (items) => items.map((item) => (item % 2 === 1 ? 'odd' : 'even')),
      },
    );
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7, 8].map((item) => batcher.submit(item)));
    expect(outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index + 1] : []))).toEqual([
      1, 3, 5, 7,
    ]);
  });

  it('the next batch begins while one is repeated by halves', async () => {
    const held = new HeldWork();
    const batcher = batcherOf(held.work);
    const first = batcher.submit(1);
    (await held.next()).fail(new StorageUnavailable(new Error('too slow')));
    const repeat = await held.next();
    const second = batcher.submit(2);
    (await held.next()).finish(['result 2']);
    expect(await second).toBe('result 2');
    repeat.finish(['result 1']);
    expect(await first).toBe('result 1');
  });

  it('a half that fails by an item of its own is repeated item by item, and one that meets a lock rejects', async () => {
    const batcher = batcherOf(async (items: readonly number[], { repeated }) => {
      if (!repeated) throw new StorageUnavailable(new Error('lost'));
      if (items.includes(2)) throw new Error(`poison among ${items.length}`);
      if (items.includes(3)) throw new StorageLocked(new Error('locked'));
      return named(items);
    });
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.submit(item)));
    expect(
      outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : outcome.value)),
    ).toEqual(['result 1', 'Error: poison among 1', 'StorageLocked: locked', 'StorageLocked: locked']);
  });

  it('a batcher rejects all items when the database is unavailable in a repeat, without repeating each of them', async () => {
    let runs = 0;
    const batcher = batcherOf(async (): Promise<readonly string[]> => {
      runs += 1;
      throw runs === 1 ? new Error('of an item') : new StorageUnavailable(new Error('lost'));
    });
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason))).toEqual([
      'StorageUnavailable: lost',
      'StorageUnavailable: lost',
      'StorageUnavailable: lost',
    ]);
    expect(runs).toBe(2);
  });

  it('a batcher runs the items that were submitted while a batch failed', async () => {
    const held = new HeldWork();
    const batcher = batcherOf(held.work);
    const first = batcher.submit(1);
    const rejected = expect(first).rejects.toThrow('twice');
    (await held.next()).fail(new Error('once'));
    const again = await held.next();
    const second = batcher.submit(2);
    again.fail(new Error('twice'));
    await rejected;
    const last = await held.next();
    expect([last.items, last.run.repeated]).toEqual([[2], false]);
    last.finish(named([2]));
    expect(await second).toBe('result 2');
  });

  describe('with items of several projects', () => {
    const LOCKED = new StorageLocked(new Error('lock timeout'));

    /** Items of 10 to 19 belong to project 1, those of 20 to 29 to project 2. */
    const projectOf = (item: number) => `project ${Math.floor(item / 10)}`;
    const projectsOf = async (items: readonly number[]) => items.map(projectOf);

    const clock = { at: 0, now: () => clock.at };

    function isolatingBatcher(
      work: BatchWork<number, string>,
      findProjects: (items: readonly number[]) => Promise<readonly string[]> = projectsOf,
    ): Batcher<number, string> {
      return new Batcher(work, { clock, projectsOf: findProjects });
    }

    /** The batches of `count` projects, by the first item. */
    async function nextBatches(held: HeldWork, count: number): Promise<Map<number, Batch>> {
      const batches: Batch[] = [];
      while (batches.length < count) batches.push(await held.next());
      return new Map(batches.map((batch) => [batch.items[0] as number, batch]));
    }

    it('a batcher repeats a batch that met a lock as one batch for each project, all at once, each in the order of its items', async () => {
      const held = new HeldWork();
      const batcher = isolatingBatcher(held.work);
      const outcomes = [12, 21, 11, 22].map((item) => batcher.submit(item));
      const shared = await held.next();
      expect([shared.items, shared.run.lockWait, shared.run.repeated]).toEqual([
        [12, 21, 11, 22],
        'brief',
        false,
      ]);
      shared.fail(LOCKED);
      const batches = await nextBatches(held, 2);
      expect([...batches.values()].map(({ items, run }) => [items, run.lockWait, run.repeated])).toEqual([
        [[12, 11], 'long', true],
        [[21, 22], 'long', true],
      ]);
      batches.get(21)?.finish(named([21, 22]));
      expect(await outcomes[1]).toBe('result 21');
      batches.get(12)?.finish(named([12, 11]));
      expect(await Promise.all(outcomes)).toEqual(named([12, 21, 11, 22]));
    });

    it('a batcher lets no project wait for one whose own batch waits for a lock, and shares batches with it again a while after that', async () => {
      const held = new HeldWork();
      const batcher = isolatingBatcher(held.work);
      const locked = [batcher.submit(11)];
      const first = [batcher.submit(21)];
      (await held.next()).fail(LOCKED);
      const batches = await nextBatches(held, 2);
      batches.get(21)?.finish(named([21]));
      await Promise.all(first);
      clock.at += ISOLATION_MS;
      locked.push(batcher.submit(12));
      const others = [batcher.submit(22), batcher.submit(31)];
      const shared = await held.next();
      expect([shared.items, shared.run.lockWait]).toEqual([[22, 31], 'brief']);
      shared.finish(named([22, 31]));
      expect(await Promise.all(others)).toEqual(named([22, 31]));
      expect([1, 2, 3].map((project) => batcher.isLocked(`project ${project}`))).toEqual([
        true,
        false,
        false,
      ]);
      batches.get(11)?.finish(named([11]));
      const own = await held.next();
      locked.push(batcher.submit(13));
      expect([own.items, own.run.lockWait, own.run.repeated]).toEqual([[12], 'brief', false]);
      expect(batcher.isLocked('project 1')).toBe(false);
      clock.at += ISOLATION_MS;
      own.finish(named([12]));
      const last = [batcher.submit(23)];
      const together = await held.next();
      expect([together.items, together.run.lockWait]).toEqual([[13, 23], 'brief']);
      together.finish(named([13, 23]));
      expect(await Promise.all([...locked, ...last])).toEqual(named([11, 12, 13, 23]));
    });

    it.each([
      { afterMs: ISOLATION_MS - 1, batches: [[21], [12]] },
      { afterMs: ISOLATION_MS, batches: [[12, 21]] },
      { afterMs: 1 - ISOLATION_MS, batches: [[21], [12]] },
      { afterMs: -ISOLATION_MS, batches: [[12, 21]] },
    ])(
      'a lock that comes and goes holds up no other project until $afterMs ms after it was there last: then $batches.length batches',
      async ({ afterMs, batches }) => {
        const held = new HeldWork();
        const batcher = isolatingBatcher(held.work);
        const first = batcher.submit(11);
        (await held.next()).fail(LOCKED);
        const own = await held.next();
        clock.at += 10 * ISOLATION_MS;
        own.finish(named([11]));
        await first;
        clock.at += afterMs;
        const outcomes = [12, 21].map((item) => batcher.submit(item));
        const begun = [...(await nextBatches(held, batches.length)).values()];
        expect(begun.map(({ items }) => items).toSorted(([a], [b]) => (b ?? 0) - (a ?? 0))).toEqual(batches);
        for (const { items, finish } of begun) finish(named(items));
        expect(await Promise.all(outcomes)).toEqual(named([12, 21]));
        expect(held.waiting).toBe(0);
      },
    );

    it('a lock that comes again while its project is isolated is waited for long by that project, and by no other', async () => {
      const held = new HeldWork();
      const batcher = isolatingBatcher(held.work);
      const locked = [batcher.submit(11)];
      (await held.next()).fail(LOCKED);
      (await held.next()).finish(named([11]));
      await locked[0];
      clock.at += ISOLATION_MS - 1;
      locked.push(batcher.submit(12));
      (await held.next()).fail(LOCKED);
      const own = await held.next();
      expect([own.items, own.run.lockWait, own.run.repeated]).toEqual([[12], 'long', true]);
      clock.at += 1;
      const other = batcher.submit(21);
      locked.push(batcher.submit(13));
      const shared = await held.next();
      expect(shared.items).toEqual([21]);
      shared.finish(named([21]));
      own.finish(named([12]));
      (await held.next()).finish(named([13]));
      expect(await Promise.all([...locked, other])).toEqual(named([11, 12, 13, 21]));
    });

    it('a project counts as locked until a batch of its own succeeds, or a while after its last one was rejected', async () => {
      const held = new HeldWork();
      const batcher = isolatingBatcher(held.work);
      const outcomes = Promise.allSettled([batcher.submit(11), batcher.submit(21)]);
      (await held.next()).fail(LOCKED);
      const batches = await nextBatches(held, 2);
      const locked = () => [1, 2].map((project) => batcher.isLocked(`project ${project}`));
      expect(locked()).toEqual([true, true]);
      batches.get(21)?.finish(named([21]));
      await turn();
      clock.at += 10 * ISOLATION_MS;
      expect(locked()).toEqual([true, false]);
      batches.get(11)?.fail(LOCKED);
      await outcomes;
      await turn();
      clock.at += ISOLATION_MS - 1;
      expect(locked()).toEqual([true, false]);
      clock.at += 1;
      expect(locked()).toEqual([false, false]);
    });

    it('a batch of an isolation that is over does not end the next isolation of its project', async () => {
      const held = new HeldWork();
      const batcher = isolatingBatcher(held.work);
      const outcomes = [batcher.submit(11)];
      (await held.next()).fail(LOCKED);
      (await held.next()).finish(named([11]));
      await outcomes[0];
      outcomes.push(batcher.submit(12));
      const second = await held.next();
      second.run.letNextBegin();
      outcomes.push(batcher.submit(13));
      const third = await held.next();
      clock.at += ISOLATION_MS;
      second.finish(named([12]));
      await outcomes[1];
      await turn();

      outcomes.push(batcher.submit(14));
      (await held.next()).fail(LOCKED);
      const behindLock = await held.next();
      third.finish(named([13]));
      await outcomes[2];
      await turn();
      expect(batcher.isLocked('project 1')).toBe(true);
      const other = batcher.submit(21);
      outcomes.push(batcher.submit(15));
      const shared = await held.next();
      expect(shared.items).toEqual([21]);
      shared.finish(named([21]));
      behindLock.finish(named([14]));
      (await held.next()).finish(named([15]));
      expect(await Promise.all([...outcomes, other])).toEqual(named([11, 12, 13, 14, 15, 21]));
    });

    it('the batches of an isolated project have the batch window of the others', async () => {
      const held = new HeldWork();
      const windows: (() => void)[] = [];
      const batcher = new Batcher(held.work, {
        clock,
        projectsOf,
        batchWindow: uncancelled((over) => windows.push(over)),
      });
      const outcomes = [batcher.submit(11)];
      (await held.next()).fail(LOCKED);
      (await held.next()).finish(named([11]));
      await outcomes[0];
      outcomes.push(batcher.submit(12));
      windows.shift()?.();
      await turn();
      outcomes.push(batcher.submit(13));
      windows.pop()?.();
      await turn();
      expect(held.waiting).toBe(0);
      for (const over of windows.splice(0)) over();
      const own = await held.next();
      expect(own.items).toEqual([12, 13]);
      own.finish(named([12, 13]));
      expect(await Promise.all(outcomes)).toEqual(named([11, 12, 13]));
    });

    it('a batcher isolates also a project that is alone in its batch, so that later ones of others do not wait for it', async () => {
      const held = new HeldWork();
      const batcher = isolatingBatcher(held.work);
      const locked = batcher.submit(11);
      (await held.next()).fail(LOCKED);
      const own = await held.next();
      expect([own.items, own.run.lockWait]).toEqual([[11], 'long']);
      const other = batcher.submit(21);
      const shared = await held.next();
      expect(shared.items).toEqual([21]);
      shared.finish(named([21]));
      expect(await other).toBe('result 21');
      own.finish(named([11]));
      expect(await locked).toBe('result 11');
    });

    it('a batcher rejects the items of a project whose own batch met the lock to its end, without running them again', async () => {
      const held = new HeldWork();
      const batcher = isolatingBatcher(held.work);
      const locked = [batcher.submit(11), batcher.submit(12)].map((each) =>
        expect(each).rejects.toBeInstanceOf(StorageLocked),
      );
      (await held.next()).fail(LOCKED);
      (await held.next()).fail(LOCKED);
      await Promise.all(locked);
      expect(held.waiting).toBe(0);
    });

    it('a batcher keeps a project isolated whose own batch met the lock to its end while more of its items wait', async () => {
      const held = new HeldWork();
      const batcher = isolatingBatcher(held.work);
      const rejected = expect(batcher.submit(11)).rejects.toBeInstanceOf(StorageLocked);
      (await held.next()).fail(LOCKED);
      const own = await held.next();
      const later = batcher.submit(12);
      const other = batcher.submit(21);
      (await held.next()).finish(named([21]));
      await other;
      own.fail(LOCKED);
      await rejected;
      const next = await held.next();
      expect([next.items, next.run.lockWait, next.run.repeated]).toEqual([[12], 'long', false]);
      next.finish(named([12]));
      expect(await later).toBe('result 12');
      expect(batcher.isLocked('project 1')).toBe(false);
    });

    it('a batcher isolates the project of an item that meets a lock when it is repeated alone', async () => {
      const held = new HeldWork();
      const batcher = isolatingBatcher(held.work);
      const outcomes = [11, 21].map((item) => batcher.submit(item));
      (await held.next()).fail(new Error('poison'));
      const first = await held.next();
      expect([first.items, first.run.lockWait]).toEqual([[11], 'brief']);
      first.fail(LOCKED);
      const batches = await nextBatches(held, 2);
      expect(batches.get(11)?.run).toMatchObject({ lockWait: 'long', repeated: true });
      expect(batches.get(21)?.run).toMatchObject({ lockWait: 'brief', repeated: true });
      batches.get(21)?.finish(named([21]));
      batches.get(11)?.finish(named([11]));
      expect(await Promise.all(outcomes)).toEqual(named([11, 21]));
    });

    it('a batcher lets the poisoned item of an isolated project fail alone, and repeats its batch by halves without a database', async () => {
      const runs: { items: readonly number[]; lockWait: string }[] = [];
      let isAway = true;
      const batcher = isolatingBatcher(async (items, { lockWait }) => {
        runs.push({ items, lockWait });
        if (lockWait === 'brief') throw LOCKED;
        if (items.includes(12)) throw new Error(`poison among ${items.length}`);
        if (isAway && items.includes(21)) {
          isAway = false;
          throw new StorageUnavailable(new Error('lost'));
        }
        return named(items);
      });
      const outcomes = await Promise.allSettled([11, 12, 21, 22].map((item) => batcher.submit(item)));
      expect(outcomes).toEqual([
        { status: 'fulfilled', value: 'result 11' },
        { status: 'rejected', reason: new Error('poison among 1') },
        { status: 'fulfilled', value: 'result 21' },
        { status: 'fulfilled', value: 'result 22' },
      ]);
      const itemsOf = (...own: readonly number[]) =>
        runs.filter(({ items }) => own.includes(items[0] as number)).map(({ items }) => items);
      expect(itemsOf(21, 22).slice(-3)).toEqual([[21, 22], [21], [22]]);
      expect(runs.slice(1).every(({ lockWait }) => lockWait === 'long')).toBe(true);
    });

    it('a batcher runs a batch as it is when it cannot find the projects, and rejects it when it met a lock', async () => {
      const held = new HeldWork();
      let isAway = false;
      const batcher = isolatingBatcher(held.work, async (items) => {
        if (isAway) throw new StorageUnavailable(new Error('lost'));
        return projectsOf(items);
      });
      const locked = batcher.submit(11);
      (await held.next()).fail(LOCKED);
      const own = await held.next();
      isAway = true;
      const both = [batcher.submit(12), batcher.submit(21)].map((each) =>
        expect(each).rejects.toBeInstanceOf(StorageUnavailable),
      );
      const shared = await held.next();
      expect(shared.items).toEqual([12, 21]);
      shared.fail(LOCKED);
      await Promise.all(both);
      own.finish(named([11]));
      expect(await locked).toBe('result 11');
    });

    it('items whose projects cannot be found do not count as those of no project, which is locked', async () => {
      const held = new HeldWork();
      let isAway = false;
      const batcher = isolatingBatcher(held.work, async (items) => {
        if (isAway) throw new StorageUnavailable(new Error('lost'));
        return items.map(() => '');
      });
      const locked = batcher.submit(1);
      (await held.next()).fail(LOCKED);
      const own = await held.next();
      isAway = true;
      const other = batcher.submit(11);
      const shared = await held.next();
      expect([shared.items, shared.run.lockWait]).toEqual([[11], 'brief']);
      shared.finish(named([11]));
      own.finish(named([1]));
      expect(await Promise.all([locked, other])).toEqual(named([1, 11]));
    });

    it('a batcher asks for no projects while no lock is met, and tells which items it isolates', async () => {
      let asked = 0;
      const isolated: number[] = [];
      let locks = 0;
      const batcher = new Batcher<number, string>(
        async (items) => {
          if (locks > 0) {
            locks -= 1;
            throw LOCKED;
          }
          return named(items);
        },
        {
          clock,
          projectsOf: (items) => {
            asked += 1;
            return projectsOf(items);
          },
          onIsolated: (items) => isolated.push(...items),
        },
      );
      await Promise.all([11, 21].map((item) => batcher.submit(item)));
      expect([asked, isolated]).toEqual([0, []]);
      locks = 1;
      await Promise.all([11, 21].map((item) => batcher.submit(item)));
      expect([asked, isolated]).toEqual([1, [11, 21]]);
      clock.at += ISOLATION_MS - 1;
      await Promise.all([12, 22].map((item) => batcher.submit(item)));
      expect([asked, isolated]).toEqual([2, [11, 21, 12, 22]]);
      clock.at += 1;
      await Promise.all([13, 23].map((item) => batcher.submit(item)));
      expect([asked, isolated]).toEqual([2, [11, 21, 12, 22]]);
    });
  });

  describe('with items that can come again', () => {
    /** Items below 1,000 belong to project 1, others to project 2. */
    const projectsOf = async (items: readonly number[]) => items.map((item) => (item < 1_000 ? '1' : '2'));

    /** Submits the items, and tells what became of them, in the order of that; `next` when others may follow. */
    function submitEach(
      batcher: Batcher<number, string>,
      items: readonly number[],
      said: string[],
      whenLocked: WhenLocked = 'fail',
    ) {
      return batcher
        .submitEach(items, whenLocked, (index, failure) =>
          said.push(`${items[index]} ${failure instanceof Error ? failure.name : failure}`),
        )
        .then(() => {
          said.push('next');
        });
    }

    /** A batcher that has met a lock of project 1 with item 0, and the batch in which that item waits. */
    async function lockedProject(whenLocked?: WhenLocked) {
      const held = new HeldWork();
      const batcher = new Batcher(held.work, { clock: STANDING_CLOCK, projectsOf });
      const said: string[] = [];
      const first = submitEach(batcher, [0], said, whenLocked);
      (await held.next()).fail(new StorageLocked('locked'));
      await first;
      return { held, batcher, said, own: await held.next() };
    }

    it('a batcher settles each item that can come again by itself, and then lets others follow', async () => {
      const said: string[] = [];
      const batcher = batcherOf(async (items: readonly number[]) => {
        if (items.includes(2)) throw new RangeError('poison');
        return named(items);
      });
      await submitEach(batcher, [1, 2, 3], said);
      await submitEach(batcher, [], said);
      expect(said).toEqual(['1 null', '2 RangeError', '3 null', 'next', 'next']);
    });

    it('a batcher lets others follow items of an isolated project, and settles them when their batch is done', async () => {
      const held = new HeldWork();
      const batcher = new Batcher(held.work, { clock: STANDING_CLOCK, projectsOf });
      const said: string[] = [];
      const following = submitEach(batcher, [1, 1_000], said);
      (await held.next()).fail(new StorageLocked('locked'));
      await following;
      const own = await held.next();
      const other = await held.next();
      other.finish(named([1_000]));
      await turn();
      expect(said).toEqual(['next', '1000 null']);
      own.finish(named([1]));
      await turn();
      expect(said).toEqual(['next', '1000 null', '1 null']);
    });

    it('a batcher settles items of a project that is isolated already at once, and runs a full batch of them at most', async () => {
      const { held, batcher, said, own } = await lockedProject();
      const items = Array.from({ length: BATCH_ITEMS_MAX }, (_, index) => index + 1);
      // A shared batch has so many items: the last two come in one of their own.
      const later = submitEach(batcher, [...items, 2, 1_000], said);
      (await held.next()).finish(named([1_000]));
      await later;
      expect(said).toEqual([
        'next',
        ...items.map((item) => `${item} StorageLocked`),
        '2 StorageLocked',
        '1000 null',
        'next',
      ]);
      own.finish(named([0]));
      const last = await held.next();
      expect([last.items, last.run.lockWait]).toEqual([items, 'brief']);
      last.finish(named(items));
      await turn();
      expect(said).toHaveLength(items.length + 5);
      expect(said.at(-1)).toBe('0 null');
      expect(held.waiting).toBe(0);
    });

    it('items of a locked project that may wait are let go at once, and settled behind the lock', async () => {
      const { held, batcher, said, own } = await lockedProject('wait');
      const later = submitEach(batcher, [1, 1_000], said, 'wait');
      (await held.next()).finish(named([1_000]));
      await later;
      expect(said).toEqual(['next', '1000 null', 'next']);
      own.finish(named([0]));
      const last = await held.next();
      expect(last.items).toEqual([1]);
      last.finish(named([1]));
      await turn();
      expect(said).toEqual(['next', '1000 null', 'next', '0 null', '1 null']);
    });

    it('a full batch of items of a locked project may wait, and those beyond it fail at once', async () => {
      const { held, batcher, said, own } = await lockedProject('wait');
      const items = Array.from({ length: BATCH_ITEMS_MAX }, (_, index) => index + 1);
      const later = submitEach(batcher, [...items, 2, 1_000], said, 'wait');
      (await held.next()).finish(named([1_000]));
      await later;
      expect(said).toEqual(['next', '2 StorageLocked', '1000 null', 'next']);
      own.finish(named([0]));
      const last = await held.next();
      expect(last.items).toEqual(items);
      last.finish(named(items));
      await turn();
      expect(said).toHaveLength(items.length + 5);
      expect(held.waiting).toBe(0);
    });

    it('items that wait for a batch of their isolated project are let go when that meets a lock again', async () => {
      const held = new HeldWork();
      const batcher = new Batcher(held.work, { clock: STANDING_CLOCK, projectsOf });
      const said: string[] = [];
      const first = submitEach(batcher, [0], said, 'wait');
      (await held.next()).fail(new StorageLocked('locked'));
      (await held.next()).finish(named([0]));
      await first;
      const second = submitEach(batcher, [1], said, 'wait');
      const own = await held.next();
      const third = submitEach(batcher, [2], said, 'wait');
      await turn();
      expect([own.run.lockWait, said]).toEqual(['brief', ['next', '0 null']]);
      own.fail(new StorageLocked('locked'));
      await Promise.all([second, third]);
      expect(said.slice(2)).toEqual(['next', 'next']);
      const again = await held.next();
      expect([again.items, again.run.lockWait]).toEqual([[2, 1], 'long']);
      again.finish(named([2, 1]));
      await turn();
      expect(said.slice(4)).toEqual(['2 null', '1 null']);
    });

    it('items of an isolated project are waited for when no lock is there, and others follow when one is there again', async () => {
      const held = new HeldWork();
      const batcher = new Batcher(held.work, { clock: STANDING_CLOCK, projectsOf });
      const said: string[] = [];
      const first = submitEach(batcher, [0], said);
      (await held.next()).fail(new StorageLocked('locked'));
      (await held.next()).finish(named([0]));
      await first;
      const second = submitEach(batcher, [1], said);
      const own = await held.next();
      expect([own.run.lockWait, said]).toEqual(['brief', ['next', '0 null']]);
      own.fail(new StorageLocked('locked'));
      await second;
      const again = await held.next();
      expect([again.run.lockWait, said]).toEqual(['long', ['next', '0 null', 'next']]);
      again.fail(new StorageLocked('locked'));
      await turn();
      await submitEach(batcher, [2], said);
      expect(said.slice(3)).toEqual(['1 StorageLocked', '2 StorageLocked', 'next']);
      (await held.next()).finish(named([2]));
    });
  });

  it('a batcher without projects waits long for locks, and rejects a batch that met one, without repeating it', async () => {
    const runs: string[] = [];
    const batcher = batcherOf(async (items: readonly number[], { lockWait }): Promise<readonly string[]> => {
      runs.push(`${items} ${lockWait}`);
      throw new StorageLocked(new Error('lock timeout'));
    });
    const all = [1, 2].map((item) => expect(batcher.submit(item)).rejects.toThrow('lock timeout'));
    await Promise.all(all);
    expect(runs).toEqual(['1,2 long']);
  });

  it('a batcher takes work with too few results for work that failed', async () => {
    const batcher = batcherOf(async (items: readonly number[]) => named(items).slice(1));
    await expect(batcher.submit(1)).rejects.toThrow('A batch must have a result for each of its items');
  });

  it('a batcher takes work that throws before it returns a promise for work that failed', async () => {
    const batcher = batcherOf((): Promise<readonly string[]> => {
      throw new Error('at once');
    });
    await expect(batcher.submit(1)).rejects.toThrow('at once');
  });
});
