interface Entry<Item> {
  readonly at: number;
  readonly order: number;
  readonly item: Item;
}

/** Items by the instant they are due, as a binary heap; equal instants keep the order they came in. */
export class Timeline<Item> {
  readonly #heap: Entry<Item>[] = [];
  #added = 0;

  add(at: number, item: Item): void {
    const heap = this.#heap;
    this.#added += 1;
    heap.push({ at, order: this.#added, item });
    let index = heap.length - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  /** Removes and returns everything due at `now`, the earliest first. */
  takeDue(now: number): readonly Item[] {
    const due: Item[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      due.push(first.item);
      this.#removeFirst();
    }
    return due;
  }

  nextDueAt(): number | null {
    return this.#heap[0]?.at ?? null;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    this.#swap(0, heap.length - 1);
    heap.pop();
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const right = left + 1;
      let smallest = index;
      if (left < heap.length && this.#isBefore(left, smallest)) smallest = left;
      if (right < heap.length && this.#isBefore(right, smallest)) smallest = right;
      if (smallest === index) return;
      this.#swap(index, smallest);
      index = smallest;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const first = this.#heap[a];
    const second = this.#heap[b];
    if (first === undefined || second === undefined) return false;
    return first.at < second.at || (first.at === second.at && first.order < second.order);
  }

  #swap(a: number, b: number): void {
    const first = this.#heap[a];
    const second = this.#heap[b];
    if (first === undefined || second === undefined) return;
    this.#heap[a] = second;
    this.#heap[b] = first;
  }
}
