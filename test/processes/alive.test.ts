import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEMO_API_KEY, DEMO_SEED } from '../../src/bootstrap/config/demo-seed.ts';
import { BARID_PROGRAM, MAIN_PROGRAM } from '../support/compiled-service.ts';
import { freePort } from '../support/private-server.ts';
import { runProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { Fifo } from './fifo.ts';

const ROOT = join(import.meta.dirname, '../..');
const INTERNAL_ERROR = { status: 500, body: { message: 'Internal server error' } };
/** Of /healthz, whatever happens. */
const HEALTHZ_MS_MAX = 50;
const HEALTHZ_REQUESTS = 50;
/** `ulimit -f` counts blocks of 512 or 1024 bytes: the tables need some 250 KB. */
const FILE_BLOCKS_MAX = 1_200;
/** Their log lines take more memory than lines may that wait for a reader. */
const MANY_REQUESTS = 8_000;
const REQUESTS_TOGETHER = 50;
const STOP_MS_MAX = 5_000;

let folder: string;
let url: string;
let child: ChildProcess;
let ended: Promise<unknown>;
let stops: (() => void)[];
/** How many requests had a reply. */
let served: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'barid-alive-'));
  const projects = DEMO_SEED.projects.map((project) => ({ ...project, credit: 1_000_000, rateLimit: null }));
  writeFileSync(join(folder, 'seed.json'), JSON.stringify({ ...DEMO_SEED, projects }));
  stops = [];
  served = 0;
});
afterEach(() => {
  child.kill('SIGKILL');
  for (const stop of stops) stop();
  rmSync(folder, { recursive: true });
});

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH ?? '',
  DATABASE_URL: `sqlite:${join(folder, 'barid.db')}`,
  SEED_FILE: join(folder, 'seed.json'),
});

/** The whole program in a process of its own; resolves when it serves. `output` takes its log. */
async function start(output: number, { limits = ':', logLevel = 'info' } = {}): Promise<void> {
  const port = await freePort();
  child = spawn('sh', ['-c', `${limits}; exec "$0" "$@"`, process.execPath, MAIN_PROGRAM], {
    cwd: ROOT,
    // A name that is no setting makes a log line at the start.
    env: { ...environment(), PORT: String(port), LOG_LEVEL: logLevel, DATABASE_URI: 'mistaken' },
    stdio: ['ignore', output, 'inherit'],
  });
  closeSync(output);
  ended = once(child, 'exit');
  url = `http://127.0.0.1:${port}`;
  await until(() => request('/healthz').catch(() => null));
}

async function request(path: string, body?: unknown) {
  const headers = { Authorization: `Bearer ${DEMO_API_KEY}`, 'Content-Type': 'application/json' };
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, { headers, ...init });
  served += 1;
  return { status: response.status, body: (await response.json()) as unknown };
}

const send = (index: number) =>
  request('/sms', {
    phoneNumber: `96477${String(index).padStart(8, '0')}`,
    smsType: 'verification',
    verificationCode: '123456',
    provider: 'sms',
  });

/** What nine of ten replies took at most: the machine may be busy with other tests. */
async function healthzMs(): Promise<number> {
  const times: number[] = [];
  while (times.length < HEALTHZ_REQUESTS) {
    const askedAt = performance.now();
    expect((await request('/healthz')).status).toBe(200);
    times.push(performance.now() - askedAt);
    await sleep(1);
  }
  return times.sort((a, b) => a - b)[Math.floor(0.9 * HEALTHZ_REQUESTS)] ?? Number.POSITIVE_INFINITY;
}

/** A connection of another process to the database of the service. */
function openOther(): Sqlite.Database {
  const other = new Sqlite(join(folder, 'barid.db'), { timeout: 5_000 });
  stops.push(() => other.close());
  return other;
}

function openFifo(): Fifo {
  const fifo = new Fifo(join(folder, 'log'));
  stops.push(() => fifo.close());
  return fifo;
}

/** Requests that each have a line of the log, at the level `debug`. */
async function requestOften(times: number): Promise<void> {
  for (let asked = 0; asked < times; asked += REQUESTS_TOGETHER) {
    const replies = await Promise.all(Array.from({ length: REQUESTS_TOGETHER }, () => request('/healthz')));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  }
}

function droppedIn(lines: readonly string[]): number {
  const told = lines.find((line) => line.includes('"log_lines_dropped"')) ?? '{}';
  return (JSON.parse(told) as { lines: number }).lines;
}

const countOf = (lines: readonly string[], event: string) =>
  lines.filter((line) => line.includes(`"event":"${event}"`)).length;

