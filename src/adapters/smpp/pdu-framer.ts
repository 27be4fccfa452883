import { PDU_BYTES_MAX } from './pdu.ts';

const LENGTH_BYTES = 4;
const PDU_BYTES_MIN = 16;

/** Cuts the octets of a connection into PDUs. */
export class PduFramer {
  #chunks: Buffer[] = [];
  #length = 0;

  /**
   * The PDUs that are whole with this chunk, one after another. Throws when the next one has a length
   * below 16 octets or above `PDU_BYTES_MAX`: the connection is then of no use.
   */
  *push(chunk: Buffer): Generator<Buffer, void> {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    for (;;) {
      const length = this.#nextLength();
      if (length === null || this.#length < length) return;
      const all = this.#joined();
      this.#chunks = [all.subarray(length)];
      this.#length -= length;
      yield all.subarray(0, length);
    }
  }

  /** Null while its octets are not all there. */
  #nextLength(): number | null {
    if (this.#length < LENGTH_BYTES) return null;
    // Chunks are joined once their PDU is whole, so that a slow sender costs no copy for each octet.
    const head = (this.#chunks[0]?.length ?? 0) < LENGTH_BYTES ? this.#joined() : this.#chunks[0];
    const length = head?.readUInt32BE(0) ?? 0;
    if (length < PDU_BYTES_MIN || length > PDU_BYTES_MAX) {
      throw new Error(`The SMSC sent a PDU with a length of ${length} octets`);
    }
    return length;
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }
}
