import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { isNetwork } from '../adapters/http/routing/ip-allow-list.ts';
import type { DatabaseConfig } from '../adapters/knex/database.ts';
import type { BucketConfig } from '../adapters/s3/bucket-report-files.ts';
import { egressRules } from '../adapters/undici/egress-rules.ts';
import { CHANNELS, type Channel } from '../domain/shared/channel.ts';
import { ChannelsFileError, type ProvidersConfig, readChannelsFile, simulated } from './channels-file.ts';
import type { EgressConfig } from './egress-config.ts';

/** One thing wrong with the configuration: which name, and what to write instead. */
export interface ConfigMistake {
  readonly name: string;
  readonly problem: string;
}

/** The configuration cannot be used; every mistake is listed, and the process ends with exit code 78. */
export class ConfigError extends Error {
  readonly mistakes: readonly ConfigMistake[];

  constructor(mistakes: readonly ConfigMistake[]) {
    super(mistakes.map(({ name, problem }) => `${name}: ${problem}`).join('\n'));
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}

export type QueueConfig =
  | { readonly kind: 'memory' }
  | { readonly kind: 'rabbitmq'; readonly url: string; readonly prefix: string };

/** Where the files of reports are. */
export type ReportsConfig =
  | { readonly kind: 'memory' }
  | { readonly kind: 'directory'; readonly directory: string }
  | ({ readonly kind: 'bucket' } & BucketConfig);

export type Role = 'all' | 'api' | 'worker';

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly role: Role;
  readonly database: DatabaseConfig;
  readonly queue: QueueConfig;
  readonly secretKey: string | null;
  readonly seedFile: string | null;
  /** Null when there is no admin interface. */
  readonly adminToken: string | null;
  readonly providers: ProvidersConfig;
  readonly egress: EgressConfig;
  readonly reports: ReportsConfig;
  /** What links to this service begin with; null for the host of each request. */
  readonly publicUrl: string | null;
  /** Addresses or ranges of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Whether campaigns keep the sending rate and the daily limit of the platform. */
  readonly campaignLimits: boolean;
  readonly logLevel: string;
}

/** A name of the configuration, as the table in docs/configuration.md lists it. */
export interface ConfigEntry {
  readonly name: string;
  readonly fallback: string;
  readonly description: string;
}

export const IN_MEMORY_SQLITE = ':memory:';
/** Where an installation without a SQLite file has its files. */
export const DATA_FOLDER = './data';
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
    context.addIssue(error instanceof Error ? error.message : String(error));
  }
});

/** A trusted proxy may say that a request comes from any address. */
const proxies = z
  .string()
  .refine(isNetwork, 'must be addresses or CIDR ranges, such as 10.0.0.5,192.168.0.0/24')
  .refine((entry) => !/\/0+$/.test(entry), 'must not be a range of all addresses');

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
const BUCKET_URL =
  /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<prefix>[\w-][\w.-]*(?:\/[\w-][\w.-]*)*))?\/?$/;

