import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HEADER_TEXT_BYTES, UNREAD_REQUEST_BYTES } from '../../server-limits.ts';
import type { UnreadConnections } from './unread-connections.ts';

/** What the connections of a server share. */
export interface UnreadParts {
  readonly unread: UnreadConnections;
  /** What the client of a request counts as in limits by address. */
  readonly networkOf: (request: IncomingMessage) => string;
}

/**
 * What a connection holds for its client: the replies that the client does not read with the requests of all that have not gone
 * out, or else the requests that wait.
 */
export class UnreadReplies {
  readonly #socket: Socket;
  readonly #open: readonly ServerResponse[];
  readonly #bytesMax: number;
  readonly #parts: UnreadParts;
  #unreadBytes = 0;
  #waitingBytes = 0;
  #isCounted = false;

  /** `open` are the responses that have not gone out, in the order of their requests: a list that changes. */
  constructor(socket: Socket, open: readonly ServerResponse[], bytesMax: number, parts: UnreadParts) {
    this.#socket = socket;
    this.#open = open;
    this.#bytesMax = bytesMax;
    this.#parts = parts;
  }

  /** Whether the client does not read more than `bytesMax`. */
  get isTooMuch(): boolean {
    return this.#unreadBytes > this.#bytesMax;
  }

  /** A reply behind an unsent one is in memory too. One that only waits for those before it is soon gone, unless it is large. */
  noteReply(response: ServerResponse): void {
    const isLarge = response.writableLength > this.#bytesMax;
    if (isLarge || this.#socket.writableLength > 0) this.#weigh(false);
  }

  /** One more request waits, also when the client reads. */
  noteWaiting(request: IncomingMessage): void {
    this.#waitingBytes += bytesOf(request);
    if (this.#socket.writableLength > 0) this.#weigh(false);
    else this.#count(false);
  }

  /** A request waits no longer. */
  noteServed(request: IncomingMessage): void {
    this.#waitingBytes -= bytesOf(request);
    if (this.#isCounted) this.#count(true);
  }

  /** The client has read something. */
  noteRead(): void {
    if (this.#isCounted) this.#weigh(true);
  }

  /** The client is gone. */
  release(): void {
    this.#parts.unread.release(this.#socket);
  }

  #weigh(moves: boolean): void {
    const unsent = this.#unsentBytes();
    this.#unreadBytes = unsent === 0 ? 0 : unsent + bytesOfAll(this.#open);
    this.#count(moves);
  }

  #count(moves: boolean): void {
    const { unread, networkOf } = this.#parts;
    const [oldest] = this.#open;
    const held = this.isTooMuch ? this.#unreadBytes : this.#waitingBytes;
    this.#isCounted = held > this.#bytesMax;
    if (!this.#isCounted || oldest === undefined) unread.release(this.#socket);
    else if (!this.#socket.destroyed) unread.hold(this.#socket, held, networkOf(oldest.req), moves);
  }

  /** What the socket has, and what the responses have that it does not take yet. */
  #unsentBytes(): number {
    let bytes = this.#socket.writableLength;
    for (const response of this.#open) if (response.socket === null) bytes += response.writableLength;
    return bytes;
  }
}

function bytesOfAll(responses: readonly ServerResponse[]): number {
  let bytes = 0;
  for (const { req } of responses) bytes += bytesOf(req);
  return bytes;
}

/** About what a request holds. */
function bytesOf({ rawHeaders }: IncomingMessage): number {
  let bytes = UNREAD_REQUEST_BYTES;
  for (const text of rawHeaders) bytes += HEADER_TEXT_BYTES + text.length;
  return bytes;
}
