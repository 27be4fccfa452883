import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers';
import { onNextRound } from '../../../../application/concurrency/next-round.ts';
import { PIPELINED_REQUEST_LINES, type ServerLimits, WAITING_REQUESTS_MS_MAX } from '../../limits.ts';
import { networkOf } from '../../routing/client-address.ts';
import type { QueueKey } from '../request-queues.ts';
import type { FairReading } from '../rounds/fair-reading.ts';
import { FairRounds } from '../rounds/fair-rounds.ts';
import type { Waiting } from '../rounds/pausing-rounds.ts';
import { RoundBudget } from '../rounds/round-budget.ts';
import { leavesMuchUnread } from '../writing/write-reply.ts';
import type { ConnectionTable } from './connection-table.ts';
import { gatherPieces } from './gathered-pieces.ts';
import type { ListenBacklog } from './listen-backlog.ts';
import { ignoreBodies, PARSER_STOPPED, stopParser } from './node-parser.ts';
import { type UnreadParts, UnreadReplies } from './unread-replies.ts';

type Reading = Pick<FairReading, 'mayGoOn' | 'drop'>;

export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

type Limits = Pick<
  ServerLimits,
  | 'connectionRequestsMax'
  | 'connectionOpenRequestsMax'
  | 'connectionOpenLinesMax'
  | 'connectionUnreadBytesMax'
  | 'headerLinesMax'
  | 'roundPipelinedLinesMax'
>;

/** What the connections of a server share. */
export interface ConnectionParts extends UnreadParts {
  readonly table: ConnectionTable;
  readonly backlog: Pick<ListenBacklog, 'roundMs'>;
  /** Of new connections. */
  readonly newConnections: Reading;
  /** Of large request bodies. */
  readonly largeBodies: Reading & Pick<FairReading, 'noteRead'>;
  /** Whom a request waits with before it is served. */
  readonly queueKeyOf: (request: IncomingMessage) => QueueKey;
  /** Serves one request, when fewer than the limit are being served. */
  readonly serve: Serve;
}

export interface PipeliningLimit {
  /** Listens to the requests of the server. */
  readonly serve: Serve;
  /** The responses of a connection that have not gone out yet, in the order of their requests: a list that changes. */
  readonly openResponses: (socket: Duplex) => readonly ServerResponse[];
  /** Why the parser of the connection was stopped: by the lines of one head; else by too many requests. */
  readonly hasTooManyLines: (socket: Duplex) => boolean;
  /** Wants to be told of a whole reply of which something has not gone out at once. */
  readonly noteUnsent: (response: ServerResponse) => void;
}

/**
 * Serves at most `connectionRequestsMax` requests of one connection at a time, in the order they came. Only the first of them is
 * served at once, one in a round of the event loop, and for a short time of the round; one of an unknown caller only while
 * nothing waits. The others wait for what other connections want, and for a client that does not read. Nothing more is read from
 * the connection while too many are open. Node hands over every request of a chunk at once, and thousands fit into one, so the
 * parser is stopped at `connectionOpenRequestsMax` and `connectionOpenLinesMax`, and behind the first request of a connection
 * when a round has had `roundPipelinedLinesMax`: all connections may have sent some at once. A request with more header lines
 * than `headerLinesMax` is none: the parser is stopped there too.
 */
export function pipeliningLimit(server: Server, limits: Limits, parts: ConnectionParts): PipeliningLimit {
  const connections = new WeakMap<Duplex, Connection>();
  const withTooManyLines = new WeakSet<Duplex>();
  // Node keeps no more lines than these, and its parser obeys all: one more than are allowed tells that there are too many.
  server.maxHeadersCount = limits.headerLinesMax + 1;
  const { backlog } = parts;
  const rounds = new FairRounds(() => backlog.roundMs(WAITING_REQUESTS_MS_MAX));
  const pipelined = new RoundBudget(limits.roundPipelinedLinesMax);
  const arrivals = new Arrivals();
  const track = (socket: Socket): Connection => {
    const hasLines = (request: IncomingMessage): boolean => {
      if (linesOf(request) <= limits.headerLinesMax) return true;
      withTooManyLines.add(socket);
      return false;
    };
    const reject = () => void server.emit('clientError', new Error('A request is malformed'), socket);
    const stopped = () => {
      const error = Object.assign(new Error('The parser was stopped'), { code: PARSER_STOPPED });
      server.emit('clientError', error, socket);
    };
    const connection = new Connection(socket, limits, parts, {
      rounds,
      pipelined,
      arrivals,
      hasLines,
      reject,
    });
    connections.set(socket, connection);
    stopParser(socket, (request) => hasLines(request) && connection.mayHave(request), stopped);
    return connection;
  };
  server.on('connection', track);

  return {
    serve(request, response) {
      const { socket } = request;
      (connections.get(socket) ?? track(socket)).take(request, response);
    },
    openResponses: (socket) => connections.get(socket)?.open ?? [],
    hasTooManyLines: (socket) => withTooManyLines.has(socket),
    noteUnsent: (response) => connections.get(response.req.socket)?.unread.noteReply(response),
  };
}

