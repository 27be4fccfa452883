import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers';
import { leavesMuchUnread } from '../../input/unread-body.ts';
import { networkOf } from '../../routing/client-address.ts';
import { PIPELINED_REQUEST_LINES, type ServerLimits } from '../../server-limits.ts';
import type { QueueKey } from '../request-queues.ts';
import type { FairRounds } from '../rounds/fair-rounds.ts';
import type { ListenBacklog } from '../rounds/listen-backlog.ts';
import type { RoundTask } from '../rounds/pausing-rounds.ts';
import type { RoundBudget } from '../rounds/round-budget.ts';
import { BusyMark, type LateBodies } from './busy-mark.ts';
import { ConnectionReading, type ReadingParts } from './connection-reading.ts';
import type { ConnectionTable } from './connection-table.ts';
import { dropConnection } from './drop-connection.ts';
import { ignoreBodies } from './node-parser.ts';
import { type UnreadParts, UnreadReplies } from './unread-replies.ts';

/** Serves one request. */
export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** Those that each connection is under. */
export type ConnectionLimits = Pick<
  ServerLimits,
  | 'connectionRequestsMax'
  | 'connectionOpenRequestsMax'
  | 'connectionOpenLinesMax'
  | 'connectionUnreadBytesMax'
  | 'headerLinesMax'
  | 'roundPipelinedLinesMax'
>;

/** What the connections of a server share. */
export interface ConnectionParts extends UnreadParts, ReadingParts {
  readonly table: ConnectionTable;
  readonly backlog: Pick<ListenBacklog, 'roundMs' | 'connectionsComeFast'>;
  /** Whom a request waits with before it is served. */
  readonly queueKeyOf: (request: IncomingMessage) => QueueKey;
  /** Serves one request, when fewer than the limit are being served. */
  readonly serve: Serve;
}

/** The header lines of a request, and its trailer lines once they have come. */
export function linesOf({ rawHeaders, rawTrailers }: IncomingMessage): number {
  return (rawHeaders.length + rawTrailers.length) / 2;
}

/** What the limit of a server gives to each of its connections. */
export interface PipeliningParts {
  /** Of waiting requests. */
  readonly rounds: FairRounds;
  /** Of requests behind others of their connections, in lines. */
  readonly pipelined: Pick<RoundBudget, 'take'>;
  readonly lateBodies: LateBodies;
  /** Whether a request has no more lines than it may have. */
  readonly hasLines: (request: IncomingMessage) => boolean;
  /** Replies that the connection has sent no proper request, and ends it. */
  readonly reject: () => void;
}

/** The open requests of one connection, and what is read of it: the rules are those of `pipeliningLimit`. */
export class Connection implements RoundTask {
  /** The responses that have not gone out, in the order of their requests. */
  readonly open: ServerResponse[] = [];
  readonly unread: UnreadReplies;
  readonly #busyMark: BusyMark;
  /** Paused while it has as many open requests as it may. */
  readonly #reading: ConnectionReading;
  readonly #socket: Socket;
  readonly #limits: ConnectionLimits;
  readonly #parts: ConnectionParts;
  readonly #rounds: FairRounds;
  readonly #pipelined: Pick<RoundBudget, 'take'>;
  readonly #hasLines: PipeliningParts['hasLines'];
  readonly #reject: PipeliningParts['reject'];
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** Listens to the close of each response. */
  readonly #onClose: (this: ServerResponse) => void;
  /** Lines of the headers of the open ones. */
  #openLines = 0;
  /** How many of the open ones are being served; the others wait. */
  #served = 0;
  /** Whether it is among the connections that are served next. */
  #isQueued = false;
  /** Its request is not served yet: it may have ended behind it. */
  #isDelayed = false;
  /** It has had more requests than it may have. */
  #isStopped = false;
  /** The round of the event loop in which a request was served at once. */
  #lastRound = -1;

