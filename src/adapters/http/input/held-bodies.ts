import type { IncomingMessage } from 'node:http';
import { BytesByNetwork } from '../bytes-by-network.ts';

/** A body in memory. */
interface Held {
  readonly network: string;
  bytes: number;
  isComplete: boolean;
}

/**
 * The bodies of requests from anybody that are in memory. Beyond `bytesMax` in all, the unfinished ones that began first are
 * closed: those of an address that has more than half of the unfinished bytes, or else of any address. An honest body is
 * complete soon, and an attacker with many addresses holds little under each.
 */
export class HeldBodies {
  readonly #bytesMax: number;
  readonly #close: (request: IncomingMessage, network: string) => void;
  /** In the order of their beginnings. */
  readonly #bodies = new Map<IncomingMessage, Held>();
  readonly #unfinishedBytes = new BytesByNetwork();
  #completeBytes = 0;

  /** `close` makes the process hold nothing for the request. */
  constructor(bytesMax: number, close: (request: IncomingMessage, network: string) => void) {
    this.#bytesMax = bytesMax;
    this.#close = close;
  }

  /** What all hold together. */
  get bytes(): number {
    return this.#unfinishedBytes.inAll + this.#completeBytes;
  }

  /** Notes that `bytes` are held now for the request of a client in `network`. That may close another request or this one. */
  hold(request: IncomingMessage, bytes: number, network: string): void {
    const held = this.#bodies.get(request) ?? { network, bytes: 0, isComplete: false };
    this.#bodies.set(request, held);
    this.#add(held, bytes - held.bytes);
    while (this.bytes > this.#bytesMax) {
      const first = this.#firstUnfinished();
      if (first === undefined) return;
      const closed = this.#bodies.get(first)?.network ?? network;
      this.release(first);
      this.#close(first, closed);
    }
  }

  /** The body has come to its end: it counts until it is released, and is not closed. */
  complete(request: IncomingMessage): void {
    const held = this.#bodies.get(request);
    if (held === undefined || held.isComplete) return;
    const { bytes } = held;
    this.#add(held, -bytes);
    held.isComplete = true;
    this.#add(held, bytes);
  }

  /** Nothing is held any more. Does nothing for a request that holds nothing. */
  release(request: IncomingMessage): void {
    const held = this.#bodies.get(request);
    if (held === undefined) return;
    this.#bodies.delete(request);
    this.#add(held, -held.bytes);
  }

  #add(held: Held, bytes: number): void {
    held.bytes += bytes;
    if (held.isComplete) this.#completeBytes += bytes;
    else this.#unfinishedBytes.add(held.network, bytes);
  }

  #firstUnfinished(): IncomingMessage | undefined {
    const heaviest = this.#unfinishedBytes.heaviest();
    const hasMost = 2 * heaviest.bytes > this.#unfinishedBytes.inAll;
    let first: IncomingMessage | undefined;
    for (const [request, { network, isComplete }] of this.#bodies) {
      if (isComplete) continue;
      first ??= request;
      if (!hasMost || network === heaviest.network) return request;
    }
    return first;
  }
}
