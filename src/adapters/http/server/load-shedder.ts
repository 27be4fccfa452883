/** Counts the requests that are being served, whatever connection they came over. */
export class LoadShedder {
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#count >= this.#max;
  }

  begin(): void {
    this.#count += 1;
  }

  /** Call it when the work on a request is over; its reply may still be on its way to a slow client. */
  end(): void {
    this.#count -= 1;
  }
}
