/** The items by their keys, each group in the order of the items; groups in the order of their first items. */
export function groupBy<Key, Item>(
  items: readonly Item[],
  keyOf: (item: Item, index: number) => Key,
): ReadonlyMap<Key, readonly Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const [index, item] of items.entries()) {
    const key = keyOf(item, index);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
