import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { HmacKeyHasher } from '../../../src/adapters/node/hmac-key-hasher.ts';
import { CheckSecretKey } from '../../../src/application/access/check-secret-key.ts';
import { ConfigError, type ConfigMistake, readConfig } from '../../../src/bootstrap/config/config.ts';
import { configEntries } from '../../../src/bootstrap/config/config-entries.ts';
import { DEMO_API_KEY, DEMO_SEED } from '../../../src/bootstrap/config/demo-seed.ts';
import { MAIN_PROGRAM } from '../../support/compiled-service.ts';
import { runProgram, startProgram } from '../../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'barid-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function mistakesOf(environment: Record<string, string>): readonly ConfigMistake[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  return [];
}

function fileWith(content: string): string {
  const path = join(folder, `${content.length}-${Math.abs(content.charCodeAt(0))}.txt`);
  writeFileSync(path, content);
  return path;
}

const WHOLE_PORT = 'must be a whole number from 0 to 65535';
const DATABASE = 'must be sqlite:PATH, sqlite::memory: or postgres://user:password@host/database';

const QUEUE = 'must be empty or amqp://user:password@host';
const BUCKET = 'must be s3://bucket or s3://bucket/prefix';
const ENDPOINT = 'must be an http or https URL without a path, such as https://s3.example.com';
const PROXIES = 'must be addresses or CIDR ranges, such as 10.0.0.5,192.168.0.0/24';
const HEADER_LIST =
  'must be name=value, several separated by commas, with percent-encoded values; Content-Type, Host and the like follow from the request';
const NO_SUCH_PROVIDER =
  'must be simulator (a staging system, nothing is sent) or empty; channel providers are in CHANNELS_FILE';

