import { BytesByNetwork } from './bytes-by-network.ts';

/** What is in memory for one holder. */
interface Held {
  readonly network: string;
  bytes: number;
}

/**
 * The bytes that the process holds for clients that may never go on: by holder, for example a connection. Beyond `bytesMax` a
 * holder is closed: of the address that has most, the one that began or moved first.
 */
export class HeldBytes<Holder extends object> {
  readonly #bytesMax: number;
  readonly #close: (holder: Holder, network: string) => void;
  /** The first is closed first. */
  readonly #holders = new Map<Holder, Held>();
  readonly #bytes = new BytesByNetwork();

  /** `close` makes the process hold nothing for the holder. */
  constructor(bytesMax: number, close: (holder: Holder, network: string) => void) {
    this.#bytesMax = bytesMax;
    this.#close = close;
  }

  /** What all hold together. */
  get bytes(): number {
    return this.#bytes.inAll;
  }

  /**
   * Notes that `bytes` are held now for the holder, a client in `network`. That may close another holder, or this one when there
   * is no other. With `moves` the holder becomes the last one to be closed.
   */
  hold(holder: Holder, bytes: number, network: string, moves = false): void {
    const known = this.#holders.get(holder);
    const held = known ?? { network, bytes: 0 };
    this.#add(held, bytes - held.bytes);
    if (moves) this.#holders.delete(holder);
    if (moves || known === undefined) this.#holders.set(holder, held);
    while (this.bytes > this.#bytesMax) this.#closeOne(holder);
  }

  /** Nothing is held any more. Does nothing for a holder that holds nothing. */
  release(holder: Holder): void {
    const held = this.#holders.get(holder);
    if (held === undefined) return;
    this.#holders.delete(holder);
    this.#add(held, -held.bytes);
  }

  #add(held: Held, bytes: number): void {
    held.bytes += bytes;
    this.#bytes.add(held.network, bytes);
  }

  #closeOne(newest: Holder): void {
    const holder = this.#firstOfHeaviest(newest);
    const network = this.#holders.get(holder)?.network ?? '';
    this.release(holder);
    this.#close(holder, network);
  }

  /** Another one than `newest` when there is one: it may be about to go on. */
  #firstOfHeaviest(newest: Holder): Holder {
    const heaviest = this.#bytes.heaviest().network;
    let first: Holder | undefined;
    for (const [holder, { network }] of this.#holders) {
      if (holder === newest) continue;
      if (network === heaviest) return holder;
      first ??= holder;
    }
    return first ?? newest;
  }
}
