import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { onNextRound } from '../../../../application/concurrency/next-round.ts';
import { isArriving } from '../../input/unread-body.ts';
import type { ConnectionTable } from './connection-table.ts';

/**
 * Marks a connection as busy in the table while it has an open request besides those whose bodies are late. A request whose body
 * comes later than its head keeps the connection no more than none does until it has come: anybody may send one slowly.
 */
export class BusyMark {
  readonly #socket: Socket;
  readonly #table: Pick<ConnectionTable, 'markBusy' | 'markIdle'>;
  readonly #lateBodies: LateBodies;
  /** The responses that have not gone out. */
  readonly #open: readonly ServerResponse[];
  /** Open requests whose bodies come later than their heads, and have not come. */
  readonly #late = new Set<IncomingMessage>();
  #isBusy = false;

  /** `open` is a list that changes: each change of it is told. */
  constructor(
    socket: Socket,
    open: readonly ServerResponse[],
    { table, lateBodies }: { readonly table: ConnectionTable; readonly lateBodies: LateBodies },
  ) {
    this.#socket = socket;
    this.#open = open;
    this.#table = table;
    this.#lateBodies = lateBodies;
  }

  /** The head of the request has come, and it is open. */
  noteOpen(request: IncomingMessage): void {
    this.#mark();
    if (isArriving(request)) this.#lateBodies.check(request, this.#noteLate);
  }

  /** The request is open no longer. */
  noteEnd(request: IncomingMessage): void {
    this.#late.delete(request);
    this.#mark();
  }

  readonly #noteLate = (request: IncomingMessage): void => {
    if (!this.#open.some(({ req }) => req === request)) return;
    this.#late.add(request);
    this.#mark();
    // Node's parser pushes null at the end of a body, also when nobody reads it.
    const push = request.push.bind(request);
    request.push = (piece, encoding) => {
      const wantsMore = push(piece, encoding);
      if (piece === null && this.#late.delete(request)) this.#mark();
      return wantsMore;
    };
  };

  #mark(): void {
    const wasBusy = this.#isBusy;
    this.#isBusy = this.#open.length > this.#late.size;
    if (this.#isBusy && !wasBusy) this.#table.markBusy(this.#socket);
    if (!this.#isBusy && wasBusy) this.#table.markIdle(this.#socket);
  }
}

/** Finds the requests of a server whose bodies do not come with their heads: few. It checks once a round, which costs little. */
export class LateBodies {
  #begun: (readonly [IncomingMessage, (request: IncomingMessage) => void])[] = [];

  /** Calls `isLate` in the next round when the body has not come whole by then. */
  check(request: IncomingMessage, isLate: (request: IncomingMessage) => void): void {
    if (this.#begun.length === 0) onNextRound(() => this.#checkAll());
    this.#begun.push([request, isLate]);
  }

  #checkAll(): void {
    const begun = this.#begun;
    this.#begun = [];
    for (const [request, isLate] of begun) if (!request.complete) isLate(request);
  }
}
