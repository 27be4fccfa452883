import fc from 'fast-check';
import type { OpenApi } from '../../src/adapters/http/openapi/open-api.ts';
import { type DocumentedOperation, operationsOf, type Parameter } from './operations.ts';
import { asWritten, SchemaValues } from './schema-values.ts';

/** What a reply can name, and a later request can use. */
export const KINDS = [
  'message',
  'campaign',
  'template',
  'templateName',
  'templateParameters',
  'whatsappNumber',
  'whatsappAccount',
  'senderId',
  'webhookUrl',
  'reportFile',
] as const;
export type Kind = (typeof KINDS)[number];

/** Stands in a request for something from an earlier reply: the nth newest, of the calling project or of the other one. */
export class Reference {
  readonly kind: Kind;
  readonly of: 'own' | 'other' | 'unknown';
  readonly nth: number;

  constructor(kind: Kind, of: Reference['of'], nth: number) {
    this.kind = kind;
    this.of = of;
    this.nth = nth;
  }
}

export const PATH_TRICKS = [
  'escaped',
  'escaped twice',
  'upper case',
  'broken escape',
  'bytes that are not UTF-8',
  'NUL',
  'dots',
  'slash behind',
  'two slashes',
  'very long',
  'upper-case path',
] as const;
export const BODY_TRICKS = [
  'cut',
  'more behind',
  'byte order mark',
  'UTF-16',
  'bytes that are not UTF-8',
  'overlong UTF-8',
  'surrogates in UTF-8',
  'compressed',
  'compressed only by its header',
  'form type',
  'text type',
  'no type',
  'type of another charset',
  'type in upper case',
  'type with parameters',
  'as large as allowed',
  'too large',
  'equal keys',
  'empty',
  'in a list',
  'chunked',
  'comment',
] as const;
export type PathTrick = (typeof PATH_TRICKS)[number];
export type BodyTrick = (typeof BODY_TRICKS)[number];

export interface RequestAction {
  readonly kind: 'request';
  readonly operation: DocumentedOperation;
  readonly caller: number;
  readonly method: string;
  readonly prefix: string;
  readonly path: Readonly<Record<string, unknown>>;
  readonly pathTrick: PathTrick | null;
  readonly query: readonly (readonly [name: string, value: unknown])[];
  /** Goes behind the query as it is. */
  readonly rawQuery: string;
  /** Null sends the key of the caller. */
  readonly authorization: string | null;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Undefined sends none. */
  readonly body: unknown;
  readonly bodyTrick: BodyTrick | null;
  /** Whether everything the interface shows is compared before and after, when the request is rejected. */
  readonly comparesState: boolean;
}

/** Moves the clock. */
export interface AdvanceAction {
  readonly kind: 'advance';
  readonly ms: number;
}

/** The same request twice, once with fields that are none of the request: what is read back must be the same. */
export interface TwinAction {
  readonly kind: 'twins';
  readonly operation: DocumentedOperation;
  readonly caller: number;
  readonly body: unknown;
  /** Into the body, and into the first recipient of one that has any. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** What the two campaigns are created with, when the operation is about one. */
  readonly campaign: unknown;
}

export type Action = RequestAction | AdvanceAction | TwinAction;

export const PROJECTS = 2;

/** The names of fields and parameters that take something from an earlier reply; the document does not say it. */
const KIND_BY_NAME: Readonly<Record<string, Kind>> = {
  smsId: 'message',
  _id: 'campaign',
  campaignId: 'campaign',
  templateId: 'template',
  templateName: 'templateName',
  templateParameters: 'templateParameters',
  phoneNumberId: 'whatsappNumber',
  whatsappPhoneId: 'whatsappNumber',
  whatsappAccountId: 'whatsappAccount',
  senderId: 'senderId',
  webhookUrl: 'webhookUrl',
  fileId: 'reportFile',
};
/** In paths of callbacks: the one that the service has, and another. A body has other providers. */
const PROVIDERS = fc.constantFrom('meta', 'meta', 'another');

