/** An item of a `Batcher`, with the two ends of its promise. */
export interface BatchItem<Item, Result> {
  readonly item: Item;
  /** Whether it ran in a batch before, and waits to be run again. */
  readonly repeated: boolean;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** Of an item for which others wait. */
  readonly lock?: {
    /** Called when its project meets a lock, or has met one: no other item waits for it any more. */
    readonly isolated: () => void;
    /** What becomes of it when its project is locked already. */
    readonly whenLocked: WhenLocked;
  };
}

/** `wait`: the item waits for the lock. `fail`: it fails at once, and runs all the same, because it can come again soon. */
export type WhenLocked = 'wait' | 'fail';

/** What became of an item: `failure` is null when it is done. */
export type ItemSettled = (index: number, failure: unknown) => void;

/** An item that is settled once, and let go once: when it is settled, or isolated before that. */
export function waitingOnce<Item, Result>(
  item: Item,
  whenLocked: WhenLocked,
  settled: (failure: unknown) => void,
  letGo: () => void,
): BatchItem<Item, Result> {
  let isSettled = false;
  let isHeld = true;
  const isolated = (): void => {
    if (isHeld) letGo();
    isHeld = false;
  };
  const settle = (failure: unknown): void => {
    if (!isSettled) settled(failure);
    isSettled = true;
    isolated();
  };
  return {
    item,
    repeated: false,
    resolve: () => settle(null),
    reject: settle,
    lock: { isolated, whenLocked },
  };
}

/** The items themselves, as the work of a batch takes them. */
export function itemsOf<Item, Result>(batch: readonly BatchItem<Item, Result>[]): readonly Item[] {
  return batch.map(({ item }) => item);
}

/** The item as one that ran before, and may or may not have taken effect. */
export function asRepeated<Item, Result>(waiting: BatchItem<Item, Result>): BatchItem<Item, Result> {
  return { ...waiting, repeated: true };
}

/** Gives each item the same error. */
export function rejectAll<Item, Result>(batch: readonly BatchItem<Item, Result>[], error: unknown): void {
  for (const waiting of batch) waiting.reject(error);
}

/** Gives each item its result; the results are in the order of the items. */
export function settleAll<Item, Result>(
  batch: readonly BatchItem<Item, Result>[],
  results: readonly Result[],
): void {
  if (results.length !== batch.length) throw new Error('A batch must have a result for each of its items');
  for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
}
