import { z } from 'zod';
import { REJECTION_CLASSES } from '../../domain/providers/rejection-class.ts';

const STATUS_MIN = 100;
const STATUS_MAX = 599;

const text = z.string().min(1);
const texts = z.record(text, z.string());
const path = z.string();
const status = z.int().min(STATUS_MIN).max(STATUS_MAX);
const statuses = z.array(status).min(1);
const scalar = z.union([z.string(), z.number(), z.boolean()]);
/** User and password of HTTP basic authentication. */
const basic = z.strictObject({ user: text, password: text });

/** A request as it stands in a channels file: every text in it may hold placeholders. It has one body at most. */
export const requestSettings = z.strictObject({
  method: z.enum(['GET', 'POST']),
  url: text,
  headers: texts.optional(),
  basic: basic.optional(),
  query: texts.optional(),
  json: z.json().optional(),
  form: texts.optional(),
  text: text.optional(),
});

/** What `{encoding}` becomes. */
export const encodingSettings = z.strictObject({ gsm7: scalar, ucs2: scalar });

/** How a response is read: JSON, or a text whose named groups are the members of the document. */
export const responseSettings = z.discriminatedUnion('format', [
  z.strictObject({ format: z.literal('json') }),
  z.strictObject({ format: z.literal('text'), pattern: text }),
]);

/** What tells that a message was taken, and where its ids are; without ids, receipts come under `{id}`. */
export const successSettings = z.strictObject({
  /** 200 to 299 when absent. */
  status: statuses.optional(),
  /** A value that must be there, and be one of `values` when they are given. */
  path: path.optional(),
  values: z.array(scalar).min(1).optional(),
  id: path.optional(),
  /** One id for each part: in the items of a list, or in a text with a separator. */
  ids: z
    .union([z.strictObject({ items: path, id: path.optional() }), z.strictObject({ path, separator: text })])
    .optional(),
});

/** A response that is an error, and of which class; all conditions that are given must hold. */
export const errorSettings = z.strictObject({
  status: z.union([status, statuses]).optional(),
  path: path.optional(),
  equals: z.union([scalar, z.array(scalar).min(1)]).optional(),
  /** A regular expression of RE2. */
  matches: text.optional(),
  class: z.enum(REJECTION_CLASSES),
  /** The path of the gateway's own reason. */
  reason: path.optional(),
});

/** How a gateway proves that a receipt is its own. Texts name credentials as `{secret:NAME}`. */
const authorization = z.union(
  [
    /** A parameter of the query, or a header, with exactly this value. */
    z.strictObject({ query: text, value: text }),
    z.strictObject({ header: text, value: text }),
    z.strictObject({ basic }),
    z.strictObject({
      hmac: z.strictObject({
        header: text,
        algorithm: z.literal('sha256'),
        secret: text,
        over: z.literal('body'),
        encoding: z.enum(['hex', 'base64']).default('hex'),
        /** What stands before the digest in the header, such as `sha256=`. */
        prefix: z.string().default(''),
      }),
    }),
  ],
  'must be { "query", "value" }, { "header", "value" }, { "basic" } or { "hmac" }',
);

/** How delivery receipts are read. Paths are JSON pointers, also into the fields of a query or form. */
export const receiptSettings = z.strictObject({
  authorization,
  method: z.enum(['GET', 'POST']),
  from: z.enum(['query', 'json', 'form']),
  /** A list of receipts in one request; without it a request is one receipt. */
  items: path.optional(),
  id: path,
  status: path,
  /** The gateway's states by their names; `ignored` ones say nothing new. */
  states: z.record(text, z.enum(['sent', 'delivered', 'failed', 'ignored'])),
  reason: path.optional(),
});

/** A request that sends no message, and the statuses that say that the credentials are good: 200 to 299 when absent. */
export const checkSettings = requestSettings
  .pick({ url: true, headers: true, basic: true, query: true })
  .extend({ method: z.enum(['GET', 'POST']).default('GET'), status: statuses.optional() });

export type RequestOptions = z.output<typeof requestSettings>;
export type EncodingOptions = z.output<typeof encodingSettings>;
export type ResponseFormat = z.output<typeof responseSettings>;
export type SuccessOptions = z.output<typeof successSettings>;
export type ErrorOptions = z.output<typeof errorSettings>;
export type ReceiptOptions = z.output<typeof receiptSettings>;

/** Whether receipts come under an id of ours: the response of the gateway names none. */
export function areIdsOurs({ id, ids }: SuccessOptions): boolean {
  return id === undefined && ids === undefined;
}
