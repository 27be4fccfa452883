/*
 * What requests may have, route by route. What the server gives its connections is in `server-limits.ts`.
 */

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
export const ALLOWED_IP_CHARACTERS_MAX = 64;
export const KEY_OVERLAP_MINUTES_MAX = 43_200;
export const KEY_OVERLAP_MINUTES_DEFAULT = 1_440;
export const SECRET_OVERLAP_MINUTES_MAX = 43_200;
export const SECRET_OVERLAP_MINUTES_DEFAULT = 1_440;

/** An unread body of this size is read to its end; behind a larger one the connection is closed. */
export const UNREAD_BODY_BYTES_KEPT = 64 * 1024;