  constructor(
    socket: Socket,
    limits: ConnectionLimits,
    parts: ConnectionParts,
    { rounds, pipelined, lateBodies, hasLines, reject }: PipeliningParts,
  ) {
    this.#socket = socket;
    this.#limits = limits;
    this.#parts = parts;
    this.#rounds = rounds;
    this.#pipelined = pipelined;
    this.#hasLines = hasLines;
    this.#reject = reject;
    this.#busyMark = new BusyMark(socket, this.open, { table: parts.table, lateBodies });
    this.unread = new UnreadReplies(socket, this.open, limits.connectionUnreadBytesMax, parts);
    const end = (response: ServerResponse): void => this.#end(response);
    this.#onClose = function (this: ServerResponse) {
      end(this);
    };
    this.#reading = new ConnectionReading(socket, parts, rounds);
    this.#reading.begin(networkOf(socket.remoteAddress));
    socket.on('drain', () => this.#serveAfterRead());
    socket.once('close', () => {
      // No client is left to read the responses.
      this.#waiting.length = 0;
      this.#reading.drop();
      this.unread.release();
      // Node closes the response that has the socket, and those that have just gone out.
      setImmediate(() => this.#closeAll());
    });
  }

  /**
   * Whether this request may be open too; if not, nothing is read from the connection any more. One whose request is not served
   * yet is closed.
   */
  mayHave(request: IncomingMessage): boolean {
    const isAllowed = this.open.length === 0 || this.#mayPipeline(request);
    if (isAllowed && !this.#isStopped && !this.#socket.destroyed) return true;
    this.#isStopped = true;
    // Its end would not be read, and its request is not served yet.
    if (this.#isDelayed) dropConnection(this.#socket);
    else this.#reading.pause();
    return false;
  }

  /** Nothing more of the connection counts. */
  #stopWithError(): void {
    this.#isStopped = true;
    this.#reading.pause();
    ignoreBodies(this.#socket);
    this.#reject();
  }

  #mayPipeline(request: IncomingMessage): boolean {
    const { connectionOpenRequestsMax, connectionOpenLinesMax } = this.#limits;
    if (this.#parts.backlog.connectionsComeFast) return false;
    if (this.open.length >= connectionOpenRequestsMax) return false;
    const lines = linesOf(request);
    if (this.#openLines + lines > connectionOpenLinesMax) return false;
    return this.#pipelined.take(PIPELINED_REQUEST_LINES + lines);
  }

  /** Whether the open requests are all it may have for now; a request more might have all the lines that a request may have. */
  #isAtLimit(): boolean {
    const { connectionRequestsMax, connectionOpenLinesMax, headerLinesMax } = this.#limits;
    return (
      this.open.length > connectionRequestsMax || this.#openLines > connectionOpenLinesMax - headerLinesMax
    );
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const isFirst = this.open.length === 0;
    if (isFirst && this.#parts.backlog.connectionsComeFast) this.#delay();
    this.open.push(response);
    this.#busyMark.noteOpen(request);
    this.#openLines += linesOf(request);
    if (this.#isAtLimit()) this.#reading.pause();
    response.on('close', this.#onClose);
    if (leavesMuchUnread(request)) this.#limitReading(request);
    if (isFirst && !this.#isDelayed && !this.unread.isTooMuch && this.#hasRoundTime(request)) {
      this.#serve(request, response);
      return;
    }
    this.#waiting.push([request, response]);
    this.unread.noteWaiting(request);
    this.#queue();
  }

  /**
   * While new connections come fast, a request is not served before the round in which the end of its connection would be read,
   * behind what came with it. So callers who send some, leave and come again cost little.
   */
  #delay(): void {
    this.#isDelayed = true;
    // The first runs before the next reading, the second behind it.
    setImmediate(() =>
      setImmediate(() => {
        this.#isDelayed = false;
        this.#queue();
      }),
    );
  }

  serveNext(): void {
    this.#isQueued = false;
    const next = this.#mayServe() ? this.#waiting.shift() : undefined;
    if (next === undefined) return;
    const [request, response] = next;
    this.unread.noteServed(request);
    this.#serve(request, response);
    this.#queue();
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    this.#served += 1;
    this.#parts.serve(request, response);
  }

  /**
   * Whether this is the first request of the round, and the round has time. With many headers or a body Node's parser calls
   * back within a request, and replies go out then: each request of a chunk may find that no earlier one is open. An unknown
   * caller passes nobody who waits.
   */
  #hasRoundTime(request: IncomingMessage): boolean {
    const { round } = this.#rounds;
    if (round === this.#lastRound || !this.#rounds.hasTime()) return false;
    if (!this.#rounds.isEmpty && this.#parts.queueKeyOf(request).group === 'unknown') return false;
    this.#lastRound = round;
    return true;
  }

  #mayServe(): boolean {
    // It is not writable after its last reply, nor once the caller has ended it: Node ends it then, too.
    if (this.#isDelayed || !this.#socket.writable || this.unread.isTooMuch) return false;
    return this.#served < this.#limits.connectionRequestsMax;
  }

  #queue(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#isQueued || !this.#mayServe()) return;
    this.#isQueued = true;
    const { key, group } = this.#parts.queueKeyOf(next[0]);
    this.#rounds.add(key, this, group);
  }

  #end(response: ServerResponse): void {
    const index = this.open.indexOf(response);
    if (index === -1) return;
    this.open.splice(index, 1);
    this.#openLines -= linesOf(response.req);
    this.#busyMark.noteEnd(response.req);
    this.#served -= 1;
    this.#serveAfterRead();
    if (!this.#isStopped && !this.#isAtLimit()) this.#reading.resume();
  }

  /**
   * Node never closes a response that still waits for an earlier one when its connection closes, not even one that is
   * destroyed. What ends at the close would never do so: a place, a file.
   */
  #closeAll(): void {
    for (const response of [...this.open]) {
      response.destroy();
      response.emit('close');
    }
  }

  /** The client has read something, so a waiting request may be next. */
  #serveAfterRead(): void {
    this.unread.noteRead();
    this.#queue();
  }

  #limitReading(request: IncomingMessage): void {
    this.#reading.limitBody(request, this.#parts.networkOf(request), {
      onEnd: () => this.#noteTrailers(request),
      reject: () => this.#stopWithError(),
    });
  }

  /** Lines behind a chunked body cost as much as those before it. */
  #noteTrailers(request: IncomingMessage): void {
    const lines = request.rawTrailers.length / 2;
    if (lines === 0) return;
    if (this.open.some(({ req }) => req === request)) this.#openLines += lines;
    this.#pipelined.take(lines);
    if (!this.#hasLines(request)) this.#stopWithError();
  }
}