/** A bad value for every rule, and the problem that is reported; several for rules with two limits. */
const BAD: readonly [name: string, value: string, problem: string][] = [
  ['PORT', '65536', WHOLE_PORT],
  ['PORT', '-1', WHOLE_PORT],
  ['PORT', '80.5', WHOLE_PORT],
  ['PORT', ' 80', WHOLE_PORT],
  ['PORT', 'http', WHOLE_PORT],
  ['ROLE', 'server', 'must be all, api or worker'],
  ['DATABASE_URL', 'sqlite:', DATABASE],
  ['DATABASE_URL', './data/barid.db', DATABASE],
  ['DATABASE_URL', 'mysql://root@127.0.0.1/barid', DATABASE],
  ['DATABASE_POOL_SIZE', '1', 'must be a whole number from 2 to 200'],
  ['DATABASE_POOL_SIZE', '201', 'must be a whole number from 2 to 200'],
  ['DATABASE_STATEMENT_TIMEOUT_MS', '499', 'must be a whole number from 500 to 600000'],
  ['DATABASE_STATEMENT_TIMEOUT_MS', '5s', 'must be a whole number from 500 to 600000'],
  ['QUEUE_URL', 'redis://127.0.0.1', QUEUE],
  ['QUEUE_URL', 'amqp://barid:secret@127.0.0.1:99999', QUEUE],
  ['QUEUE_URL', 'amqp://[::/barid', QUEUE],
  ['QUEUE_URL', 'amqps:///barid', QUEUE],
  ['QUEUE_PREFIX', 'Barid', 'must be 1 to 60 of a-z, 0-9, dot, hyphen and underscore'],
  ['QUEUE_PREFIX', 'b'.repeat(61), 'must be 1 to 60 of a-z, 0-9, dot, hyphen and underscore'],
  ['CHANNELS_FILE', '/nowhere/channels.json', '/nowhere/channels.json cannot be read (ENOENT)'],
  ['SMS_PROVIDER', 'smpp', NO_SUCH_PROVIDER],
  ['WHATSAPP_PROVIDER', 'Simulator', NO_SUCH_PROVIDER],
  ['TELEGRAM_PROVIDER', 'none', NO_SUCH_PROVIDER],
  [
    'ADMIN_TOKEN',
    'a'.repeat(31),
    'must be at least 32 visible ASCII characters, such as the output of openssl rand -hex 32',
  ],
  [
    'ADMIN_TOKEN',
    `${'a'.repeat(40)} b`,
    'must be at least 32 visible ASCII characters, such as the output of openssl rand -hex 32',
  ],
  ['SECRET_KEY', 'secret', 'must be 64 hex characters'],
  ['SECRET_KEY', 'a'.repeat(65), 'must be 64 hex characters'],
  ['EGRESS_ALLOW', '10.0.0.0/8,intranet', 'Not a network in CIDR notation: intranet'],
  ['EGRESS_ALLOW', '0.0.0.0/0', 'Too wide to be an exception to the egress guard: 0.0.0.0/0'],
  ['TRUSTED_PROXIES', '10.0.0.5,proxy', PROXIES],
  ['TRUSTED_PROXIES', '10.0.0.0/33', PROXIES],
  ['TRUSTED_PROXIES', '0.0.0.0/0', 'must not be a range of all addresses'],
  ['TRUSTED_PROXIES', '::/0', 'must not be a range of all addresses'],
  ['TRUSTED_PROXIES', '::ffff:0.0.0.0/96', 'must not be a range of all addresses'],
  ['TRUSTED_PROXIES', '::ffff:a00:5/96', 'must not be a range of all addresses'],
  ['TRUSTED_PROXIES', '::/64', 'must not be a range of all addresses'],
  ['EGRESS_PORTS', '443,0', 'must be a whole number from 1 to 65535'],
  ['EGRESS_PORTS', '443;8443', 'must be a whole number from 1 to 65535'],
  ['REPORTS_BUCKET_URL', 'https://s3.example.com/reports', BUCKET],
  ['REPORTS_BUCKET_URL', 's3://', BUCKET],
  ['REPORTS_BUCKET_URL', 's3://Reports', BUCKET],
  ['REPORTS_BUCKET_URL', 's3://reports/../a', BUCKET],
  ['REPORTS_BUCKET_URL', 's3://reports/a//b', BUCKET],
  ['S3_ENDPOINT', 's3.example.com', ENDPOINT],
  ['S3_ENDPOINT', 'https://s3.example.com/reports', ENDPOINT],
  ['S3_ENDPOINT', 'https://:hunter2@s3.example.com', ENDPOINT],
  ['S3_REGION', 'eu central', 'must be a region, such as eu-central-1'],
  ['S3_PATH_STYLE', 'true', 'must be on, off or empty'],
  ['S3_ACCESS_KEY_ID', 'a b', 'must not contain blanks'],
  ['S3_SECRET_ACCESS_KEY', 'hunter2 ', 'must not contain blanks'],
  ['PUBLIC_URL', 'sms.example.com', 'must be an http or https URL without a query'],
  ['CAMPAIGN_LIMITS', 'maybe', 'must be on or off'],
  ['METRICS_PORT', '65536', WHOLE_PORT],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'must be an http or https URL without a query'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a b', HEADER_LIST],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%', HEADER_LIST],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%0d%0ab', HEADER_LIST],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=b,Content-Type=c', HEADER_LIST],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'Host=c', HEADER_LIST],
  ['LOG_LEVEL', 'loud', 'must be debug, info, warn, error or silent'],
];

/** Any text is an address or a path; an error shows when it is used. */
const ANY_TEXT = ['HOST', 'METRICS_HOST', 'SEED_FILE', 'REPORTS_DIR'];

it('the headers for the receiver of traces are read as OpenTelemetry writes them', () => {
  const traces = (list: string) =>
    readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a.example', OTEL_EXPORTER_OTLP_HEADERS: list }).traces;
  expect(traces('')?.headers).toEqual({});
  expect(traces('Authorization=Basic%20YTpi==, x-team=')?.headers).toEqual({
    authorization: 'Basic YTpi==',
    'x-team': '',
  });
  expect(() => readConfig({ OTEL_EXPORTER_OTLP_HEADERS: 'a=b' })).toThrow(
    'OTEL_EXPORTER_OTLP_HEADERS: needs OTEL_EXPORTER_OTLP_ENDPOINT',
  );
});

