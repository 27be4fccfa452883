import { mkdtempSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { checkBooks, repeatedSubmissions, SOON_MS } from './books.mjs';
import { chance, commit, seedFrom } from './chance.mjs';
import { startChild } from './child.mjs';
import { mixedRequest } from './load.mjs';
import { BENCH_API_KEY } from './seed.mjs';
import { SteadyLoad } from './steady-load.mjs';

/**
 * Kills the service on SQLite under load, again and again on the same file, and asks each time whether anything
 * that was acknowledged is missing, booked twice or out of balance. Ends with exit code 1 when something is.
 */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 20);
const SEED = seedFrom(process.env.KILL_SEED);
const CONNECTIONS = 32;
const KILL_AFTER_MS = [300, 1_500];

/** Jobs leased by a killed process come due again within a lease, and have to be done then. */
const WORK_DONE_TIMEOUT_MS = 90_000;
/** Past every carrier's report window (72 h). */
const WINDOWS_AHEAD_MS = 73 * 3_600_000;
const QUIET_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/** Where the build is now: a later one must not be mixed in. */
const BUILD = process.env.BENCH_BUILD ?? realpathSync(new URL('../dist', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'barid-kill-'));
const filename = join(folder, 'barid.db');
const submissionsFile = join(folder, 'submissions');
const output = openSync(join(folder, 'service.log'), 'a');
const random = chance(SEED);
const acknowledged = new Set();
const refusals = new Map();
const violations = [];

const start = () =>
  startChild(
    'servers/service.mjs',
    {
      BENCH_BUILD: BUILD,
      DATABASE_URL: `sqlite:${filename}`,
      QUEUE_URL: '',
      ROLE: 'all',
      BENCH_SUBMISSIONS_FILE: submissionsFile,
    },
    { output },
  );

console.log(`kill: commit ${commit()}, seed ${SEED}, ${ROUNDS} rounds, ${CONNECTIONS} connections`);
let service = await start();
try {
  for (let round = 1; round <= ROUNDS; round += 1) await killOnce(round);
  await comeToRest();
} catch (error) {
  violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  if (!service.isOver()) await service.stop();
}
for (const violation of violations) console.log(`VIOLATION  ${violation}`);
console.log(
  `kill: ${ROUNDS} kills, ${acknowledged.size} acknowledged, ${violations.length} violations, seed ${SEED}`,
);
if (violations.length === 0) rmSync(folder, { recursive: true, force: true });
else console.log(`The database and the log of the service are kept in ${folder}`);
process.exitCode = violations.length === 0 ? 0 : 1;

async function killOnce(round) {
  const before = acknowledged.size;
  const load = steadyLoad();
  load.start();
  const [least, most] = KILL_AFTER_MS;
  const after = Math.round(least + random() * (most - least));
  await sleep(after);
  await service.kill('SIGKILL');
  await load.stop();
  const startedAt = performance.now();
  service = await start();
  const readyMs = performance.now() - startedAt;
  const { stored, final, problems } = await check({ quiet: false });
  report(`round ${round}`, problems);
  console.log(
    [
      `round ${String(round).padStart(3)}: killed after ${String(after).padStart(4)} ms`,
      `${acknowledged.size - before} acknowledged, ${load.unanswered} cut off`,
      `${stored} stored, ${final} final`,
      `ready again in ${readyMs.toFixed(0)} ms`,
      problems.length === 0 ? 'ok' : `${problems.length} VIOLATIONS`,
    ].join(', '),
  );
}

/** First all that was left undone is done; then the clock passes the report windows of what was cut off. */
async function comeToRest() {
  const undone = await until(
    'SELECT COUNT(*) AS n FROM jobs WHERE due_at < ?',
    () => Date.now() + SOON_MS,
    WORK_DONE_TIMEOUT_MS,
  );
  await service.ask('clockAhead', WINDOWS_AHEAD_MS);
  const quiet = await until('SELECT COUNT(*) AS n FROM jobs WHERE due_at < ?', () => 1e15, QUIET_TIMEOUT_MS);
  const { stored, failed, problems } = await check({ quiet: true });
  report('at rest', problems);
  const submitted = readFileSync(submissionsFile, 'utf8').trimEnd().split('\n');
  const repeated = repeatedSubmissions(submitted);
  if (repeated.length > 0) report('at rest', [`submitted twice: ${repeated.slice(0, 3).join(', ')}`]);
  console.log(
    [
      `at rest: work done after ${(undone / 1000).toFixed(1)} s, quiet ${(quiet / 1000).toFixed(1)} s after that`,
      `${stored} stored and final, of which ${failed} failed`,
      `${submitted.length} submissions, ${repeated.length} repeated`,
    ].join(', '),
  );
}

/** Milliseconds until the count is 0; rejects when it is not in time. */
async function until(sql, parameter, timeoutMs) {
  const startedAt = performance.now();
  for (;;) {
    const n = read((database) => database.prepare(sql).get(parameter()).n);
    const waitedMs = performance.now() - startedAt;
    if (n === 0) return waitedMs;
    if (waitedMs > timeoutMs) throw new Error(`${n} jobs are still left after ${timeoutMs / 1000} s`);
    await sleep(POLL_MS);
  }
}

async function check({ quiet }) {
  const result = await read(async (database) => {
    const [integrity] = database.pragma('integrity_check');
    const query = async (sql) => database.prepare(sql).all();
    database.exec('BEGIN');
    const books = await checkBooks(query, { acknowledged, quiet });
    database.exec('COMMIT');
    if (integrity.integrity_check !== 'ok') books.problems.push(`integrity: ${integrity.integrity_check}`);
    return books;
  });
  const differences = await service.ask('verify');
  if (differences.length > 0) result.problems.push(`verify: ${JSON.stringify(differences)}`);
  return result;
}

/** A second, reading connection: the service has recovered the file itself by the time this opens it. */
function read(work) {
  const database = new Sqlite(filename, { readonly: true });
  const close = () => database.close();
  const result = work(database);
  if (result instanceof Promise) return result.finally(close);
  close();
  return result;
}

function steadyLoad() {
  return new SteadyLoad({
    ports: () => (service.isOver() ? [] : [service.port]),
    connections: CONNECTIONS,
    makeRequest: mixedRequest({ apiKey: BENCH_API_KEY }),
    onAnswer: (body, status) => {
      if (status === 200) acknowledged.add(JSON.parse(body).smsId);
      else refusals.set(`${status} ${body}`, (refusals.get(`${status} ${body}`) ?? 0) + 1);
    },
  });
}

function report(when, problems) {
  for (const problem of problems) violations.push(`${when}: ${problem}`);
  for (const [refusal, count] of refusals) violations.push(`${when}: answered ${count} × ${refusal}`);
  refusals.clear();
}
