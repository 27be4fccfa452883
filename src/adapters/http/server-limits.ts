/*
 * What the server gives its connections: places, memory, and time of the event loop. What a request may have is in `limits.ts`.
 */

/** A longer text is sent as octets: Node counts an unsent text in characters, each of which has up to three. */
export const TEXT_BODY_CHARACTERS_MAX = 5 * 1024;

/** A body that many replies share is sent in pieces of this size: no connection holds more of it than one. */
export const SHARED_BODY_PIECE_BYTES = 64 * 1024;

/** What each name and each value in the headers of a request holds beside its characters. */
export const HEADER_TEXT_BYTES = 50;

/** What a request of which the reply is unread holds beside its headers: its objects. */
export const UNREAD_REQUEST_BYTES = 4 * 1024;

/** How long waiting requests of all connections are served in one round of the event loop, in milliseconds. */
export const WAITING_REQUESTS_MS_MAX = 4;
/**
 * How long new connections are read in one round, in milliseconds. Chunked bodies, and those of more than
 * `UNREAD_BODY_BYTES_KEPT`, are read for as long.
 */
export const READING_CLIENTS_MS_MAX = 2;
/**
 * How many waiting new connections are read in one round, and how many pieces of such bodies. Behind a longer round as many
 * connections are read as it took milliseconds.
 */
export const CONNECTIONS_READ_PER_ROUND = 4;
export const CONNECTIONS_READ_PER_MS = 1;
export const BODIES_READ_PER_ROUND = 1;
/** Reading such bodies takes this share of the time while rounds of it take longer than they have. */
export const READING_BODIES_SHARE = 0.25;
/** What a request costs before it is served beside its header lines, in lines. */
export const PIPELINED_REQUEST_LINES = 20;
/** How long bodies are parsed and checked in one round, in milliseconds. The rest waits, and is served by project in rotation. */
export const BODIES_MS_MAX = 10;
/** The part of a round for requests and bodies while connections wait to be accepted, in milliseconds: a round accepts one. */
export const BACKLOG_ROUND_MS = 0.5;
/** How long rounds only accept while connections wait, in milliseconds. Then they do other work too for `BACKLOG_WORK_MS`. */
export const ACCEPTING_MS = 2;
export const BACKLOG_WORK_MS = 2;
/** New connections come fast when more than `FAST_CONNECTIONS` came within `FAST_CONNECTIONS_MS`, in milliseconds. */
export const FAST_CONNECTIONS = 20;
export const FAST_CONNECTIONS_MS = 100;
/** Connections that wait to be accepted; the system may allow fewer, on Linux by `net.core.somaxconn`. */
export const LISTEN_BACKLOG_MAX = 4_096;
/** After this time the next large body waits for another round. Some take 40 ms alone. */
export const LARGE_BODIES_MS_MAX = 1;
/** The share of the event loop's time that large bodies have. */
export const LARGE_BODIES_SHARE = 0.2;

/** How much of a rejected body is still read, and how long, so that the client sees the reply. */
export const LINGER_BYTES_MAX = 1024 * 1024;
export const LINGER_MS_MAX = 1_000;

/** What a server allows its connections; slow callers are closed within headers or request time. */
export interface ServerLimits {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly connectionsCheckingIntervalMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly headerBytesMax: number;
  /** Lines of the headers of a request: each takes the memory and the time of several objects, however short it is. */
  readonly headerLinesMax: number;
  /** One more closes one of the site that has most: see `ConnectionTable`. */
  readonly connectionsMax: number;
  /** Requests of one connection that are served at a time; more wait, and nothing more is read. */
  readonly connectionRequestsMax: number;
  /**
   * Requests of one connection that are served or wait. One more gets 503 behind their replies, and closes the connection. Few:
   * anybody may send as many at once, leave, and come again, and Node parses them all and closes each. While new connections come
   * fast, a connection has one.
   */
  readonly connectionOpenRequestsMax: number;
  /**
   * Lines of the headers of those requests together. A request behind others that makes them more gets 503, and closes the
   * connection: what a request costs before it is served grows with its lines.
   */
  readonly connectionOpenLinesMax: number;
  /**
   * Lines of the requests of all connections that come behind others of theirs in one round of the event loop, with
   * `PIPELINED_REQUEST_LINES` for each. One more gets 503, and closes its connection.
   */
  readonly roundPipelinedLinesMax: number;
  /** Requests of the whole process that are served at a time; more get 503. */
  readonly requestsMax: number;
  /** Those of one project, whose bodies may still be on their way; more get 503. */
  readonly requestsPerProjectMax: number;
  /** Those of one address, likewise. A proxy that is not trusted is one address for everybody behind it. */
  readonly requestsPerAddressMax: number;
  /** A reply of which more is unsent counts for its address and its project until it has gone out. */
  readonly freeReplyBytesMax: number;
  /** A connection that holds more for a client that does not read serves no further request until the client reads. */
  readonly connectionUnreadBytesMax: number;
  /** What all such connections hold, and those whose waiting requests hold more; beyond it, one of them is closed. */
  readonly unreadBytesMax: number;
  /** How long nothing moves on a connection with a request before it is closed: nobody reads the reply. */
  readonly stallTimeoutMs: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  connectionsCheckingIntervalMs: 2_000,
  /** Longer than the idle time of common balancers, which must be the first to close. */
  keepAliveTimeoutMs: 65_000,
  headerBytesMax: 16 * 1024,
  headerLinesMax: 100,
  connectionsMax: 10_000,
  connectionRequestsMax: 8,
  connectionOpenRequestsMax: 16,
  connectionOpenLinesMax: 300,
  roundPipelinedLinesMax: 5_000,
  requestsMax: 4_000,
  requestsPerProjectMax: 1_000,
  requestsPerAddressMax: 2_000,
  freeReplyBytesMax: 16 * 1024,
  connectionUnreadBytesMax: 16 * 1024,
  unreadBytesMax: 64 * 1024 * 1024,
  stallTimeoutMs: 30_000,
};