describe('a bad value', () => {
  it('has a case for every name that has a rule', () => {
    expect([...new Set([...BAD.map(([name]) => name), ...ANY_TEXT])].sort()).toEqual(
      configEntries()
        .map(({ name }) => name)
        .sort(),
    );
  });

  test.each(BAD)('rejects %s=%s with its problem', (name, value, problem) => {
    expect(mistakesOf({ [name]: value })).toEqual([{ name, problem }]);
  });

  it('reports every mistake in the channels file on a line of its own', () => {
    const folder = mkdtempSync(join(tmpdir(), 'barid-config-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'channels.json');
    writeFileSync(file, '{ "fax": {}, "sms": { "providers": {} } }');
    expect(mistakesOf({ CHANNELS_FILE: file })).toEqual([
      { name: 'CHANNELS_FILE', problem: `${file}: fax: must be one of sms, whatsapp, telegram` },
      { name: 'CHANNELS_FILE', problem: `${file}: sms.providers: must have a provider` },
    ]);
  });

  it('reports every bad value at once, one line each', () => {
    expect(() => readConfig({ PORT: 'x', ROLE: 'y', LOG_LEVEL: 'z' })).toThrow(
      [
        `PORT: ${WHOLE_PORT}`,
        'ROLE: must be all, api or worker',
        'LOG_LEVEL: must be debug, info, warn, error or silent',
      ].join('\n'),
    );
  });

  it('never repeats a secret in the report', () => {
    const told = JSON.stringify(
      mistakesOf({ SECRET_KEY: 'hunter2', DATABASE_URL: 'mysql://root:hunter2@x', QUEUE_URL: 'a:hunter2@x' }),
    );
    expect(told).toContain('SECRET_KEY');
    expect(told).not.toContain('hunter2');
  });
});

describe('what is read', () => {
  it('reads the defaults from an empty environment and from empty values', () => {
    const defaults = {
      host: '127.0.0.1',
      port: 3000,
      role: 'all',
      database: { kind: 'sqlite', filename: './data/barid.db' },
      queue: { kind: 'memory' },
      channels: { sms: null, whatsapp: null, telegram: null },
      secretKey: null,
      seedFile: null,
      egress: { allow: [], ports: [443] },
      trustedProxies: [],
      logLevel: 'info',
    };
    expect(readConfig({})).toMatchObject(defaults);
    expect(readConfig(Object.fromEntries(configEntries().map(({ name }) => [name, ''])))).toMatchObject(
      defaults,
    );
  });

  it('gives a worker without PORT a free port, so that an api process on the same machine keeps 3000', () => {
    const database = { DATABASE_URL: 'postgres://u@h/d' };
    expect(readConfig({ ...database, ROLE: 'worker' }).port).toBe(0);
    expect(readConfig({ ...database, ROLE: 'worker', PORT: '' }).port).toBe(0);
    expect(readConfig({ ...database, ROLE: 'worker', PORT: '9100' }).port).toBe(9_100);
    expect(readConfig({ ...database, ROLE: 'api' }).port).toBe(3_000);
  });

  it('reads the default of the table for every name', () => {
    const written = Object.fromEntries(configEntries().map(({ name, fallback }) => [name, fallback]));
    expect(readConfig(written)).toEqual(readConfig({}));
  });

  it('reads every name of the environment', () => {
    expect(
      readConfig({
        PORT: '0',
        HOST: '::',
        ROLE: 'worker',
        DATABASE_URL: 'postgres://barid:secret@db/barid',
        DATABASE_POOL_SIZE: '25',
        DATABASE_STATEMENT_TIMEOUT_MS: '2500',
        QUEUE_URL: 'amqps://barid:secret@broker/vhost',
        QUEUE_PREFIX: 'barid-2',
        SECRET_KEY: 'AB'.repeat(32),
        SEED_FILE: './seed.json',
        EGRESS_ALLOW: '10.0.0.0/8, fd00::/8',
        EGRESS_PORTS: '443, 8443',
        TRUSTED_PROXIES: '10.0.0.5, fd00::/8',
        CAMPAIGN_LIMITS: 'off',
        LOG_LEVEL: 'silent',
      }),
    ).toMatchObject({
      keepsPlatformLimits: false,
      port: 0,
      host: '::',
      role: 'worker',
      database: {
        kind: 'postgres',
        url: 'postgres://barid:secret@db/barid',
        poolSize: 25,
        statementTimeoutMs: 2500,
      },
      queue: { kind: 'rabbitmq', url: 'amqps://barid:secret@broker/vhost', prefix: 'barid-2' },
      secretKey: 'AB'.repeat(32),
      seedFile: './seed.json',
      egress: { allow: ['10.0.0.0/8', 'fd00::/8'], ports: [443, 8443] },
      trustedProxies: ['10.0.0.5', 'fd00::/8'],
      logLevel: 'silent',
    });
  });

  it('returns a configuration that cannot be changed', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });
});

describe('a secret in a file', () => {
  it('reads a secret from its file, without white space around it, before the plain name', () => {
    const file = fileWith(`${'c'.repeat(64)}\n`);
    expect(readConfig({ SECRET_KEY_FILE: file, SECRET_KEY: 'd'.repeat(64) }).secretKey).toBe('c'.repeat(64));
    const url = fileWith('  postgres://u:p@h/d \n');
    expect(readConfig({ DATABASE_URL_FILE: url }).database).toMatchObject({ url: 'postgres://u:p@h/d' });
    expect(readConfig({ QUEUE_URL_FILE: fileWith('amqp://u:p@h\n') }).queue).toMatchObject({
      url: 'amqp://u:p@h',
    });
  });

  it('checks a secret from a file by the rule of its name', () => {
    expect(mistakesOf({ SECRET_KEY_FILE: fileWith('short') })).toEqual([
      { name: 'SECRET_KEY', problem: 'must be 64 hex characters' },
    ]);
  });

  it('reports a secret file that cannot be read by its own name', () => {
    const missing = join(folder, 'missing');
    expect(mistakesOf({ SECRET_KEY_FILE: missing })).toEqual([
      { name: 'SECRET_KEY_FILE', problem: expect.stringContaining(missing) },
    ]);
  });

  it('reads no file for a name that is no secret', () => {
    expect(readConfig({ PORT_FILE: join(folder, 'missing') }).port).toBe(3000);
  });
});

describe('an impossible mix', () => {
  test.each(['api', 'worker'])('rejects ROLE=%s on SQLite', (role) => {
    expect(mistakesOf({ ROLE: role })).toEqual([
      {
        name: 'ROLE',
        problem: `${role} needs a database that several processes can share; set DATABASE_URL=postgres://… or ROLE=all`,
      },
    ]);
    expect(mistakesOf({ ROLE: role, DATABASE_URL: 'sqlite::memory:' })).toHaveLength(1);
    expect(mistakesOf({ ROLE: role, DATABASE_URL: 'postgres://u@h/d' })).toEqual([]);
  });
});

describe('reports in a bucket', () => {
  const KEYS = { S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret' };
  const NEEDED = { problem: 'must be set for REPORTS_BUCKET_URL' };
  const UNUSED = { problem: 'needs a bucket; set REPORTS_BUCKET_URL=s3://… or leave it empty' };

  it('reads a bucket of Amazon S3 with its region in the host name', () => {
    expect(
      readConfig({ REPORTS_BUCKET_URL: 's3://barid', S3_REGION: 'eu-central-1', ...KEYS }).reports,
    ).toEqual({
      kind: 'bucket',
      bucket: 'barid',
      prefix: '',
      endpoint: 'https://s3.eu-central-1.amazonaws.com',
      region: 'eu-central-1',
      pathStyle: false,
      accessKeyId: 'key',
      secretAccessKey: 'secret',
    });
  });

  it('reads a bucket of another server with its prefix, and the secret from a file', () => {
    expect(
      readConfig({
        REPORTS_BUCKET_URL: 's3://barid/reports/a.b/',
        S3_ENDPOINT: 'http://127.0.0.1:9000/',
        S3_ACCESS_KEY_ID: 'key',
        S3_SECRET_ACCESS_KEY_FILE: fileWith('the secret of a file'.replaceAll(' ', '-')),
      }).reports,
    ).toEqual({
      kind: 'bucket',
      bucket: 'barid',
      prefix: 'reports/a.b',
      endpoint: 'http://127.0.0.1:9000',
      region: 'us-east-1',
      pathStyle: true,
      accessKeyId: 'key',
      secretAccessKey: 'the-secret-of-a-file',
    });
  });

  test.each([
    ['on', '', true],
    ['off', 'https://s3.example.com', false],
  ])('takes S3_PATH_STYLE=%s with S3_ENDPOINT=%j', (S3_PATH_STYLE, S3_ENDPOINT, pathStyle) => {
    const given = { REPORTS_BUCKET_URL: 's3://barid', ...KEYS, S3_PATH_STYLE, S3_ENDPOINT };
    expect(readConfig(given).reports).toMatchObject({ pathStyle });
  });

  it('rejects a bucket beside a directory', () => {
    expect(mistakesOf({ REPORTS_BUCKET_URL: 's3://barid', REPORTS_DIR: './reports', ...KEYS })).toEqual([
      { name: 'REPORTS_BUCKET_URL', problem: 'excludes REPORTS_DIR; leave one of the two empty' },
    ]);
  });

  it('rejects a bucket without its keys, one line for each', () => {
    expect(mistakesOf({ REPORTS_BUCKET_URL: 's3://barid' })).toEqual([
      { name: 'S3_ACCESS_KEY_ID', ...NEEDED },
      { name: 'S3_SECRET_ACCESS_KEY', ...NEEDED },
    ]);
  });

  it('rejects settings of a bucket when there is none', () => {
    const given = { ...KEYS, S3_ENDPOINT: 'https://s3.example.com', S3_PATH_STYLE: 'on' };
    expect(mistakesOf(given)).toEqual(
      ['S3_ENDPOINT', 'S3_PATH_STYLE', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'].map((name) => ({
        name,
        ...UNUSED,
      })),
    );
  });

  it('never repeats the secret of a bucket in the report', () => {
    const told = JSON.stringify([
      mistakesOf({ S3_SECRET_ACCESS_KEY: 'hunter2' }),
      mistakesOf({ S3_SECRET_ACCESS_KEY: 'hunter2 hunter2', S3_ENDPOINT: 'https://a:hunter2@x' }),
    ]);
    expect(told).toContain('S3_SECRET_ACCESS_KEY');
    expect(told).not.toContain('hunter2');
  });
});

