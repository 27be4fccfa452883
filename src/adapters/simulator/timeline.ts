import TinyQueue from 'tinyqueue';

interface Entry<Item> {
  readonly at: number;
  readonly order: number;
  readonly item: Item;
}

/** Items by the instant they are due; those of equal instants in the order they were added. */
export class Timeline<Item> {
  readonly #queue = new TinyQueue<Entry<Item>>([], (a, b) => a.at - b.at || a.order - b.order);
  #added = 0;

  add(at: number, item: Item): void {
    this.#added += 1;
    this.#queue.push({ at, order: this.#added, item });
  }

  /** Removes and returns everything due at `now`, the earliest first. */
  takeDue(now: number): readonly Item[] {
    const due: Item[] = [];
    for (let first = this.#queue.peek(); first !== undefined && first.at <= now; first = this.#queue.peek()) {
      due.push(first.item);
      this.#queue.pop();
    }
    return due;
  }

  nextDueAt(): number | null {
    return this.#queue.peek()?.at ?? null;
  }
}
