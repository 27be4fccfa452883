import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import amqplib from 'amqplib';
import pg from 'pg';
import { probeBucket } from './bucket.ts';
import { freePort, ordinaryUser, PrivateServer, temporaryFolder } from './private-server.ts';
import { startPrivateSwift } from './private-swift.ts';

/** Time for a service to complete a handshake. */
const PROBE_TIMEOUT_MS = 2_000;

const LOCAL_POSTGRES_URLS = [
  'postgres://postgres@127.0.0.1:5432/test',
  'postgres://postgres@127.0.0.1:5432/postgres',
];
const LOCAL_RABBIT_URLS = ['amqp://guest:guest@127.0.0.1:5672'];

/** Connections a private PostgreSQL takes: several processes with a pool each. */
const POSTGRES_CONNECTIONS_MAX = 200;

/** Where a service is, or why it is missing. */
export type FoundService =
  | { readonly url: string; readonly missing?: undefined; readonly isPrivate?: boolean }
  | { readonly url?: undefined; readonly missing: string };

export interface FoundServices {
  readonly postgres: FoundService;
  readonly rabbitmq: FoundService;
  /** An S3-compatible bucket. */
  readonly bucket: FoundService;
  /** Ends the servers that were started for this run. */
  readonly stop: () => Promise<void>;
}

/**
 * Finds the services that the tests of the real adapters need: at TEST_POSTGRES_URL, TEST_RABBITMQ_URL and TEST_S3_URL, else
 * at their usual local addresses, else started privately from installed binaries, else missing with the reason.
 */
export async function findServices(env: NodeJS.ProcessEnv = process.env): Promise<FoundServices> {
  const started: PrivateServer[] = [];
  const [postgres, rabbitmq, bucket] = await Promise.all([
    find({
      given: env.TEST_POSTGRES_URL,
      name: 'TEST_POSTGRES_URL',
      usual: LOCAL_POSTGRES_URLS,
      probe: probePostgres,
      start: () => startPrivatePostgres({ settings: { fsync: 'off' } }),
      started,
    }),
    find({
      given: env.TEST_RABBITMQ_URL,
      name: 'TEST_RABBITMQ_URL',
      usual: LOCAL_RABBIT_URLS,
      probe: probeRabbit,
      start: startPrivateRabbit,
      started,
    }),
    find({
      given: env.TEST_S3_URL,
      name: 'TEST_S3_URL',
      usual: [],
      probe: probeBucket,
      start: startPrivateSwift,
      started,
    }),
  ]);
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
  };
  return { postgres, rabbitmq, bucket, stop };
}

/** Starts a PostgreSQL of its own with an empty database `test`. `settings` are server settings by name. */
export async function startPrivatePostgres({
  settings = {},
}: {
  readonly settings?: Readonly<Record<string, string | number>>;
} = {}): Promise<PrivateServer> {
  const bin = postgresBinaries();
  const user = ordinaryUser(['postgres', 'nobody']);
  const port = await freePort();
  const folder = temporaryFolder('postgres', user);
  const data = join(folder, 'data');
  const initArgs = [
    '-D',
    data,
    '-U',
    'postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--no-locale',
    '--no-sync',
  ];
  execFileSync(join(bin, 'initdb'), initArgs, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], ...user });
  const allSettings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: POSTGRES_CONNECTIONS_MAX,
    ...settings,
  };
  const args = Object.entries(allSettings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const address = `postgres://postgres@127.0.0.1:${port}`;
  const server = new PrivateServer({
    url: `${address}/test`,
    folder,
    command: { file: join(bin, 'postgres'), args: ['-D', data, ...args] },
    user,
    probe: () => probePostgres(`${address}/postgres`),
    fastSignal: 'SIGINT',
    immediateSignal: 'SIGQUIT',
  });
  await server.start();
  await createDatabase(server.url, 'test');
  return server;
}

/** Creates an empty database on the server of `url` and resolves with its own url. */
export async function createDatabase(url: string, name: string): Promise<string> {
  const at = (database: string): string => Object.assign(new URL(url), { pathname: `/${database}` }).href;
  await queryPostgres(at('postgres'), `create database ${name}`);
  return at(name);
}