/** One signal to a process group reaches the program several times, from the system and from npm. */
const SIGNALS = 4;
const SIGNALS_APART_MS = 10;

describe('the program itself', () => {
  const environmentWith = (given: Record<string, string>) => ({
    PATH: process.env.PATH ?? '',
    DATABASE_URL: 'sqlite::memory:',
    ...given,
  });
  const runWith = (given: Record<string, string>) => runProgram([MAIN_PROGRAM], environmentWith(given));
  /** Starts the program on a free port, stops it, and resolves with what it printed first. */
  const start = async (given: Record<string, string>) => {
    const child = startProgram([MAIN_PROGRAM], environmentWith({ ...given, PORT: '0' }));
    const [banner] = await once(child.stdout, 'data');
    child.kill('SIGTERM');
    await once(child, 'exit');
    return String(banner);
  };

  it('ends with code 78 when its port is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const { code, stdout, stderr } = await runWith({ PORT: String(port) });
    holder.close();
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain(
      `Barid cannot start:\nPORT: cannot listen on port ${port} of 127.0.0.1 (EADDRINUSE); choose another PORT, 0 for a free one, or HOST\n`,
    );
  });

  it('ends with code 69 and one line of reason when its database is away', async () => {
    const { code, stdout, stderr } = await runWith({
      DATABASE_URL: 'postgres://postgres@127.0.0.1:1/test',
      SECRET_KEY: '02'.repeat(32),
    });
    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
    expect(stderr).toMatch(
      /^Barid cannot start:\nDATABASE_URL: the database cannot be opened: .*ECONNREFUSED.*\n$/,
    );
  });

  it('prints the key of the demo only when the database was filled with the demo, and where to read on when it has no project', async () => {
    const seedFile = join(folder, 'seed.json');
    const otherKey = DEMO_API_KEY.replaceAll('0', 'f');
    const projects = DEMO_SEED.projects.map((project) => ({ ...project, apiKeys: [otherKey] }));
    writeFileSync(seedFile, JSON.stringify({ ...DEMO_SEED, projects }));
    const DATABASE_URL = `sqlite:${join(folder, 'seeded.db')}`;
    expect(await start({})).toContain(DEMO_API_KEY);
    expect(await start({ DATABASE_URL, SEED_FILE: seedFile })).not.toContain(DEMO_API_KEY);
    expect(await start({ DATABASE_URL })).toMatch(/^Barid listens on [^\n]*\n$/);
    expect(await start({ DATABASE_URL, SEED_FILE: seedFile })).toMatch(
      /^Barid listens on [^\n]*\nSEED_FILE was not applied: [^\n]*docs\/admin\.md[^\n]*\n$/,
    );
    const empty = { DATABASE_URL: `sqlite:${join(folder, 'empty.db')}`, SEED_FILE: 'none' };
    expect(await start(empty)).toMatch(/^Barid listens on [^\n]*\n.*docs\/admin-first-message\.md[^\n]*\n$/);
  });

  it('notes no use of the key of the demo when it starts', async () => {
    const filename = join(folder, 'unused.db');
    expect(await start({ DATABASE_URL: `sqlite:${filename}` })).toContain(DEMO_API_KEY);
    const database = openDatabase({ kind: 'sqlite', filename });
    const keys = await new SqlUnitOfWork(database).read(async ({ projects }) =>
      projects.keysOf((await projects.named('demo'))?.id ?? '', null, 2),
    );
    await database.close();
    expect(keys).toMatchObject([{ lastUsedAt: null }]);
  });

  it('logs the signal that stops it, and last that it has stopped', async () => {
    const child = startProgram([MAIN_PROGRAM], environmentWith({ PORT: '0' }));
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    const lines = (await text(child.stdout)).trim().split('\n');
    const events = lines.map((line) => JSON.parse(line) as { event: string; signal?: string });
    expect(events.map(({ event, signal }) => [event, signal])).toEqual([
      ['service_stopping', 'SIGINT'],
      ['service_stopped', undefined],
    ]);
  });

  it('treats a signal that comes several times at once as one', async () => {
    const child = startProgram([MAIN_PROGRAM], environmentWith({ PORT: '0' }));
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    for (let signal = 1; signal <= SIGNALS; signal += 1) {
      child.kill('SIGTERM');
      await setTimeout(SIGNALS_APART_MS);
    }
    expect(await ended).toEqual([0, null]);
  });

  it('ends at once at a later second signal, although a request is in flight', async () => {
    const child = startProgram([MAIN_PROGRAM], environmentWith({ PORT: '0' }));
    const ended = once(child, 'exit');
    const [banner] = await once(child.stdout, 'data');
    const caller = connect(Number(/127\.0\.0\.1:(\d+)/.exec(String(banner))?.[1]), '127.0.0.1');
    caller.on('error', () => {});
    const head = ['POST /sms HTTP/1.1', 'Host: a', `Authorization: Bearer ${DEMO_API_KEY}`];
    const body = ['Content-Type: application/json', 'Content-Length: 9', 'Expect: 100-continue'];
    caller.write(`${[...head, ...body].join('\r\n')}\r\n\r\n`);
    const [response] = await once(caller, 'data');
    expect(String(response)).toContain('100 Continue');
    const again = setInterval(() => child.kill('SIGTERM'), 50);
    expect(await ended).toEqual([null, 'SIGTERM']);
    clearInterval(again);
    caller.destroy();
  });

  it('ends with code 78, and changes nothing, when the database was filled under another secret key', async () => {
    const filename = join(folder, 'of-another-key.db');
    const database = openDatabase({ kind: 'sqlite', filename });
    await database.migrate();
    const installation = {
      unitOfWork: new SqlUnitOfWork(database),
      keyHasher: new HmacKeyHasher({ secretKey: Buffer.alloc(32, 1) }),
    };
    await new CheckSecretKey(installation).execute();
    const given = { DATABASE_URL: `sqlite:${filename}`, PORT: '0' };
    const { code, stdout, stderr } = await runWith({ ...given, SECRET_KEY: '02'.repeat(32) });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain('Barid cannot start:\nSECRET_KEY: is not the one this database was filled with');
    expect(await database.knex('projects').pluck('slug')).toEqual([]);
    await new CheckSecretKey(installation).execute();
    await database.close();
  });

  test.each<[what: string, environment: Record<string, string>, stderr: string]>([
    ['a bad value', { PORT: 'x' }, `Barid cannot start:\nPORT: ${WHOLE_PORT}\n`],
    [
      'a queue at a port that does not exist',
      { QUEUE_URL: 'amqp://guest:guest@127.0.0.1:99999' },
      `Barid cannot start:\nQUEUE_URL: ${QUEUE}\n`,
    ],
    [
      'an address of another machine',
      { HOST: '192.0.2.1', PORT: '0' },
      'Barid cannot start:\nHOST: cannot listen on 192.0.2.1 (EADDRNOTAVAIL); choose an address of this machine\n',
    ],
    [
      'a database at a place that cannot be made',
      { DATABASE_URL: 'sqlite:/proc/barid/data/barid.db' },
      'Barid cannot start:\nDATABASE_URL: /proc/barid/data/barid.db cannot be used (ENOENT); name a file in a folder that the process may write\n',
    ],
    [
      'a seed file that is not there',
      { SEED_FILE: '/nowhere/seed.json' },
      'Barid cannot start:\nSEED_FILE: /nowhere/seed.json cannot be read (ENOENT)\n',
    ],
    [
      'a seed file with a mistake',
      { SEED_FILE: fileWith('{"projects": 1}') },
      'Barid cannot start:\nSEED_FILE: ✖ Invalid input: expected array, received number\n  → at projects\n',
    ],
  ])('ends with code 78 and names the reason: %s', async (_, environment, expected) => {
    const { code, stdout, stderr } = await runWith(environment);
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain(expected);
  });
});
