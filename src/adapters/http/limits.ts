/** The longest body of a route that says nothing else. */
export const BODY_BYTES_MAX = 32 * 1024;

/** A body that is longer is a large one: large bodies wait to be parsed in a queue of their own, and are checked only once. */
export const SMALL_BODY_BYTES_MAX = 32 * 1024;

/** Meta puts up to a thousand receipts into one request. */
export const CALLBACK_BYTES_MAX = 3 * 1024 * 1024;

/** What the bodies of all callbacks hold until they are checked and stored. Beyond it, unfinished ones are closed. */
export const CALLBACK_BODIES_BYTES_MAX = 64 * 1024 * 1024;

/** Routes that take lists of recipients: a thousand of them with parameters is a legal request. */
export const RECIPIENT_BODY_BYTES_MAX = 4 * 1024 * 1024;

/** Requests of such routes whose bodies a process reads or holds at a time, and those of one project. More wait unread. */
export const RECIPIENT_BODIES_MAX = 32;
export const RECIPIENT_BODIES_PER_PROJECT_MAX = 2;
/** How long a body may take to arrive while others wait for a place, in milliseconds. */
export const SLOW_BODY_MS = 1_000;

/**
 * Requests of projects that a process works on at a time, and those of one project: of all routes but those that say otherwise.
 * More wait. Those of one project stand before the sends of all others in the line for a connection to the database.
 */
export const PROJECT_REQUESTS_MAX = 6;
export const PROJECT_REQUESTS_PER_PROJECT_MAX = 2;

/** A file of prices: 100,000 rows in JSON. */
export const PRICES_BODY_BYTES_MAX = 32 * 1024 * 1024;
/** A tree of whatsapp resources: 1,000 templates with the longest texts that the platform takes. */
export const WHATSAPP_TREE_BYTES_MAX = 4 * 1024 * 1024;
/** Businesses, accounts, phone numbers and templates of a project together. */
export const WHATSAPP_RESOURCES_MAX = 10_000;

/** The most members of one object or list of a body: more than any request needs, and each costs time to check. */
export const JSON_OBJECT_MEMBERS_MAX = 200;
export const JSON_LIST_ITEMS_MAX = 10_000;
/** The same of all its objects and lists together: each costs time to parse. */
export const JSON_MEMBERS_MAX = 2_000;
/** A thousand recipients with 25 values each. */
export const RECIPIENT_BODY_MEMBERS_MAX = 30_000;

export const REQUEST_ID_CHARACTERS_MAX = 128;
export const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255;

/** The specification gives no maximum for these. */
export const WHATSAPP_ID_CHARACTERS_MAX = 64;
export const TEMPLATE_PARAMETER_CHARACTERS_MAX = 4096;

/** The last instant that ISO 8601 writes with a year of four digits. */
export const LATEST_INSTANT_MS = Date.parse('9999-12-31T23:59:59.999Z');

export const PRICING_PAGE_MAX = 1_000_000;
export const PRICING_LIMIT_MAX = 500;
export const PRICING_LIMIT_DEFAULT = 100;

export const CAMPAIGN_PAGE_MAX = 1_000_000;
export const CAMPAIGN_LIMIT_MAX = 100;
export const CAMPAIGN_LIMIT_DEFAULT = 20;
export const RECIPIENT_LIMIT_MAX = 500;
export const RECIPIENT_LIMIT_DEFAULT = 50;
export const RECIPIENTS_PER_REQUEST_MAX = 1_000;

export const REPORT_PAGE_MAX = 1_000_000;
export const REPORT_LIMIT_MAX = 500;
export const REPORT_LIMIT_DEFAULT = 50;
export const REPORT_PHONE_NUMBERS_MAX = 1_000;
export const REPORT_PHONE_NUMBER_CHARACTERS_MAX = 32;

/**
 * Downloads of reports that a process serves at a time, those of one address, and those of one project: each has a file or a
 * connection open, and a link that many have must keep nobody from the reports of others.
 */
export const REPORT_DOWNLOADS_MAX = 100;
export const REPORT_DOWNLOADS_PER_ADDRESS_MAX = 10;
export const REPORT_DOWNLOADS_PER_PROJECT_MAX = 30;

/**
 * Links of reports that a process looks up at a time, and those of one address: they need no key, and anybody can make them up.
 * More wait, by address in rotation.
 */
export const REPORT_LINKS_MAX = 4;
export const REPORT_LINKS_PER_ADDRESS_MAX = 2;

/**
 * Files of the page at `/docs`, and documents, that are on their way to their clients at a time, and those to one address: they
 * are long, anybody may ask for them, and what a client does not read fills the memory of the system. A browser asks for three.
 */
export const DOCS_FILES_MAX = 50;
export const DOCS_FILES_PER_ADDRESS_MAX = 10;
/**
 * How long each of them counts among all beyond that, in milliseconds. The system takes a whole file for a client that does not
 * read: its reply has gone out at once, and copies of thousands take seconds.
 */
export const UNSENT_REPLY_COUNTED_MS = 250;

/** Pages of the admin interface. */
export const ADMIN_LIMIT_MAX = 500;
export const ADMIN_LIMIT_DEFAULT = 50;
export const ADMIN_CURSOR_CHARACTERS_MAX = 500;
/** The id of a job that delivers webhooks has the address of a receiver. */
export const JOB_ID_CHARACTERS_MAX = 2_500;
/** Of lists of webhook destinations, whose places have an endpoint. */
export const ADMIN_DESTINATION_CURSOR_CHARACTERS_MAX = 4_096;
export const REASON_CHARACTERS_MAX = 500;
export const ALLOWED_IPS_MAX = 1_000;
export const ALLOWED_IP_CHARACTERS_MAX = 64;
export const KEY_OVERLAP_MINUTES_MAX = 43_200;
export const KEY_OVERLAP_MINUTES_DEFAULT = 1_440;
export const SECRET_OVERLAP_MINUTES_MAX = 43_200;
export const SECRET_OVERLAP_MINUTES_DEFAULT = 1_440;

/** An unread body of this size is read to its end; behind a larger one the connection is closed. */
export const UNREAD_BODY_BYTES_KEPT = 64 * 1024;

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