/** The newest are named most often. */
const NTH = [0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 5];

/** Of every outcome but the slow reply and the limit that counts requests. */
const OUTCOMES = [
  ...[
    '0001',
    '0002',
    '0003',
    '0004',
    '0005',
    '0006',
    '0007',
    '0009',
    '0010',
    '0011',
    '0012',
    '0013',
    '0014',
    '0015',
  ],
  ...['0202', '0204', '0301', '0302'],
];
const PHONE_NUMBERS = [
  ...OUTCOMES.map((outcome) => `999000001${outcome}`),
  ...Array.from({ length: 30 }, (_, n) => `96477012345${10 + n}`),
  ...['9647501234567', '07701234567', '009647701234567', '905321234567'],
];
const ODD_PHONE_NUMBERS = [
  ...['0101', '0102', '0103', '0104', '0105', '0106', '0108', '0110', '0201'].map(
    (outcome) => `999000001${outcome}`,
  ),
  ...['14155550123', '9990000000', '000000000000000'],
];
const IDEMPOTENCY_KEYS = ['key-1', 'key-2', 'key-3', 'k'.repeat(255)];
const PREFERENCES = [
  'handling=strict',
  'handling=lenient',
  'respond-async, handling="strict"',
  'return=minimal',
];
const BROKEN_HEADERS: readonly (string | readonly string[])[] = [
  '',
  ' ',
  'two words',
  'caf\u00e9',
  '\t',
  '"',
  'x'.repeat(256),
  'x'.repeat(4_000),
  ['one', 'two'],
  '__proto__',
];
const ODD_HEADERS: readonly (readonly [string, string | readonly string[]])[] = [
  ['X-Request-Id', '<b>'],
  ['X-Request-Id', 'x'.repeat(129)],
  ['X-Request-Id', 'mine'],
  ['Accept', 'text/html'],
  ['Accept-Encoding', 'gzip, br;q=0'],
  ['X-Forwarded-For', '10.0.0.1, ::1, x'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['Range', 'bytes=0-1'],
  ['If-None-Match', '*'],
  ['If-Modified-Since', 'never'],
  ['Cookie', 'a=b; a=c'],
  ['Expect', 'tea'],
  ['Upgrade', 'h2c'],
  ['Transfer-Encoding', 'gzip, chunked'],
  ['X-Large', 'x'.repeat(17_000)],
];
const RAW_QUERIES = [
  '&',
  '=',
  '&=&',
  'page=1&page=2',
  'limit[]=1',
  'limit=%ff',
  'page=%00',
  'x=%',
  'a=1#b',
  '_id[$ne]=1',
  '__proto__=1',
  'limit=+1',
  `x=${'x'.repeat(8_000)}`,
];
const CREDENTIALS = [
  '',
  'Bearer',
  'Bearer sk_dev_unknown',
  `Bearer sk_live_${'0'.repeat(40)}`,
  `Bearer ${'x'.repeat(2_000)}`,
  'Basic eDp4',
  'Bearer caf\u00e9',
];
const OTHER_METHODS = ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'POST', 'GET'];
const DELAYS_MS = [0, 100, 1_000, 60_000, 3_600_000];
/** Names that no schema has, and those that JavaScript itself uses. */
const FOREIGN_FIELDS: Readonly<Record<string, unknown>> = {
  projectId: '0'.repeat(24),
  isAdmin: true,
  constructor: { prototype: { x: 1 } },
  toString: 'x',
  cost: 0,
  credit: 1_000_000,
  'x\u0000': asWritten('1e999'),
};

const existing = (name: string): fc.Arbitrary<unknown> | null => {
  const kind = Object.hasOwn(KIND_BY_NAME, name) ? KIND_BY_NAME[name] : undefined;
  if (kind !== undefined) return references(kind);
  if (name === 'phoneNumber') {
    return fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...PHONE_NUMBERS) },
      { weight: 1, arbitrary: fc.constantFrom(...ODD_PHONE_NUMBERS) },
    );
  }
  if (name === 'Idempotency-Key') return fc.constantFrom(...IDEMPOTENCY_KEYS);
  return name === 'Prefer' ? fc.constantFrom(...PREFERENCES) : null;
};

