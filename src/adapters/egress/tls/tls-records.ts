const HEADER_BYTES = 5;
const CHANGE_CIPHER_SPEC = 20;
const HANDSHAKE = 22;
/** What ends a handshake, or begins it once more with another key, is shorter. */
const LAST_HANDSHAKE_BYTES_MAX = 512;

/**
 * Reads the headers of a peer's TLS records as they come in. In TLS 1.2 a peer may ask for a second handshake, in
 * messages of four bytes: one record has thousands, and TLS takes a second to reject them. No slice of such a record would cost
 * less.
 */
export class TlsRecords {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  /** Bytes of the current record that are still to come. */
  #left = 0;
  /** Handshake records that may still come; no limit until the peer changes to encryption. */
  #handshakes = Number.POSITIVE_INFINITY;

  /** Whether TLS may have these bytes: false once they ask for a second handshake. */
  accept(chunk: Buffer): boolean {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left > 0) {
        const bytes = Math.min(this.#left, chunk.length - at);
        this.#left -= bytes;
        at += bytes;
        continue;
      }
      this.#header[this.#headerBytes] = chunk[at] as number;
      this.#headerBytes += 1;
      at += 1;
      if (this.#headerBytes === HEADER_BYTES && !this.#acceptRecord()) return false;
    }
    return true;
  }

  #acceptRecord(): boolean {
    this.#headerBytes = 0;
    this.#left = this.#header.readUInt16BE(3);
    const kind = this.#header[0];
    if (kind === CHANGE_CIPHER_SPEC) this.#handshakes = Math.min(this.#handshakes, 1);
    if (kind !== HANDSHAKE || this.#handshakes === Number.POSITIVE_INFINITY) return true;
    this.#handshakes -= 1;
    return this.#handshakes >= 0 && this.#left <= LAST_HANDSHAKE_BYTES_MAX;
  }
}
