import { StorageAway, StorageUnavailable } from '../errors/storage-unavailable.ts';

/** After this many levels of halves at which nothing was done, one after the other, no items are to blame. */
const LEVELS_WITHOUT_RESULT_MAX = 2;

/** Items of a batch that were not done, and why. */
export interface Undone<Item> {
  readonly items: readonly Item[];
  readonly error: unknown;
}

interface HalvesOptions<Item> {
  /** Rejects with `StorageUnavailable` when the storage could not do the items. */
  readonly run: (items: readonly Item[]) => Promise<void>;
  /** Takes over the items whose run failed for another reason, to do each alone. Never rejects. */
  readonly runEach: (items: readonly Item[], failure: unknown) => Promise<void>;
  /** Whether it is too late to halve further. The first halves are run in any case: one statement may have taken all the time. */
  readonly isOver: () => boolean;
}

/**
 * Runs a batch again that the storage could not do. Only a few items may be to blame: their statement takes too long, or the disk
 * cannot read their block. Items that are not done are halved again, as long as other items are done. So the items to blame end
 * up alone. When nothing is done at two levels one after the other, the storage fails for all items. Once the storage is away, no
 * further items are tried. Resolves with what is not done.
 */
export async function runByHalves<Item>(
  batch: readonly Item[],
  options: HalvesOptions<Item>,
): Promise<readonly Undone<Item>[]> {
  const alone: Undone<Item>[] = [];
  let groups: readonly (readonly Item[])[] = [batch];
  let away: StorageAway | null = null;
  for (let levelsWithoutResult = 0; ; ) {
    const halves = groups.flatMap(halvesOf);
    const undone: Undone<Item>[] = [];
    for (const items of halves) {
      const error: StorageUnavailable | null = away ?? (await failureOf(items, options));
      if (error instanceof StorageAway) away = error;
      if (error !== null) undone.push({ items, error });
    }
    levelsWithoutResult = undone.length === halves.length ? levelsWithoutResult + 1 : 0;
    const divisible = undone.filter(({ items }) => items.length > 1);
    const isHopeless = levelsWithoutResult === LEVELS_WITHOUT_RESULT_MAX || away !== null;
    if (divisible.length === 0 || isHopeless || options.isOver()) {
      return [...alone, ...undone];
    }
    alone.push(...undone.filter(({ items }) => items.length === 1));
    groups = divisible.map(({ items }) => items);
  }
}

/** Why the storage could not do the items; null when nothing is left to do. */
async function failureOf<Item>(
  items: readonly Item[],
  { run, runEach }: HalvesOptions<Item>,
): Promise<StorageUnavailable | null> {
  try {
    await run(items);
  } catch (error) {
    if (error instanceof StorageUnavailable) return error;
    await runEach(items, error);
  }
  return null;
}

function halvesOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length === 1) return [items];
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