function references(kind: Kind): fc.Arbitrary<Reference> {
  const of = fc.oneof(
    { weight: 24, arbitrary: fc.constant('own' as const) },
    { weight: 2, arbitrary: fc.constant('other' as const) },
    { weight: 1, arbitrary: fc.constant('unknown' as const) },
  );
  return fc
    .record({ of, nth: fc.constantFrom(...NTH) })
    .map(({ of: owner, nth }) => new Reference(kind, owner, nth));
}

/** What is sent to a service, in which order: whole sequences of requests, moves of the clock, and twins. */
export function actionsOf(document: OpenApi): fc.Arbitrary<Action> {
  const values = new SchemaValues(document, existing);
  const operations = operationsOf(document);
  const requests = operations.map((operation) => ({
    weight: weightOf(operation),
    arbitrary: requestOf(operation, values),
  }));
  const twins = operations
    .filter(({ body }) => body !== null)
    .map((operation) => twinsOf(operation, operations, values));
  const advances = fc.constantFrom(...DELAYS_MS).map((ms) => ({ kind: 'advance' as const, ms }));
  return fc.oneof(
    { weight: 36, arbitrary: fc.oneof(...requests) },
    { weight: 1, arbitrary: fc.oneof(...twins) },
    { weight: 1, arbitrary: advances },
  );
}

/** Operations that change something have more ways to go wrong. */
function weightOf({ body, path, method }: DocumentedOperation): number {
  if (body !== null) return 6;
  if (path.includes('{')) return method === 'DELETE' ? 1 : 3;
  return 1;
}

const rarely = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> =>
  fc.oneof({ weight, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });

/** Requests to one operation: mostly well formed, with an odd header, path or body now and then. */
export function requestOf(operation: DocumentedOperation, values: SchemaValues): fc.Arbitrary<Action> {
  const ofPlace = (place: Parameter['in']) => operation.parameters.filter((each) => each.in === place);
  const path = Object.fromEntries(
    ofPlace('path').map(({ name, schema }) => [
      name,
      fc.oneof(
        { weight: 20, arbitrary: name === 'provider' ? PROVIDERS : values.fitting(schema, name) },
        { weight: 1, arbitrary: values.breaking(schema, name) },
      ),
    ]),
  );
  const query = ofPlace('query').map(({ name, schema }) =>
    fc
      .oneof(
        { weight: 12, arbitrary: fc.constant(undefined) },
        { weight: 5, arbitrary: values.fitting(schema, name) },
        { weight: 1, arbitrary: values.breaking(schema, name) },
      )
      .map((value): readonly (readonly [string, unknown])[] => (value === undefined ? [] : [[name, value]])),
  );
  const headers = ofPlace('header').map(({ name, schema }) =>
    fc
      .oneof(
        { weight: 16, arbitrary: fc.constant(undefined) },
        { weight: 4, arbitrary: values.fitting(schema, name) as fc.Arbitrary<string> },
        { weight: 1, arbitrary: fc.constantFrom(...BROKEN_HEADERS) },
      )
      .map((value) => (value === undefined ? {} : { [name]: value })),
  );
  const odd = rarely(20, fc.constantFrom(...ODD_HEADERS)).map((header) =>
    header === null ? {} : { [header[0]]: header[1] },
  );
  return fc
    .record({
      caller: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
      method: rarely(40, fc.constantFrom(...OTHER_METHODS)).map((other) => other ?? operation.method),
      prefix: fc.constantFrom('', '/api'),
      path: fc.record(path),
      pathTrick: rarely(30, fc.constantFrom(...PATH_TRICKS)),
      query: fc.tuple(...query).map((pairs) => pairs.flat()),
      rawQuery: rarely(30, fc.constantFrom(...RAW_QUERIES)).map((raw) => raw ?? ''),
      authorization: rarely(30, fc.constantFrom(...CREDENTIALS)),
      headers: fc
        .tuple(odd, ...headers)
        .map((given) => Object.assign({}, ...given) as RequestAction['headers']),
      body: bodyOf(operation, values),
      bodyTrick: operation.body === null ? fc.constant(null) : rarely(12, fc.constantFrom(...BODY_TRICKS)),
      comparesState: rarely(15, fc.constant(true)).map((compares) => compares ?? false),
    })
    .map((given) => described({ kind: 'request', operation, ...given }));
}

