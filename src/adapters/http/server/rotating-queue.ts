/** What waits, by key: the next one is taken round-robin over the keys, and in order within each. */
export class RotatingQueue<Item> {
  /** The key whose item is taken next is the first. */
  readonly #byKey = new Map<string, Set<Item>>();

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /** Adds what is not waiting yet, behind what waits under the key. */
  add(key: string, item: Item): void {
    const others = this.#byKey.get(key);
    if (others === undefined) this.#byKey.set(key, new Set([item]));
    else others.add(item);
  }

  /** It waits no longer. Does nothing when it does not wait under the key. */
  drop(key: string, item: Item): void {
    const others = this.#byKey.get(key);
    others?.delete(item);
    if (others?.size === 0) this.#byKey.delete(key);
  }

  /** Takes the next one; undefined when nothing waits. */
  take(): Item | undefined {
    for (const [key, items] of this.#byKey) {
      // The key goes behind the others.
      this.#byKey.delete(key);
      for (const item of items) {
        items.delete(item);
        if (items.size > 0) this.#byKey.set(key, items);
        return item;
      }
    }
    return undefined;
  }
}