/** Every name, its default and its rule, in one place; docs/configuration.md is checked against it. */
const ENTRIES = {
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
    schema: wholeNumber(100, 600_000),
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
    description: 'JSON file applied to an empty database; empty for the demo',
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

type Name = keyof typeof ENTRIES;
type Parsed = { readonly [Key in Name]: z.output<(typeof ENTRIES)[Key]['schema']> };

const SIMULATED_BY = {
  sms: 'SMS_PROVIDER',
  whatsapp: 'WHATSAPP_PROVIDER',
  telegram: 'TELEGRAM_PROVIDER',
} as const satisfies Record<Channel, Name>;

/** A worker needs no fixed port: it must not take the one of an api process on the same machine. */
const WORKER_PORT = '0';

/** Secrets may also come from a file named by the same name with `_FILE`. */
const FROM_FILE: ReadonlySet<string> = new Set([
  'DATABASE_URL',
  'QUEUE_URL',
  'SECRET_KEY',
  'ADMIN_TOKEN',
  'S3_SECRET_ACCESS_KEY',
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

/** Reads the environment once. Throws `ConfigError` with one line per mistake. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const mistakes: ConfigMistake[] = [];
  const parsed: Partial<Record<Name, unknown>> = {};
  for (const [name, { schema }] of Object.entries(ENTRIES) as [Name, (typeof ENTRIES)[Name]][]) {
    try {
      const result = schema.safeParse(rawValue(environment, name) ?? fallbackOf(name, environment));
      if (result.success) parsed[name] = result.data;
      else mistakes.push({ name, problem: result.error.issues[0]?.message ?? 'is not valid' });
    } catch (error) {
      mistakes.push({
        name: `${name}_FILE`,
        problem: error instanceof Error ? error.message : String(error),
      });
    }
  }
  const channelsFile = channelsFileAt(String(parsed.CHANNELS_FILE ?? ''), environment, mistakes);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  const config = assemble(parsed as Parsed, channelsFile);
  const contradicting = [
    ...contradictions(config),
    ...bucketContradictions(parsed as Parsed),
    ...channelContradictions(parsed as Parsed, channelsFile),
  ];
  if (contradicting.length > 0) throw new ConfigError(contradicting);
  return Object.freeze(config);
}

function rawValue(
  environment: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
  const file = FROM_FILE.has(name) ? environment[`${name}_FILE`] : undefined;
  if (file !== undefined && file !== '') return readFileSync(file, 'utf8').trim();
  const value = environment[name];
  return value === '' ? undefined : value;
}

function fallbackOf(name: Name, environment: Readonly<Record<string, string | undefined>>): string {
  return name === 'PORT' && environment.ROLE === 'worker' ? WORKER_PORT : ENTRIES[name].fallback;
}

/** Null without a channels file. */
function channelsFileAt(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
  mistakes: ConfigMistake[],
): ProvidersConfig | null {
  try {
    return path === '' ? null : readChannelsFile(path, environment);
  } catch (error) {
    if (!(error instanceof ChannelsFileError)) throw error;
    mistakes.push({ name: 'CHANNELS_FILE', problem: error.message });
    return null;
  }
}

function assemble(parsed: Parsed, channelsFile: ProvidersConfig | null): Config {
  const url = parsed.DATABASE_URL;
  return {
    host: parsed.HOST,
    port: parsed.PORT,
    role: parsed.ROLE,
    database: url.startsWith('sqlite:')
      ? { kind: 'sqlite', filename: url.slice('sqlite:'.length) }
      : {
          kind: 'postgres',
          url,
          poolSize: parsed.DATABASE_POOL_SIZE,
          statementTimeoutMs: parsed.DATABASE_STATEMENT_TIMEOUT_MS,
        },
    queue:
      parsed.QUEUE_URL === ''
        ? { kind: 'memory' }
        : { kind: 'rabbitmq', url: parsed.QUEUE_URL, prefix: parsed.QUEUE_PREFIX },
    secretKey: parsed.SECRET_KEY === '' ? null : parsed.SECRET_KEY,
    adminToken: parsed.ADMIN_TOKEN === '' ? null : parsed.ADMIN_TOKEN,
    seedFile: parsed.SEED_FILE === '' ? null : parsed.SEED_FILE,
    providers: providersOf(parsed, channelsFile),
    egress: { allow: parsed.EGRESS_ALLOW, ports: parsed.EGRESS_PORTS },
    reports: reportsOf(parsed),
    publicUrl: parsed.PUBLIC_URL === '' ? null : parsed.PUBLIC_URL,
    trustedProxies: parsed.TRUSTED_PROXIES,
    campaignLimits: parsed.CAMPAIGN_LIMITS === 'on',
    logLevel: parsed.LOG_LEVEL,
  };
}

/** Reports lie in the bucket or beside the database; those of one in memory end with it. */
function reportsOf(parsed: Parsed): ReportsConfig {
  const { REPORTS_DIR: directory, DATABASE_URL: url } = parsed;
  const { bucket, prefix = '' } = BUCKET_URL.exec(parsed.REPORTS_BUCKET_URL)?.groups ?? {};
  if (bucket !== undefined) {
    const { S3_ENDPOINT: endpoint, S3_REGION: region, S3_PATH_STYLE: style } = parsed;
    return {
      kind: 'bucket',
      bucket,
      prefix,
      endpoint: endpoint === '' ? `https://s3.${region}.amazonaws.com` : endpoint,
      region,
      pathStyle: style === '' ? endpoint !== '' : style === 'on',
      accessKeyId: parsed.S3_ACCESS_KEY_ID,
      secretAccessKey: parsed.S3_SECRET_ACCESS_KEY,
    };
  }
  if (directory !== '') return { kind: 'directory', directory };
  const filename = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : null;
  if (filename === IN_MEMORY_SQLITE) return { kind: 'memory' };
  return {
    kind: 'directory',
    directory: join(filename === null ? DATA_FOLDER : dirname(filename), 'reports'),
  };
}

/** A channel is on the simulator, or as the channels file says; null for a channel that live projects do not have. */
function providersOf(parsed: Parsed, file: ProvidersConfig | null): ProvidersConfig {
  return {
    sms: parsed.SMS_PROVIDER === null ? (file?.sms ?? null) : simulated(),
    whatsapp: parsed.WHATSAPP_PROVIDER === null ? (file?.whatsapp ?? null) : simulated(),
    telegram: parsed.TELEGRAM_PROVIDER === null ? (file?.telegram ?? null) : simulated(),
  };
}

function contradictions({ role, database }: Config): readonly ConfigMistake[] {
  const mistakes: ConfigMistake[] = [];
  if (role !== 'all' && database.kind === 'sqlite') {
    mistakes.push({
      name: 'ROLE',
      problem: `${role} needs a database that several processes can share; set DATABASE_URL=postgres://… or ROLE=all`,
    });
  }
  return mistakes;
}

function channelContradictions(parsed: Parsed, file: ProvidersConfig | null): readonly ConfigMistake[] {
  const both = CHANNELS.filter(
    (channel) => parsed[SIMULATED_BY[channel]] !== null && (file?.[channel] ?? null) !== null,
  );
  return both.map((channel) => ({
    name: SIMULATED_BY[channel],
    problem: `excludes ${channel} in CHANNELS_FILE; leave one of the two out`,
  }));
}

/** Settings of a bucket without a bucket would leave the reports in a directory, and say so to nobody. */
function bucketContradictions(parsed: Parsed): readonly ConfigMistake[] {
  const keys = ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const;
  if (parsed.REPORTS_BUCKET_URL === '') {
    return (['S3_ENDPOINT', 'S3_PATH_STYLE', ...keys] as const)
      .filter((name) => parsed[name] !== '')
      .map((name) => ({
        name,
        problem: 'needs a bucket; set REPORTS_BUCKET_URL=s3://… or leave it empty',
      }));
  }
  const missing = keys.filter((name) => parsed[name] === '');
  return [
    ...(parsed.REPORTS_DIR === ''
      ? []
      : [{ name: 'REPORTS_BUCKET_URL', problem: 'excludes REPORTS_DIR; leave one of the two empty' }]),
    ...missing.map((name) => ({ name, problem: 'must be set for REPORTS_BUCKET_URL' })),
  ];
}
