import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, afterEach, expect, it } from 'vitest';
import { openDatabase } from '../../../src/adapters/knex/database.ts';
import { runBarid } from '../../../src/bootstrap/commands/program.ts';
import { readConfig } from '../../../src/bootstrap/config/config.ts';
import { DEMO_API_KEY, DEMO_SEED } from '../../../src/bootstrap/config/demo-seed.ts';
import { readSeed } from '../../../src/bootstrap/config/seed-file.ts';
import { Service } from '../../../src/bootstrap/service.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { verification } from '../../support/seeds.ts';

const SECRET_KEY = '0'.repeat(64);
const PHONE_NUMBER = '9647701234567';
/** Later than the next attempt, and within the time of the message. */
const RETRY_MS = 15_000;
const PERMISSIONS = 0o777;
const AN_HOUR_AGO = new Date(Date.now() - 3_600_000);

const root = mkdtempSync(join(tmpdir(), 'barid-backup-'));
afterAll(() => rmSync(root, { recursive: true }));

const running = new Set<Service>();
afterEach(async () => {
  for (const service of running) await service.stop();
  running.clear();
});

/** A folder with a place for a database and one for backups. */
function anInstallation() {
  const folder = mkdtempSync(join(root, 'installation-'));
  const filename = join(folder, 'barid.db');
  const environment = { DATABASE_URL: `sqlite:${filename}`, SECRET_KEY };
  return { folder, filename, environment, backup: join(folder, 'backup.db') };
}

type Installation = ReturnType<typeof anInstallation>;

/** The service on the database, with a clock that stands still. */
async function start({ environment }: Installation, aheadMs = 0) {
  const sent: string[] = [];
  const config = readConfig(environment);
  const service = new Service({
    role: 'all',
    database: config.database,
    queue: config.queue,
    channels: config.channels,
    secretKey: Buffer.from(SECRET_KEY, 'hex'),
    egress: config.egress,
    reports: config.reports,
    clock: { now: () => Date.now() + aheadMs },
    logger: new RecordingLogger(),
    watchesClock: false,
    seed: readSeed(DEMO_SEED),
    onSubmission: ({ smsId }) => sent.push(smsId),
  });
  running.add(service);
  await service.start();
  return { service, url: `http://127.0.0.1:${await service.listen(0, '127.0.0.1')}`, sent };
}

async function stop(service: Service): Promise<void> {
  await service.stop();
  running.delete(service);
}