/** The header lines of a request, and its trailer lines once they have come. */
function linesOf({ rawHeaders, rawTrailers }: IncomingMessage): number {
  return (rawHeaders.length + rawTrailers.length) / 2;
}

/** Whether some of the body has not come. */
function isArriving({ complete, headers }: IncomingMessage): boolean {
  const { 'content-length': announced, 'transfer-encoding': chunked } = headers;
  return !complete && (chunked !== undefined || Number(announced ?? 0) > 0);
}

interface ConnectionLimits {
  /** Of waiting requests. */
  readonly rounds: FairRounds;
  /** Of requests behind others of their connections, in lines. */
  readonly pipelined: Pick<RoundBudget, 'take'>;
  readonly arrivals: Arrivals;
  /** Whether a request has no more lines than it may have. */
  readonly hasLines: (request: IncomingMessage) => boolean;
  /** Replies that the connection has sent no proper request, and ends it. */
  readonly reject: () => void;
}

/** Finds the requests whose bodies do not come with their heads: few. It checks once a round, which costs little. */
class Arrivals {
  #begun: (readonly [Connection, IncomingMessage])[] = [];

  /** The head of the request has come. */
  note(connection: Connection, request: IncomingMessage): void {
    if (this.#begun.length === 0) onNextRound(() => this.#check());
    this.#begun.push([connection, request]);
  }

  #check(): void {
    const begun = this.#begun;
    this.#begun = [];
    for (const [connection, request] of begun) if (!request.complete) connection.noteLate(request);
  }
}

class Connection implements Waiting {
  /** The responses that have not gone out, in the order of their requests. */
  readonly open: ServerResponse[] = [];
  readonly unread: UnreadReplies;
  readonly #socket: Socket;
  readonly #limits: Limits;
  readonly #parts: ConnectionParts;
  readonly #rounds: FairRounds;
  readonly #pipelined: Pick<RoundBudget, 'take'>;
  readonly #hasLines: ConnectionLimits['hasLines'];
  readonly #reject: ConnectionLimits['reject'];
  readonly #arrivals: Arrivals;
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  readonly #reader: Waiting = {
    serveNext: () => {
      this.#waitsFor = null;
      if (!this.#isFull) this.#socket.resume();
    },
  };
  /** Listens to the close of each response. */
  readonly #onClose: (this: ServerResponse) => void;
  /** Lines of the headers of the open ones. */
  #openLines = 0;
  /** How many of the open ones are being served; the others wait. */
  #served = 0;
  /** Open requests whose bodies come later than their heads, and have not come. */
  readonly #late = new Set<IncomingMessage>();
  /** Whether there is an open request besides those. */
  #isBusy = false;
  /** It has as many open requests as it may: nothing more is read. */
  #isFull = false;
  /** Where what it sends waits for what others send; null when it does not wait. */
  #waitsFor: Reading | null = null;
  /** Whether it is among the connections that are served next. */
  #isQueued = false;
  /** It has had more requests than it may have. */
  #isStopped = false;
  /** The round of the event loop in which a request was served at once. */
  #lastRound = -1;