/** Starts a RabbitMQ of its own. */
export async function startPrivateRabbit(): Promise<PrivateServer> {
  const file = rabbitBinary();
  const user = ordinaryUser(['rabbitmq', 'nobody']);
  const [port, distributionPort, mapperPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const folder = temporaryFolder('rabbitmq', user);
  const inFolder = (name: string): string => join(folder, name);
  writeFileSync(inFolder('enabled_plugins'), '[].\n');
  writeFileSync(inFolder('rabbitmq.conf'), '');
  writeFileSync(inFolder('env.conf'), '');
  const mapperEnv = { ERL_EPMD_PORT: String(mapperPort), ERL_EPMD_ADDRESS: '127.0.0.1', HOME: folder };
  const server = new PrivateServer({
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    folder,
    command: {
      file,
      args: [],
      env: {
        ...mapperEnv,
        RABBITMQ_NODENAME: `barid-${port}@localhost`,
        RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
        RABBITMQ_NODE_PORT: String(port),
        RABBITMQ_DIST_PORT: String(distributionPort),
        RABBITMQ_MNESIA_BASE: inFolder('mnesia'),
        RABBITMQ_LOG_BASE: inFolder('log'),
        RABBITMQ_CONFIG_FILE: inFolder('rabbitmq.conf'),
        RABBITMQ_CONF_ENV_FILE: inFolder('env.conf'),
        RABBITMQ_ENABLED_PLUGINS_FILE: inFolder('enabled_plugins'),
        RABBITMQ_GENERATED_CONFIG_DIR: inFolder('config'),
        // The launcher then becomes the server instead of watching over it: its process is the one to kill.
        RUNNING_UNDER_SYSTEMD: 'true',
      },
    },
    user,
    probe: () => probeRabbit(`amqp://guest:guest@127.0.0.1:${port}`),
    fastSignal: 'SIGTERM',
    immediateSignal: 'SIGKILL',
    afterStop: () => stopPortMapper(mapperEnv),
  });
  await server.start();
  return server;
}

interface Search {
  /** The url that was configured, if any. */
  readonly given: string | undefined;
  readonly name: string;
  readonly usual: readonly string[];
  readonly probe: (url: string) => Promise<void>;
  readonly start: () => Promise<PrivateServer>;
  /** Where a server that was started is noted. */
  readonly started: PrivateServer[];
}

async function find({ given, name, usual, probe, start, started }: Search): Promise<FoundService> {
  if (given !== undefined && given !== '') {
    const problem = await problemOf(probe, given);
    return problem === null ? { url: given } : { missing: `${name} does not reply: ${problem}` };
  }
  for (const url of usual) {
    if ((await problemOf(probe, url)) === null) return { url };
  }
  try {
    const server = await start();
    started.push(server);
    return { url: server.url, isPrivate: true };
  } catch (error) {
    return { missing: `${name} is not set, nothing replies locally, and ${messageOf(error)}` };
  }
}

async function problemOf(probe: Search['probe'], url: string): Promise<string | null> {
  try {
    await probe(url);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Drivers raise errors that have a code or a name only. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}

async function probePostgres(url: string): Promise<void> {
  await queryPostgres(url, 'select 1');
}

/** To make or drop a database the server writes all that it holds to a disk that others use, too, in milliseconds. */
const STATEMENT_TIMEOUT_MS = 60_000;

/** One statement on a connection of its own. */
export async function queryPostgres(url: string, sql: string): Promise<void> {
  const timeouts = { connectionTimeoutMillis: PROBE_TIMEOUT_MS, query_timeout: STATEMENT_TIMEOUT_MS };
  const client = new pg.Client({ connectionString: url, ...timeouts });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function probeRabbit(url: string): Promise<void> {
  const model = await amqplib.connect(url, { timeout: PROBE_TIMEOUT_MS });
  model.on('error', () => undefined);
  await model.close();
}

/** The newest installation that has both the server and the tool that prepares its data. */
function postgresBinaries(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...pathFolders()];
  const folder = folders.find((bin) => ['initdb', 'postgres'].every((name) => existsSync(join(bin, name))));
  if (folder === undefined) throw new Error('no PostgreSQL server is installed');
  return folder;
}

/** Debian's command on the path insists on one fixed user; the one behind it does not. */
function rabbitBinary(): string {
  const folders = ['/usr/lib/rabbitmq/bin', ...pathFolders(), '/usr/sbin', '/usr/local/sbin'];
  const file = folders.map((bin) => join(bin, 'rabbitmq-server')).find((path) => existsSync(path));
  if (file === undefined) throw new Error('no RabbitMQ server is installed');
  return file;
}

function pathFolders(): readonly string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
}

/** Erlang leaves its port mapper running; this one belongs to the private server alone. */
function stopPortMapper(env: Readonly<Record<string, string>>): void {
  try {
    execFileSync('epmd', ['-kill'], { env: { ...process.env, ...env }, stdio: 'ignore' });
  } catch {
    // Not running, or not found: nothing to stop.
  }
}
