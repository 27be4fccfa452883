/**
 * Items that wait, by key: round-robin over the keys, and in order within each. The item that has waited longest can be taken,
 * too. Adding, dropping and taking one item takes the same time however many wait.
 */
export class RotatingQueue<Item> {
  /** The key whose item is taken next is the first. Each key with items is there, also when all of them are in `#first`. */
  readonly #byKey = new Map<string, Set<Item>>();
  /** Those that go before the others of their key. */
  readonly #first = new Map<string, Set<Item>>();
  /** The key of each item. The item that has waited longest is the first. */
  readonly #keys = new Map<Item, string>();

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  /** How many wait. */
  get size(): number {
    return this.#keys.size;
  }

  /** How many wait under the key. */
  sizeOf(key: string): number {
    return (this.#byKey.get(key)?.size ?? 0) + (this.#first.get(key)?.size ?? 0);
  }

  /** Adds an item behind those of its key, unless it waits already. */
  add(key: string, item: Item): void {
    if (this.#keys.has(item)) return;
    this.#keys.set(item, key);
    addTo(this.#byKey, key, item);
  }

  /** Adds an item before those of its key that were added with `add`, unless it waits already. */
  addFirst(key: string, item: Item): void {
    if (this.#keys.has(item)) return;
    this.#keys.set(item, key);
    addTo(this.#first, key, item);
    if (!this.#byKey.has(key)) this.#byKey.set(key, new Set());
  }

  /** Removes an item. Does nothing when it does not wait. */
  drop(item: Item): void {
    const key = this.#keys.get(item);
    if (key === undefined) return;
    this.#keys.delete(item);
    const first = this.#first.get(key);
    first?.delete(item);
    if (first?.size === 0) this.#first.delete(key);
    const others = this.#byKey.get(key);
    others?.delete(item);
    if (others?.size === 0 && !this.#first.has(key)) this.#byKey.delete(key);
  }

  /** Takes the first item of the first key that may be taken now; undefined when nothing waits, or nothing may. */
  take(mayTake: (key: string, item: Item) => boolean = () => true): Item | undefined {
    for (const [key, others] of this.#byKey) {
      for (const item of this.#first.get(key) ?? others) {
        if (!mayTake(key, item)) break;
        // The key goes behind the others.
        this.#byKey.delete(key);
        this.#byKey.set(key, others);
        this.drop(item);
        return item;
      }
    }
    return undefined;
  }

  /** Takes all items, from the one that has waited longest. */
  takeAll(): readonly Item[] {
    const items = [...this.#keys.keys()];
    this.#byKey.clear();
    this.#first.clear();
    this.#keys.clear();
    return items;
  }

  /** Takes the item that has waited longest, of any key; undefined when nothing waits. */
  takeOldest(): Item | undefined {
    for (const item of this.#keys.keys()) {
      this.drop(item);
      return item;
    }
    return undefined;
  }
}

function addTo<Item>(sets: Map<string, Set<Item>>, key: string, item: Item): void {
  const items = sets.get(key);
  if (items === undefined) sets.set(key, new Set([item]));
  else items.add(item);
}