  constructor(
    socket: Socket,
    limits: Limits,
    parts: ConnectionParts,
    { rounds, pipelined, arrivals, hasLines, reject }: ConnectionLimits,
  ) {
    this.#socket = socket;
    this.#limits = limits;
    this.#parts = parts;
    this.#rounds = rounds;
    this.#pipelined = pipelined;
    this.#hasLines = hasLines;
    this.#reject = reject;
    this.#arrivals = arrivals;
    this.unread = new UnreadReplies(socket, this.open, limits.connectionUnreadBytesMax, parts);
    const end = (response: ServerResponse): void => this.#end(response);
    this.#onClose = function (this: ServerResponse) {
      end(this);
    };
    // Node resumes the connection behind every request, and for every body that is read.
    socket.on('resume', () => {
      if (this.#isFull || this.#waitsFor !== null) socket.pause();
    });
    // Node resumes a new connection behind this: only then does a pause end its reading.
    this.#waitToRead(parts.newConnections, networkOf(socket.remoteAddress));
    socket.on('drain', () => this.#serveAfterRead());
    socket.once('close', () => {
      // No client is left to read the responses.
      this.#waiting.length = 0;
      this.#waitsFor?.drop(this.#reader);
      this.unread.release();
      // Node closes the response that has the socket, and those that have just gone out.
      setImmediate(() => this.#closeAll());
    });
  }

  /** Whether this request may be open too; if not, nothing is read from the connection any more. */
  mayHave(request: IncomingMessage): boolean {
    const isAllowed = this.open.length === 0 || this.#mayPipeline(request);
    if (isAllowed && !this.#isStopped && !this.#socket.destroyed) return true;
    this.#stop();
    return false;
  }

  #stop(): void {
    this.#isStopped = true;
    this.#pause();
  }

  /** Nothing more of the connection counts. */
  #stopWithError(): void {
    this.#stop();
    ignoreBodies(this.#socket);
    this.#reject();
  }

  #mayPipeline(request: IncomingMessage): boolean {
    const { connectionOpenRequestsMax, connectionOpenLinesMax } = this.#limits;
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
    this.open.push(response);
    this.#markInTable();
    if (isArriving(request)) this.#arrivals.note(this, request);
    this.#openLines += linesOf(request);
    if (this.#isAtLimit()) this.#pause();
    response.on('close', this.#onClose);
    if (leavesMuchUnread(request)) this.#limitReading(request);
    if (isFirst && !this.unread.isTooMuch && this.#hasRoundTime(request)) {
      this.#serve(request, response);
      return;
    }
    this.#waiting.push([request, response]);
    this.unread.noteWaiting(request);
    this.#queue();
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
    if (this.#socket.destroyed || this.unread.isTooMuch) return false;
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
    this.#late.delete(response.req);
    this.#markInTable();
    this.#served -= 1;
    this.#serveAfterRead();
    if (!this.#isAtLimit()) this.#resume();
  }

  #markInTable(): void {
    const { table } = this.#parts;
    const wasBusy = this.#isBusy;
    this.#isBusy = this.open.length > this.#late.size;
    if (this.#isBusy && !wasBusy) table.markBusy(this.#socket);
    if (!this.#isBusy && wasBusy) table.markIdle(this.#socket);
  }

  /**
   * The body of the request has not come with its head. Until it has, the request keeps the connection no more than none does:
   * anybody may send one slowly.
   */
  noteLate(request: IncomingMessage): void {
    if (!this.open.some(({ req }) => req === request)) return;
    this.#late.add(request);
    this.#markInTable();
    // Node's parser pushes null at the end of a body, also when nobody reads it.
    const push = request.push.bind(request);
    request.push = (piece, encoding) => {
      const wantsMore = push(piece, encoding);
      if (piece === null && this.#late.delete(request)) this.#markInTable();
      return wantsMore;
    };
  }

  /**
   * Node never closes a response that still waits for an earlier one when its connection closes, not even one that is
   * destroyed. What ends at the close would never do so: a place, a file, an event stream.
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

  #pause(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    this.#socket.pause();
  }

  #resume(): void {
    if (!this.#isFull || this.#isStopped) return;
    this.#isFull = false;
    if (this.#waitsFor === null) this.#socket.resume();
  }

  /** Node's parser pushes each piece of a body, whether it is wanted or thrown away. */
  #limitReading(request: IncomingMessage): void {
    const push = gatherPieces(request, () => this.#stopWithError());
    const network = this.#parts.networkOf(request);
    request.push = (piece, encoding) => {
      const wantsMore = push(piece, encoding);
      if (piece === null) {
        this.#noteTrailers(request);
      } else {
        this.#parts.largeBodies.noteRead();
        this.#waitToRead(this.#parts.largeBodies, network);
        if (this.#waitsFor !== null) this.#socket.pause();
      }
      return wantsMore;
    };
  }

  /** Lines behind a chunked body cost as much as those before it. */
  #noteTrailers(request: IncomingMessage): void {
    const lines = request.rawTrailers.length / 2;
    if (lines === 0) return;
    if (this.open.some(({ req }) => req === request)) this.#openLines += lines;
    this.#pipelined.take(lines);
    if (!this.#hasLines(request)) this.#stopWithError();
  }

  #waitToRead(reading: Reading, network: string): void {
    if (this.#waitsFor === null && !reading.mayGoOn(network, this.#reader)) {
      this.#waitsFor = reading;
    }
  }
}
