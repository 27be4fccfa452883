import { HEADER_BYTES, PDU_BYTES_MAX } from './pdu.ts';

const LENGTH_BYTES = 4;

/** Cuts the octets of a connection into PDUs. */
export class PduFramer {
  /** The first one from `#at` on. */
  #chunks: Buffer[] = [];
  #at = 0;
  /** How many octets wait. */
  #length = 0;

  /** Takes octets of the connection. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /**
   * The next PDU, or null while it is not whole. Throws when it has a length below 16 octets or above `PDU_BYTES_MAX`: the
   * connection is then of no use.
   */
  next(): Buffer | null {
    if (this.#length < LENGTH_BYTES) return null;
    const length = this.#octets(LENGTH_BYTES).readUInt32BE(this.#at);
    if (length < HEADER_BYTES || length > PDU_BYTES_MAX) {
      throw new Error(`The SMSC sent a PDU with a length of ${length} octets`);
    }
    // Chunks are joined once their PDU is whole, so that a slow sender costs no copy for each octet.
    if (this.#length < length) return null;
    const pdu = this.#octets(length).subarray(this.#at, this.#at + length);
    this.#at += length;
    this.#length -= length;
    if (this.#length === 0) {
      this.#chunks = [];
      this.#at = 0;
    }
    return pdu;
  }

  /** A buffer that has the next `count` octets, from `#at` on. They are there. */
  #octets(count: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.length - this.#at >= count) return first;
    const all = Buffer.concat(this.#chunks).subarray(this.#at);
    this.#chunks = [all];
    this.#at = 0;
    return all;
  }
}
