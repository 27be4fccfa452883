import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseConfig } from '../../adapters/knex/database.ts';
import { sqliteFileOf } from '../../adapters/knex/sqlite/file/sqlite-file.ts';
import type { BucketConfig } from '../../adapters/s3/bucket-report-files.ts';
import { messageOf } from '../../application/errors/error-text.ts';
import { byName } from '../../domain/shared/by-name.ts';
import { CHANNELS, type Channel } from '../../domain/shared/channel.ts';
import { type ChannelsConfig, ChannelsFileError, readChannelsFile, simulated } from './channels-file.ts';
import { BUCKET_URL, ENTRIES, FROM_FILE, type Name, type Parsed } from './config-entries.ts';
import type { EgressConfig } from './egress-config.ts';

/** The `SEED_FILE` of an installation that operators fill. */
export const NO_SEED = 'none';

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
  readonly channels: ChannelsConfig;
  readonly egress: EgressConfig;
  readonly reports: ReportsConfig;
  /** What links to this service begin with; null for the host of each request. */
  readonly publicUrl: string | null;
  /** Addresses or ranges of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Whether campaigns keep the sending rate and the daily limit of the platform. */
  readonly keepsPlatformLimits: boolean;
  readonly logLevel: string;
  /** Where `/metrics` is served; null when it is not. */
  readonly metrics: { readonly port: number; readonly host: string } | null;
  /** The base of the OTLP/HTTP receiver of traces, and the headers that it wants; null without traces. */
  readonly traces: { readonly endpoint: string; readonly headers: Readonly<Record<string, string>> } | null;
}

/** Where an installation without a SQLite file has its files. */
export const DATA_FOLDER = './data';
const SIMULATED_BY = {
  sms: 'SMS_PROVIDER',
  whatsapp: 'WHATSAPP_PROVIDER',
  telegram: 'TELEGRAM_PROVIDER',
} as const satisfies Record<Channel, Name>;

/** A worker needs no fixed port: it must not take the one of an api process on the same machine. */
const WORKER_PORT = '0';

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
        problem: messageOf(error),
      });
    }
  }
  const channelsFile = channelsFileAt(String(parsed.CHANNELS_FILE ?? ''), environment, mistakes);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  const config = assemble(parsed as Parsed, channelsFile);
  const contradicting = [
    ...contradictions(config),
    ...bucketContradictions(parsed as Parsed),
    ...traceContradictions(parsed as Parsed),
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
): ChannelsConfig | null {
  try {
    return path === '' ? null : readChannelsFile(path, environment);
  } catch (error) {
    if (!(error instanceof ChannelsFileError)) throw error;
    mistakes.push(...error.problems.map((problem) => ({ name: 'CHANNELS_FILE', problem })));
    return null;
  }
}

function assemble(parsed: Parsed, channelsFile: ChannelsConfig | null): Config {
  const database = databaseOf(parsed);
  return {
    host: parsed.HOST,
    port: parsed.PORT,
    role: parsed.ROLE,
    database,
    queue:
      parsed.QUEUE_URL === ''
        ? { kind: 'memory' }
        : { kind: 'rabbitmq', url: parsed.QUEUE_URL, prefix: parsed.QUEUE_PREFIX },
    secretKey: parsed.SECRET_KEY === '' ? null : parsed.SECRET_KEY,
    adminToken: parsed.ADMIN_TOKEN === '' ? null : parsed.ADMIN_TOKEN,
    seedFile: parsed.SEED_FILE === '' ? null : parsed.SEED_FILE,
    channels: channelsOf(parsed, channelsFile),
    egress: { allow: parsed.EGRESS_ALLOW, ports: parsed.EGRESS_PORTS },
    reports: reportsOf(parsed, database),
    publicUrl: parsed.PUBLIC_URL === '' ? null : parsed.PUBLIC_URL,
    trustedProxies: parsed.TRUSTED_PROXIES,
    keepsPlatformLimits: parsed.CAMPAIGN_LIMITS === 'on',
    logLevel: parsed.LOG_LEVEL,
    traces:
      parsed.OTEL_EXPORTER_OTLP_ENDPOINT === ''
        ? null
        : { endpoint: parsed.OTEL_EXPORTER_OTLP_ENDPOINT, headers: parsed.OTEL_EXPORTER_OTLP_HEADERS },
    metrics: parsed.METRICS_PORT === null ? null : { port: parsed.METRICS_PORT, host: parsed.METRICS_HOST },
  };
}

function databaseOf(parsed: Parsed): DatabaseConfig {
  const url = parsed.DATABASE_URL;
  if (url.startsWith('sqlite:')) return { kind: 'sqlite', filename: url.slice('sqlite:'.length) };
  return {
    kind: 'postgres',
    url,
    poolSize: parsed.DATABASE_POOL_SIZE,
    statementTimeoutMs: parsed.DATABASE_STATEMENT_TIMEOUT_MS,
  };
}

/** Reports lie in the bucket or beside the database; those of one in memory end with it. */
function reportsOf(parsed: Parsed, database: DatabaseConfig): ReportsConfig {
  const { REPORTS_DIR: directory } = parsed;
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
  const file = sqliteFileOf(database);
  if (database.kind === 'sqlite' && file === null) return { kind: 'memory' };
  return { kind: 'directory', directory: join(file === null ? DATA_FOLDER : dirname(file), 'reports') };
}

/** A channel is on the simulator, or as the channels file says; null for a channel that live projects do not have. */
function channelsOf(parsed: Parsed, file: ChannelsConfig | null): ChannelsConfig {
  return byName(CHANNELS, (channel) =>
    parsed[SIMULATED_BY[channel]] === null ? (file?.[channel] ?? null) : simulated(),
  );
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

function channelContradictions(parsed: Parsed, file: ChannelsConfig | null): readonly ConfigMistake[] {
  const both = CHANNELS.filter(
    (channel) => parsed[SIMULATED_BY[channel]] !== null && (file?.[channel] ?? null) !== null,
  );
  return both.map((channel) => ({
    name: SIMULATED_BY[channel],
    problem: `excludes ${channel} in CHANNELS_FILE; leave one of the two out`,
  }));
}

/** A token without a receiver is a name that somebody misspelt. */
function traceContradictions(parsed: Parsed): readonly ConfigMistake[] {
  const headers = Object.keys(parsed.OTEL_EXPORTER_OTLP_HEADERS);
  if (parsed.OTEL_EXPORTER_OTLP_ENDPOINT !== '' || headers.length === 0) return [];
  return [{ name: 'OTEL_EXPORTER_OTLP_HEADERS', problem: 'needs OTEL_EXPORTER_OTLP_ENDPOINT' }];
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
