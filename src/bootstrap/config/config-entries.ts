import { z } from 'zod';
import { egressRules } from '../../adapters/egress/webhooks/egress-rules.ts';
import { hasAllAddresses, isNetwork } from '../../adapters/http/routing/ip-allow-list.ts';
import { LOCK_TIMEOUT_MS } from '../../adapters/knex/postgres/postgres-dialect.ts';
import { messageOf } from '../../application/errors/error-text.ts';
import { headerList } from './header-list.ts';

/** A name of the configuration, as the table in docs/configuration.md lists it. */
export interface ConfigEntry {
  readonly name: string;
  readonly fallback: string;
  readonly description: string;
}

export const SECRET_KEY_BYTES = 32;
const SECRET_KEY_HEX_CHARACTERS = 2 * SECRET_KEY_BYTES;
export const SECRET_KEY_FORM = `${SECRET_KEY_HEX_CHARACTERS} hex characters`;
export const SECRET_KEY_PATTERN = new RegExp(`^[0-9a-fA-F]{${SECRET_KEY_HEX_CHARACTERS}}$`);

const ADMIN_TOKEN_CHARACTERS_MIN = 32;
const ADMIN_TOKEN_PATTERN = new RegExp(`^[!-~]{${ADMIN_TOKEN_CHARACTERS_MIN},1000}$`);

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** Checked by the rules of the egress guard, which rejects a range so wide that it would switch the guard off. */
const cidrRange = z.string().superRefine((range, context) => {
  try {
    egressRules([range]);
  } catch (error) {
    context.addIssue(messageOf(error));
  }
});

/** A trusted proxy may say that a request comes from any address. */
const proxies = z
  .string()
  .refine(isNetwork, 'must be addresses or CIDR ranges, such as 10.0.0.5,192.168.0.0/24')
  .refine((entry) => !hasAllAddresses(entry), 'must not be a range of all addresses');

const database = z.string().transform((url, context): string => {
  if (/^sqlite:./.test(url) || (/^postgres(ql)?:\/\/./.test(url) && URL.canParse(url))) return url;
  context.addIssue({
    code: 'custom',
    message: 'must be sqlite:PATH, sqlite::memory: or postgres://user:password@host/database',
  });
  return z.NEVER;
});

/** Checked as the broker's client reads it: what it cannot read would look like a broker that is away. */
const queue = z
  .string()
  .refine(
    (url) => url === '' || (/^amqps?:\/\//.test(url) && URL.canParse(url) && new URL(url).hostname !== ''),
    'must be empty or amqp://user:password@host',
  );

const provider = z
  .enum(
    ['', 'simulator'],
    'must be simulator (a staging system, nothing is sent) or empty; channel providers are in CHANNELS_FILE',
  )
  .transform((kind) => (kind === '' ? null : kind));

const oneWord = z.string().regex(/^\S*$/, 'must not contain blanks');

/** The name of a bucket, and a prefix of what S3 takes in a key without encoding. */
export const BUCKET_URL =
  /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<prefix>[\w-][\w.-]*(?:\/[\w-][\w.-]*)*))?\/?$/;

