/**
 * What waits, by key: round-robin over the keys, and in order within each. What has waited longest can be taken too. Adding,
 * dropping and taking one item takes the same time however many wait.
 */
export class RotatingQueue<Item> {
  /** The key whose item is taken next is the first. */
  readonly #byKey = new Map<string, Set<Item>>();
  /** The key of each, what has waited longest first. */
  readonly #keys = new Map<Item, string>();

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  /** Adds what is not waiting yet, behind what waits under the key. */
  add(key: string, item: Item): void {
    if (this.#keys.has(item)) return;
    this.#keys.set(item, key);
    const others = this.#byKey.get(key);
    if (others === undefined) this.#byKey.set(key, new Set([item]));
    else others.add(item);
  }

  /** It waits no longer. Does nothing when it does not wait. */
  drop(item: Item): void {
    const key = this.#keys.get(item);
    if (key === undefined) return;
    this.#keys.delete(item);
    const others = this.#byKey.get(key);
    others?.delete(item);
    if (others?.size === 0) this.#byKey.delete(key);
  }

  /** Takes the first one of the first key that may have it now; undefined when nothing waits, or no key may. */
  take(mayTake: (key: string, item: Item) => boolean = () => true): Item | undefined {
    for (const [key, items] of this.#byKey) {
      for (const item of items) {
        if (!mayTake(key, item)) break;
        // The key goes behind the others.
        this.#byKey.delete(key);
        this.#byKey.set(key, items);
        this.drop(item);
        return item;
      }
    }
    return undefined;
  }

  /** Takes all of them, what has waited longest first. */
  takeAll(): readonly Item[] {
    const items = [...this.#keys.keys()];
    this.#byKey.clear();
    this.#keys.clear();
    return items;
  }

  /** Takes what has waited longest, under whatever key; undefined when nothing waits. */
  takeOldest(): Item | undefined {
    for (const item of this.#keys.keys()) {
      this.drop(item);
      return item;
    }
    return undefined;
  }
}
