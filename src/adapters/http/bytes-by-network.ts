/** Bytes in memory, counted by the network of the client that they are held for. */
export class BytesByNetwork {
  readonly #bytes = new Map<string, number>();
  #inAll = 0;

  /** What all networks have together. */
  get inAll(): number {
    return this.#inAll;
  }

  /** Counts `bytes` more for the network, or fewer when it is negative. */
  add(network: string, bytes: number): void {
    this.#inAll += bytes;
    const ofNetwork = (this.#bytes.get(network) ?? 0) + bytes;
    if (ofNetwork === 0) this.#bytes.delete(network);
    else this.#bytes.set(network, ofNetwork);
  }

  /** The network that has most; empty when none has any. */
  heaviest(): { readonly network: string; readonly bytes: number } {
    let heaviest = { network: '', bytes: 0 };
    for (const [network, bytes] of this.#bytes) if (bytes > heaviest.bytes) heaviest = { network, bytes };
    return heaviest;
  }
}
