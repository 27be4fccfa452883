/** A member of a ring, whose head has no item. Moving one takes the same time however many there are. */
export class RingNode<Item> {
  readonly item: Item | null;
  #previous: RingNode<Item> = this;
  #next: RingNode<Item> = this;

  constructor(item: Item | null) {
    this.item = item;
  }

  /** Of a head: the item that was moved to its end first; null when it has none. */
  get first(): Item | null {
    return this.#next.item;
  }

  /** Alone afterwards. */
  leave(): void {
    this.#previous.#next = this.#next;
    this.#next.#previous = this.#previous;
    this.#previous = this;
    this.#next = this;
  }

  moveToEndOf(head: RingNode<Item>): void {
    this.leave();
    this.#previous = head.#previous;
    this.#next = head;
    head.#previous.#next = this;
    head.#previous = this;
  }
}