function bodyOf({ body }: DocumentedOperation, values: SchemaValues): fc.Arbitrary<unknown> {
  if (body === null)
    return rarely(20, fc.constantFrom<unknown>({}, { x: 1 }, 'x')).map((sent) => sent ?? undefined);
  const fitting = values.fitting(body);
  const withMore = fc
    .tuple(fitting, fc.subarray(Object.entries(FOREIGN_FIELDS), { minLength: 1 }))
    .map(([value, more]) => ({ ...Object(value), ...Object.fromEntries(more) }));
  return fc.oneof(
    { weight: 12, arbitrary: fitting },
    { weight: 5, arbitrary: values.breaking(body) },
    { weight: 1, arbitrary: withMore },
  );
}

/** With fields that the reply has, at any depth, and the request has not. */
function twinsOf(
  operation: DocumentedOperation,
  operations: readonly DocumentedOperation[],
  values: SchemaValues,
): fc.Arbitrary<Action> {
  const body = operation.body ?? {};
  const requested = namesOf(body, values);
  const readOnly = Object.entries(fieldsOf(operation.reply ?? {}, values)).filter(
    ([name, schema]) => !requested.has(name) && isScalar(values.resolve(schema)),
  );
  const extra = fc
    .tuple(
      fc.record(Object.fromEntries(readOnly.map(([name, schema]) => [name, values.fitting(schema)]))),
      fc.subarray([...readOnly.map(([name]) => name), ...Object.keys(FOREIGN_FIELDS)], { minLength: 1 }),
    )
    .map(([fields, names]) =>
      Object.fromEntries(
        names.map((name) => [name, Object.hasOwn(fields, name) ? fields[name] : FOREIGN_FIELDS[name]]),
      ),
    );
  const creator = operations.find(
    (each) => each.method === 'POST' && operation.path.startsWith(`${each.path}/{`),
  );
  return fc
    .record({
      caller: fc.nat({ max: PROJECTS - 1 }),
      body: values.fitting(body),
      extra,
      campaign: creator?.body ? values.fitting(creator.body) : fc.constant(null),
    })
    .map((given) => described({ kind: 'twins', operation, ...given }));
}

type Schema = Parameters<SchemaValues['fitting']>[0];

function namesOf(schema: Schema, values: SchemaValues): ReadonlySet<string> {
  return new Set(Object.keys(fieldsOf(schema, values)));
}

function isScalar({ type }: Schema): boolean {
  return type !== 'object' && type !== 'array';
}

/** The fields of a schema and of all that it holds, by name. */
function fieldsOf(given: Schema, values: SchemaValues): Readonly<Record<string, Schema>> {
  const schema = values.resolve(given);
  const {
    properties = {},
    items,
    anyOf = [],
    oneOf = [],
  } = schema as {
    properties?: Record<string, Schema>;
    items?: Schema;
    anyOf?: Schema[];
    oneOf?: Schema[];
  };
  const inside = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...anyOf, ...oneOf];
  return Object.assign({}, ...inside.map((each) => fieldsOf(each, values)), properties);
}

/** The action as a failure prints it: without the schemas of its operation. */
function described(action: Action): Action {
  const description = (): string => {
    const { operation, ...rest } = action as RequestAction | TwinAction;
    return fc.stringify({ operation: operation.id, ...rest });
  };
  return Object.defineProperty({ ...action }, fc.toStringMethod, { value: description });
}