describe('the program on SQLite', () => {
  it('the program serves /healthz while another process holds the write lock, and then stores every send', async () => {
    await start(openFifo().openForWriting());
    const other = openOther();
    other.exec('BEGIN IMMEDIATE');
    const sends = Promise.all(Array.from({ length: 20 }, (_, index) => send(index)));
    expect(await healthzMs()).toBeLessThan(HEALTHZ_MS_MAX);
    expect(other.prepare('SELECT COUNT(*) FROM messages').pluck().get()).toBe(0);
    other.exec('ROLLBACK');
    expect((await sends).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  });

  it('the program says that its disk is full, stores nothing of what fails, and goes on when there is space', {
    timeout: 40_000,
  }, async () => {
    const fifo = openFifo();
    const log = fifo.read();
    await start(fifo.openForWriting(), { limits: `ulimit -f ${FILE_BLOCKS_MAX}` });
    const other = openOther();
    // While this reads, the log of the database cannot be emptied: it grows to the limit of a file.
    const reader = openOther();
    reader.exec('BEGIN');
    reader.prepare('SELECT COUNT(*) FROM messages').get();
    let accepted = 0;
    while ((await send(accepted)).status === 200) accepted += 1;
    const replies = await Promise.all(Array.from({ length: 50 }, (_, index) => send(1_000 + index)));
    expect(replies).toEqual(Array.from({ length: 50 }, () => INTERNAL_ERROR));
    expect(await healthzMs()).toBeLessThan(HEALTHZ_MS_MAX);
    const readiness = await request('/readyz');
    expect(readiness.status).toBe(503);
    expect(readiness.body).toMatchObject({
      dependencies: [
        {
          name: 'database',
          ok: false,
          detail: 'stores nothing: the disk is full, broken or read-only (SQLITE_IOERR_WRITE)',
        },
        { name: 'queue' },
        { name: 'jobs', detail: expect.not.stringContaining('unknown') },
        { name: 'workers', ok: true },
        ...['sms', 'whatsapp', 'telegram'].map((name) => ({ name })),
      ],
    });
    expect(other.prepare('SELECT COUNT(*) FROM messages').pluck().get()).toBe(accepted);
    expect(countOf(log(), 'request_failed')).toBe(1);

    reader.exec('COMMIT');
    await until(async () => (await request('/readyz')).status === 200);
    expect((await send(2_000)).status).toBe(200);
    await until(() =>
      other.prepare('SELECT COUNT(*) = 0 FROM jobs WHERE due_at < ?').pluck().get(Date.now()),
    );
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    const verified = await runProgram([BARID_PROGRAM, 'verify'], environment());
    expect(verified).toMatchObject({ code: 0, stderr: '' });
  });

  it('the program ends with code 69 and one line when the disk has no space for its tables', async () => {
    child = spawn('sh', ['-c', 'ulimit -f 100; exec "$0" "$@"', process.execPath, MAIN_PROGRAM], {
      cwd: ROOT,
      env: environment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [end, errors] = await Promise.all([once(child, 'exit'), text(child.stderr as Readable)]);
    expect(end).toEqual([69, null]);
    expect(errors).toBe(
      'Barid cannot start:\nDATABASE_URL: the database stores nothing: the disk is full, broken or read-only (SQLITE_IOERR_WRITE)\n',
    );
  });

  it('the program serves requests while nobody reads its log, and counts the lines that it dropped', async () => {
    const fifo = openFifo();
    fifo.fill();
    await start(fifo.openForWriting(), { logLevel: 'debug' });
    await requestOften(MANY_REQUESTS);
    expect(await healthzMs()).toBeLessThan(HEALTHZ_MS_MAX);

    const log = fifo.read();
    await until(() => countOf(log(), 'log_lines_dropped') === 1);
    const lines = droppedIn(log());
    expect(lines).toBeGreaterThan(0);
    expect(countOf(log(), 'request_served') + lines).toBe(served);
    expect(countOf(log(), 'variable_unknown')).toBe(1);
    await request('/healthz');
    await until(() => countOf(log(), 'request_served') + lines === served);
  });

  it('the program serves requests while the disk of its log is full, and counts the lines that it dropped', async () => {
    const file = join(folder, 'log');
    writeFileSync(file, Buffer.alloc(FILE_BLOCKS_MAX * 1024));
    await start(openSync(file, 'a'), { limits: `ulimit -f ${FILE_BLOCKS_MAX}`, logLevel: 'debug' });
    await requestOften(50);
    truncateSync(file);
    const before = served;
    await request('/healthz');
    const log = () => readFileSync(file, 'utf8').split('\n');
    // The warning of the start is missing too. Lines that are on their way meanwhile may be written.
    await until(() => droppedIn(log()) + countOf(log(), 'request_served') === before + 2);
    expect(droppedIn(log())).toBeGreaterThan(0);
    expect(countOf(log(), 'variable_unknown')).toBe(0);
  });

  it('the program ends in order on SIGTERM while nobody reads its log', async () => {
    const fifo = openFifo();
    fifo.fill();
    await start(fifo.openForWriting());
    const askedAt = performance.now();
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(performance.now() - askedAt).toBeLessThan(STOP_MS_MAX);
    expect(openOther().prepare('SELECT COUNT(*) FROM workers').pluck().get()).toBe(0);
  });
});
