import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { UNREAD_REQUEST_BYTES } from '../limits.ts';
import type { UnreadConnections } from './unread-connections.ts';

/** What the connections of a server share. */
export interface UnreadParts {
  readonly unread: UnreadConnections;
  /** What the client of a request counts as in limits by address. */
  readonly networkOf: (request: IncomingMessage) => string;
}

/** What a connection holds for a client that does not read: replies, and the requests of all that have not gone out. */
export class UnreadReplies {
  readonly #socket: Socket;
  readonly #open: readonly ServerResponse[];
  readonly #bytesMax: number;
  readonly #parts: UnreadParts;
  #isTooMuch = false;

  /** `open` are the responses that have not gone out, in the order of their requests: a list that changes. */
  constructor(socket: Socket, open: readonly ServerResponse[], bytesMax: number, parts: UnreadParts) {
    this.#socket = socket;
    this.#open = open;
    this.#bytesMax = bytesMax;
    this.#parts = parts;
  }

  /** Whether it is more than `bytesMax`. */
  get isTooMuch(): boolean {
    return this.#isTooMuch;
  }

  /** A reply behind an unsent one is in memory too. One that only waits for those before it is soon gone, unless it is large. */
  noteReply(response: ServerResponse): void {
    const isLarge = response.writableLength > this.#bytesMax;
    if (isLarge || this.#socket.writableLength > 0) this.#weigh(false);
  }

  /** More requests wait, and are in memory too. */
  noteRequests(): void {
    if (this.#socket.writableLength > 0) this.#weigh(false);
  }

  /** The client has read something. */
  noteRead(): void {
    if (this.#isTooMuch) this.#weigh(true);
  }

  /** The client is gone. */
  release(): void {
    this.#parts.unread.release(this.#socket);
  }

  #weigh(moves: boolean): void {
    const { unread, networkOf } = this.#parts;
    const [oldest] = this.#open;
    const unsent = this.#unsentBytes();
    const held = unsent === 0 || oldest === undefined ? 0 : unsent + bytesOf(this.#open);
    this.#isTooMuch = held > this.#bytesMax;
    if (!this.#isTooMuch || oldest === undefined) unread.release(this.#socket);
    else if (!this.#socket.destroyed) unread.hold(this.#socket, held, networkOf(oldest.req), moves);
  }

  /** What the socket has, and what the responses have that it does not take yet. */
  #unsentBytes(): number {
    let bytes = this.#socket.writableLength;
    for (const response of this.#open) if (response.socket === null) bytes += response.writableLength;
    return bytes;
  }
}

/** About what the requests hold whose responses these are. */
function bytesOf(responses: readonly ServerResponse[]): number {
  let bytes = responses.length * UNREAD_REQUEST_BYTES;
  for (const { req } of responses) for (const text of req.rawHeaders) bytes += text.length;
  return bytes;
}
