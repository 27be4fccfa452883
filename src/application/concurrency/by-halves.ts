/** Items of a batch that were not done, and why. */
export interface Undone<Item> {
  readonly items: readonly Item[];
  readonly error: unknown;
}

interface HalvesOptions<Item> {
  /** Why the whole batch failed. */
  readonly failure: unknown;
  /** Resolves with why the items were not done because the storage was away for them; null when nothing is left to do. */
  readonly run: (items: readonly Item[]) => Promise<unknown>;
  /** Whether it is too late to run more. */
  readonly isOver: () => boolean;
}

/**
 * Runs a batch again for which the storage was away. It may be away for a few items only: their statement takes too long, or
 * the disk cannot read their block. As long as one half is done, the other is halved again, so that the items to blame end up
 * alone. When neither half is done, the storage is away for all. Resolves with what is not done.
 */
export async function runByHalves<Item>(
  batch: readonly Item[],
  { failure, run, isOver }: HalvesOptions<Item>,
): Promise<readonly Undone<Item>[]> {
  let undone: readonly Undone<Item>[] = [{ items: batch, error: failure }];
  do {
    const items = undone[0]?.items ?? [];
    const found: Undone<Item>[] = [];
    for (const half of halvesOf(items)) {
      const error = isOver() ? failure : await run(half);
      if (error !== null) found.push({ items: half, error });
    }
    undone = found;
  } while (undone.length === 1 && (undone[0]?.items.length ?? 0) > 1);
  return undone;
}

function halvesOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length === 1) return [items];
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