/** Every name, its default and its rule, in one place; docs/configuration.md is checked against it. */
export const ENTRIES = {
  PORT: {
    fallback: '3000',
    description: 'port of the HTTP interface; 0 takes a free one, and so does a worker without `PORT`',
    schema: wholeNumber(0, 65_535),
  },
  HOST: { fallback: '127.0.0.1', description: 'address it listens on', schema: z.string().min(1) },
  ROLE: {
    fallback: 'all',
    description: '`all`, `api` or `worker`; the last two need PostgreSQL',
    schema: z.enum(['all', 'api', 'worker'], 'must be all, api or worker'),
  },
  DATABASE_URL: {
    fallback: 'sqlite:./data/barid.db',
    description: '`sqlite:PATH`, `sqlite::memory:` or `postgres://…`',
    schema: database,
  },
  DATABASE_POOL_SIZE: {
    fallback: '10',
    description: 'PostgreSQL connections of one process',
    schema: wholeNumber(2, 200),
  },
  DATABASE_STATEMENT_TIMEOUT_MS: {
    fallback: '5000',
    description: 'the longest one PostgreSQL statement may take',
    schema: wholeNumber(2 * LOCK_TIMEOUT_MS, 600_000),
  },
  QUEUE_URL: {
    fallback: '',
    description: '`amqp://…` or `amqps://…`; empty for the queue inside the process',
    schema: queue,
  },
  QUEUE_PREFIX: {
    fallback: 'barid',
    description: 'what the names on RabbitMQ begin with, so that several installations can share a broker',
    schema: z
      .string()
      .regex(/^[a-z0-9._-]{1,60}$/, 'must be 1 to 60 of a-z, 0-9, dot, hyphen and underscore'),
  },
  CHANNELS_FILE: {
    fallback: '',
    description:
      'JSON file of the channel providers of live projects, see [channels](channels.md); a channel that is not in it has none',
    schema: z.string(),
  },
  SMS_PROVIDER: {
    fallback: '',
    description:
      '`simulator` on a staging system, where sms of live projects are accepted and not sent; empty: as `CHANNELS_FILE` says',
    schema: provider,
  },
  WHATSAPP_PROVIDER: { fallback: '', description: 'the same for whatsapp', schema: provider },
  TELEGRAM_PROVIDER: { fallback: '', description: 'the same for telegram', schema: provider },
  SECRET_KEY: {
    fallback: '',
    description: `${SECRET_KEY_FORM} that API keys are hashed and webhook secrets encrypted with; made and stored in \`./data\` (beside the SQLite file) when empty`,
    schema: z
      .string()
      .refine((text) => text === '' || SECRET_KEY_PATTERN.test(text), `must be ${SECRET_KEY_FORM}`),
  },
  ADMIN_TOKEN: {
    fallback: '',
    description: `token of the [admin interface](admin.md), at least ${ADMIN_TOKEN_CHARACTERS_MIN} visible ASCII characters; empty: there is none`,
    schema: z
      .string()
      .refine(
        (text) => text === '' || ADMIN_TOKEN_PATTERN.test(text),
        `must be at least ${ADMIN_TOKEN_CHARACTERS_MIN} visible ASCII characters, such as the output of openssl rand -hex 32`,
      ),
  },
  SEED_FILE: {
    fallback: '',
    description: 'JSON file applied to an empty database; empty for the demo, `none` for nothing',
    schema: z.string(),
  },
  EGRESS_ALLOW: {
    fallback: '',
    description: 'CIDR ranges webhooks may reach although they are not public',
    schema: list.pipe(z.array(cidrRange)),
  },
  EGRESS_PORTS: {
    fallback: '443',
    description: 'ports webhooks may go to',
    schema: list.pipe(z.array(wholeNumber(1, 65_535))),
  },
  TRUSTED_PROXIES: {
    fallback: '',
    description: 'addresses or CIDR ranges of proxies whose `X-Forwarded-For` is believed',
    schema: list.pipe(z.array(proxies)),
  },
  REPORTS_DIR: {
    fallback: '',
    description:
      'directory of the report files, shared by all processes of an installation; when empty, `reports` beside the SQLite file, or in `./data`',
    schema: z.string(),
  },
  REPORTS_BUCKET_URL: {
    fallback: '',
    description:
      '`s3://bucket` or `s3://bucket/prefix`: an S3-compatible bucket of the report files, in place of a directory',
    schema: z
      .string()
      .refine((text) => text === '' || BUCKET_URL.test(text), 'must be s3://bucket or s3://bucket/prefix'),
  },
  S3_ENDPOINT: {
    fallback: '',
    description:
      'where the bucket is, such as `https://s3.example.com`; when empty, Amazon S3 in `S3_REGION`',
    schema: z
      .string()
      .refine(
        (text) => text === '' || isOrigin(text),
        'must be an http or https URL without a path, such as https://s3.example.com',
      )
      .transform((text) => text.replace(/\/$/, '')),
  },
  S3_REGION: {
    fallback: 'us-east-1',
    description: 'region of the bucket; many servers other than Amazon S3 take any',
    schema: z.string().regex(/^[A-Za-z0-9-]{1,60}$/, 'must be a region, such as eu-central-1'),
  },
  S3_PATH_STYLE: {
    fallback: '',
    description:
      '`on`: the bucket is in the path of a request; `off`: in the host name; when empty, `on` with `S3_ENDPOINT` and `off` without',
    schema: z.enum(['', 'on', 'off'], 'must be on, off or empty'),
  },
  S3_ACCESS_KEY_ID: { fallback: '', description: 'access key of the bucket', schema: oneWord },
  S3_SECRET_ACCESS_KEY: { fallback: '', description: 'secret of the access key', schema: oneWord },
  PUBLIC_URL: {
    fallback: '',
    description:
      'what links to report files begin with, such as `https://sms.example.com`; when empty, the host of each request',
    schema: z
      .string()
      .refine((text) => text === '' || isPublicUrl(text), 'must be an http or https URL without a query')
      .transform((text) => text.replace(/\/+$/, '')),
  },
  CAMPAIGN_LIMITS: {
    fallback: 'on',
    description:
      '`on`: campaigns keep the sending rate and the daily limit that the platform sets; `off`: they send all at once',
    schema: z.enum(['on', 'off'], 'must be on or off'),
  },
  METRICS_PORT: {
    fallback: '',
    description:
      'port of [`/metrics`](monitoring.md), on a listener of its own; 0 takes a free one; empty: there is none',
    schema: z
      .literal('')
      .transform(() => null)
      .or(wholeNumber(0, 65_535)),
  },
  METRICS_HOST: {
    fallback: '127.0.0.1',
    description: 'address that `/metrics` listens on',
    schema: z.string().min(1),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    fallback: '',
    description:
      'where [traces](monitoring.md#traces) go by OTLP over HTTP, such as `http://127.0.0.1:4318`; empty: there are none',
    schema: z
      .string()
      .refine((text) => text === '' || isPublicUrl(text), 'must be an http or https URL without a query'),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    fallback: '',
    description:
      'headers for the receiver of traces, such as `Authorization=Bearer%20a-token`; several are separated by commas, and their values are percent-encoded',
    schema: headerList,
  },
  LOG_LEVEL: {
    fallback: 'info',
    description: '`debug`, `info`, `warn`, `error` or `silent`',
    schema: z.enum(
      ['debug', 'info', 'warn', 'error', 'silent'],
      'must be debug, info, warn, error or silent',
    ),
  },
} as const satisfies Record<string, { fallback: string; description: string; schema: z.ZodType }>;

function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, search, hash, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && search + hash + username + password === '';
}

function isOrigin(text: string): boolean {
  return isPublicUrl(text) && new URL(text).pathname === '/' && new URL(text).password === '';
}

/** A name of the configuration. */
export type Name = keyof typeof ENTRIES;
/** What the environment says, with every value checked by its schema. */
export type Parsed = { readonly [Key in Name]: z.output<(typeof ENTRIES)[Key]['schema']> };

/** Secrets may also come from a file named by the same name with `_FILE`. */
export const FROM_FILE: ReadonlySet<string> = new Set([
  'DATABASE_URL',
  'QUEUE_URL',
  'SECRET_KEY',
  'ADMIN_TOKEN',
  'S3_SECRET_ACCESS_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
]);

/** Every name with its default and description, in the order of the table in docs/configuration.md. */
export function configEntries(): readonly ConfigEntry[] {
  return Object.entries(ENTRIES).map(([name, { fallback, description }]) => ({
    name,
    fallback,
    description,
  }));
}

/** Every variable that is read, those that name a file with a secret among them. */
export function configNames(): readonly string[] {
  return Object.keys(ENTRIES).flatMap((name) => (FROM_FILE.has(name) ? [name, `${name}_FILE`] : [name]));
}