async function send(url: string): Promise<string> {
  const response = await fetch(`${url}/sms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${DEMO_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(verification(PHONE_NUMBER, { provider: 'sms' })),
  });
  return ((await response.json()) as { smsId: string }).smsId;
}

async function run({ environment }: Installation, ...given: readonly string[]) {
  const lines: string[] = [];
  const errors: string[] = [];
  const drawn: string[] = [];
  const code = await runBarid(given, environment, {
    print: (line) => lines.push(line),
    error: (line) => errors.push(line),
    progress: (text) => drawn.push(text),
  });
  return { code, lines, errors, drawn };
}

const smsIdsIn = (filename: string): readonly unknown[] => {
  const database = new Sqlite(filename, { readonly: true });
  try {
    return database.prepare('SELECT sms_id FROM messages').pluck().all();
  } finally {
    database.close();
  }
};

it('backup copies the database of a running service into one private file, and never replaces a file', async () => {
  const installation = anInstallation();
  const { url } = await start(installation);
  const smsId = await send(url);
  const { code, lines, errors, drawn } = await run(installation, 'backup', installation.backup);
  expect({ code, errors }).toEqual({ code: 0, errors: [] });
  expect(lines[0]).toMatch(/^backup: \S+backup\.db, [0-9.]+ MB, whole, 0 differences$/);
  expect(drawn.join('')).toContain('100%');
  expect(smsIdsIn(installation.backup)).toEqual([smsId]);
  expect(statSync(installation.backup).mode & PERMISSIONS).toBe(0o600);
  expect(readdirSync(installation.folder).filter((name) => name.startsWith('backup'))).toEqual(['backup.db']);
  expect(await run(installation, 'backup', installation.backup)).toMatchObject({
    code: 1,
    errors: [`backup: ${installation.backup} exists; a backup replaces no file`],
  });
});

it('backup removes what a killed run has left, and keeps what another run is writing', async () => {
  const installation = anInstallation();
  const { service } = await start(installation);
  await stop(service);
  const leftover = join(installation.folder, 'yesterday.db.partial-0123456789ab');
  const inUse = join(installation.folder, 'other.db.partial-ba9876543210');
  writeFileSync(leftover, 'cut off');
  const young = join(installation.folder, 'other.db.partial-00112233aabb');
  writeFileSync(young, '');
  const other = new Sqlite(inUse);
  other.exec('CREATE TABLE half (a)');
  other.exec('BEGIN EXCLUSIVE');
  for (const partial of [leftover, inUse]) utimesSync(partial, AN_HOUR_AGO, AN_HOUR_AGO);
  const { code, lines } = await run(installation, 'backup', installation.backup, '--json');
  other.close();
  expect(code).toBe(0);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    file: installation.backup,
    bytes: statSync(installation.backup).size,
    differences: [],
  });
  expect([leftover, inUse, young].map((file) => existsSync(file))).toEqual([false, true, true]);
});

it.each(['backup', 'restore'])(
  '%s takes one file, and says that PostgreSQL has tools of its own',
  async (name) => {
    const installation = anInstallation();
    expect((await run(installation, name)).code).toBe(2);
    expect((await run(installation, name, 'a', 'b')).code).toBe(2);
    const onPostgres = { ...installation, environment: { DATABASE_URL: 'postgres://host/db', SECRET_KEY } };
    const { code, errors } = await run(onPostgres, name, 'a');
    expect(code).toBe(78);
    expect(errors[0]).toMatch(/DATABASE_URL: names PostgreSQL, which has tools of its own/);
  },
);

it('restore puts a backup in the place of the database, and keeps the one before it', async () => {
  const installation = anInstallation();
  const { filename, backup, folder } = installation;
  const first = await start(installation);
  const before = await send(first.url);
  await run(installation, 'backup', backup);
  const after = await send(first.url);
  await stop(first.service);
  const { code, lines, errors } = await run(installation, 'restore', backup);
  expect({ code, errors }).toEqual({ code: 0, errors: [] });
  expect(smsIdsIn(filename)).toEqual([before]);
  const aside = readdirSync(folder).filter((name) => name.startsWith('barid.db.before-'));
  expect(aside).toHaveLength(1);
  expect(smsIdsIn(join(folder, aside[0] ?? ''))).toEqual([before, after]);
  expect(lines.at(-1)).toBe(`restore: the database before it is ${join(folder, aside[0] ?? '')}`);
  expect(readdirSync(folder).filter((name) => /partial|wal|shm/.test(name))).toEqual([]);
});

it('restore follows links: to a database in use, and to the database that it replaces', async () => {
  const installation = anInstallation();
  const { filename, backup, folder } = installation;
  const { service, url } = await start(installation);
  const before = await send(url);
  await run(installation, 'backup', backup);
  await stop(service);
  const used = join(folder, 'used.db');
  symlinkSync(backup, used);
  writeFileSync(`${backup}-wal`, 'log');
  expect((await run(installation, 'restore', used)).errors[0]).toMatch(/it is a database in use/);
  rmSync(`${backup}-wal`);
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  renameSync(filename, join(disk, 'barid.db'));
  symlinkSync(join(disk, 'barid.db'), filename);
  expect((await run(installation, 'restore', used)).code).toBe(0);
  expect(lstatSync(filename).isSymbolicLink()).toBe(true);
  expect(smsIdsIn(join(disk, 'barid.db'))).toEqual([before]);
  expect(readdirSync(disk).filter((name) => name.startsWith('barid.db.before-'))).toHaveLength(1);
});

it.each([
  ['is not sent by default', [], []],
  ['is sent when the operator says so', ['--send-again'], ['sent']],
])('a code that waited in the backup %s', async (_, options, expected) => {
  const installation = anInstallation();
  const first = await start(installation);
  const smsId = await sendToBusyProvider(first);
  await run(installation, 'backup', installation.backup);
  await stop(first.service);
  expect((await run(installation, 'restore', installation.backup, ...options)).code).toBe(0);
  const { service, sent } = await start(installation, RETRY_MS);
  service.roots.wakeSignal.wake();
  await service.idle();
  expect(sent.filter((id) => id === smsId).map(() => 'sent')).toEqual(expected);
});

it('restore rejects a database that a service has open, and changes nothing', async () => {
  const installation = anInstallation();
  const { service } = await start(installation);
  await run(installation, 'backup', installation.backup);
  expect(await run(installation, 'restore', installation.backup)).toMatchObject({
    code: 1,
    errors: [
      `restore: nothing was changed: ${installation.filename} is open in another process; stop the service first`,
    ],
  });
  await service.roots.database.ping();
});

it('restore rejects files that are damaged, in use, of a newer version or of another secret key', async () => {
  const installation = anInstallation();
  const { service } = await start(installation);
  await run(installation, 'backup', installation.backup);
  await stop(service);
  const rejected = async (name: string, given: Installation = installation, exitCode = 1) => {
    const { code, errors } = await run(given, 'restore', join(installation.folder, name));
    expect(code).toBe(exitCode);
    return errors.join('');
  };
  expect(await rejected('nothing.db')).toMatch(/there is no file/);
  writeFileSync(join(installation.folder, 'text.db'), 'no database at all, but long enough'.repeat(100));
  expect(await rejected('text.db')).toMatch(/damaged or no backup: file is not a database/);
  execFileSync('mkfifo', [join(installation.folder, 'pipe')]);
  expect(await rejected('pipe')).toMatch(/there is no file .*pipe/);
  copyFileSync(installation.backup, join(installation.folder, 'used.db'));
  writeFileSync(join(installation.folder, 'used.db-wal'), 'log');
  expect(await rejected('used.db')).toMatch(/it is a database in use/);
  copyFileSync(installation.backup, join(installation.folder, 'newer.db'));
  const newer = new Sqlite(join(installation.folder, 'newer.db'));
  newer.exec("INSERT INTO knex_migrations (name, batch) VALUES ('999-later', 9)");
  newer.close();
  expect(await rejected('newer.db')).toMatch(/newer version of Barid \(999-later\)/);
  const environment = { ...installation.environment, SECRET_KEY: '1'.repeat(64) };
  expect(await rejected('backup.db', { ...installation, environment }, 78)).toMatch(/another SECRET_KEY/);
  expect(readdirSync(installation.folder).filter((name) => name.startsWith('barid.db'))).toEqual([
    'barid.db',
  ]);
});

it('restore makes no secret key of its own: without the one of the backup nothing is changed', async () => {
  const installation = anInstallation();
  const { service } = await start(installation);
  await run(installation, 'backup', installation.backup);
  await stop(service);
  const folder = join(installation.folder, 'new');
  const environment = { DATABASE_URL: `sqlite:${join(folder, 'barid.db')}`, SECRET_KEY: '' };
  const { code, errors } = await run({ ...installation, environment }, 'restore', installation.backup);
  expect(code).toBe(1);
  expect(errors.join('')).toMatch(
    /nothing was changed: SECRET_KEY: is not set, and .*secret\.key is missing/,
  );
  expect(existsSync(folder)).toBe(false);
});

it('backup makes no secret key: another one would stand beside the database of the service', async () => {
  const installation = anInstallation();
  const { service } = await start(installation);
  const environment = { ...installation.environment, SECRET_KEY: '' };
  expect(await run({ ...installation, environment }, 'backup', installation.backup)).toMatchObject({
    code: 0,
  });
  await stop(service);
  expect(existsSync(join(dirname(installation.filename), 'secret.key'))).toBe(false);
});

it('restore names the files to move when the present database cannot be read, or only its log is left', async () => {
  const installation = anInstallation();
  const { service } = await start(installation);
  await run(installation, 'backup', installation.backup);
  await stop(service);
  writeFileSync(installation.filename, 'no database at all, but long enough'.repeat(100));
  const damaged = await run(installation, 'restore', installation.backup);
  expect(damaged.errors[0]).toMatch(/cannot be read .*; stop the service, move .*-wal and .*-shm away/);
  rmSync(installation.filename);
  writeFileSync(`${installation.filename}-wal`, 'log');
  const lost = await run(installation, 'restore', installation.backup);
  expect(lost.errors[0]).toMatch(/-wal belongs to a database that is gone/);
  rmSync(`${installation.filename}-wal`);
  expect(await run(installation, 'restore', installation.backup)).toMatchObject({
    code: 0,
    errors: [],
  });
});

it('backup says that the folder of the new file has to be made', async () => {
  const installation = anInstallation();
  const { service } = await start(installation);
  await stop(service);
  const folder = join(tmpdir(), 'barid-no-folder');
  expect(await run(installation, 'backup', join(folder, 'backup.db'))).toMatchObject({
    code: 1,
    lines: [],
    errors: [`backup: there is no folder ${folder}; make it first`],
  });
});

it('backup says that a database without tables cannot be verified', async () => {
  const installation = anInstallation();
  expect(await run(installation, 'backup', installation.backup)).toMatchObject({ code: 69 });
  const database = openDatabase({ kind: 'sqlite', filename: installation.filename });
  await database.ping();
  await database.close();
  expect(await run(installation, 'backup', installation.backup)).toMatchObject({
    code: 1,
    errors: ['backup: no backup was made: the database has no tables of Barid'],
  });
  expect(existsSync(installation.backup)).toBe(false);
});

it('after-restore marks a database, and says what is sent no more and what is gone', async () => {
  const installation = anInstallation();
  const { service } = await start(installation);
  await stop(service);
  const { code, lines, errors } = await run(installation, 'after-restore');
  expect({ code, errors }).toEqual({ code: 0, errors: [] });
  expect(lines).toEqual([
    'after-restore: there are no messages',
    'after-restore: what operators changed since is gone: keys that were revoked since work again, and credit has to be added again',
  ]);
});

it('after-restore makes no secret key where there is none', async () => {
  const installation = anInstallation();
  const { service } = await start(installation);
  await stop(service);
  const environment = { ...installation.environment, SECRET_KEY: '' };
  expect(await run({ ...installation, environment }, 'after-restore')).toMatchObject({
    code: 78,
    lines: [],
    errors: [expect.stringMatching(/SECRET_KEY: is not set, and .*secret.key is missing/)],
  });
  expect(existsSync(join(dirname(installation.filename), 'secret.key'))).toBe(false);
});

it('after-restore changes nothing under another secret key, nor in a database of a newer version', async () => {
  const installation = anInstallation();
  const { service } = await start(installation);
  await stop(service);
  const changed = (statement: string) => {
    const database = new Sqlite(installation.filename);
    database.exec(statement);
    database.close();
  };
  changed('DELETE FROM knex_migrations WHERE id = (SELECT MAX(id) FROM knex_migrations)');
  const environment = { ...installation.environment, SECRET_KEY: '1'.repeat(64) };
  expect(await run({ ...installation, environment }, 'after-restore')).toMatchObject({
    code: 78,
    lines: [],
    errors: [
      'after-restore: nothing was changed: the database was filled under another SECRET_KEY; ' +
        'give the command and the service the one of that time',
    ],
  });
  expect((await run(installation, 'migrate', '--check')).lines.at(-1)).toBe('migrate: 1 migration pending');
  changed("INSERT INTO knex_migrations (name, batch) VALUES ('999-later', 9)");
  expect(await run(installation, 'after-restore')).toMatchObject({
    code: 78,
    errors: [expect.stringMatching(/nothing was changed: .* newer version of Barid \(999-later\)/)],
  });
});

/** A message whose provider is busy: it is tried again two seconds later. */
async function sendToBusyProvider({ service, url }: { service: Service; url: string }): Promise<string> {
  service.roots.simulator.follow(() => ({ result: 'rejected', reason: 'Slow down', cause: 'busy' }));
  const smsId = await send(url);
  service.roots.wakeSignal.wake();
  await service.idle();
  return smsId;
}
