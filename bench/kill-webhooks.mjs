import { copyFileSync, existsSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { LEASE_MS } from '../dist/application/jobs.js';
import { makeCertificate } from './certificate.mjs';
import { chance, commit, seedFrom } from './chance.mjs';
import { startChild } from './child.mjs';
import { postTo } from './load.mjs';
import { BENCH_API_KEY } from './seed.mjs';
import { SteadyLoad } from './steady-load.mjs';
import { checkWebhooks } from './webhook-books.mjs';

/**
 * Kills the service while it posts webhooks, again and again on the same file, and compares what its rows say with
 * what the receiver wrote down. Ends with exit code 1 when an event is lost, posted without need or out of order.
 */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 20);
const SEED = seedFrom(process.env.KILL_SEED);
const CONNECTIONS = 16;
const PAUSE_MS = 10;
const KILL_AFTER_MS = [400, 2_000];

/** Jobs leased by a killed process come due again within a lease, and have to be done then. */
const WORK_DONE_TIMEOUT_MS = 90_000;
const SOON_MS = 3_600_000;
/** Past every carrier's report window (72 h). */
const WINDOWS_AHEAD_MS = 73 * 3_600_000;
const QUIET_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/** Delivered, delivered after a fallback, failed, read before delivered, reported twice. */
const OUTCOMES = ['0001', '0007', '0006', '0013', '0012'];
const SECRET = 'bench-webhook-secret';

/** Where the build is now: a later one must not be mixed in. */
const BUILD = process.env.BENCH_BUILD ?? realpathSync(new URL('../dist', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'barid-kill-webhooks-'));
const filename = join(folder, 'barid.db');
const receiverLog = join(folder, 'posts');
const certificate = makeCertificate(folder);
const output = openSync(join(folder, 'service.log'), 'a');
const random = chance(SEED);
const post = postTo('/sms', BENCH_API_KEY);
const acknowledged = new Set();
const violations = [];
const kills = [];
/** When the kill was before which an event was recorded as delivered. */
const recorded = new Map();

const receiver = await startChild('servers/receiver.mjs', {
  RECEIVER_KEY: certificate.key,
  RECEIVER_CERT: certificate.cert,
  RECEIVER_LOG: receiverLog,
});
const webhookUrl = `https://localhost:${receiver.port}/hook`;
/** Each service begins when the leases of the one before are over, so that it posts from its first moment on. */
let starts = 0;
const start = () => {
  starts += 1;
  return startChild(
    'servers/service.mjs',
    {
      BENCH_CLOCK_AHEAD_MS: String(starts * LEASE_MS),
      BENCH_BUILD: BUILD,
      DATABASE_URL: `sqlite:${filename}`,
      QUEUE_URL: '',
      ROLE: 'all',
      EGRESS_ALLOW: '127.0.0.1/32,::1/128',
      EGRESS_PORTS: String(receiver.port),
      NODE_EXTRA_CA_CERTS: certificate.ca,
    },
    { output },
  );
};

console.log(`kill-webhooks: commit ${commit()}, seed ${SEED}, ${ROUNDS} rounds, ${CONNECTIONS} connections`);
let service = await start();
try {
  for (let round = 1; round <= ROUNDS; round += 1) await killOnce(round);
  await comeToRest();
} catch (error) {
  violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  if (!service.isOver()) await service.stop();
  await receiver.stop();
}
for (const violation of violations) console.log(`VIOLATION  ${violation}`);
console.log(
  `kill-webhooks: ${kills.length} kills, ${acknowledged.size} acknowledged, ${violations.length} violations, seed ${SEED}`,
);
if (violations.length === 0) rmSync(folder, { recursive: true, force: true });
else console.log(`The database and the logs are kept in ${folder}`);
process.exitCode = violations.length === 0 ? 0 : 1;

async function killOnce(round) {
  const before = acknowledged.size;
  const load = steadyLoad();
  load.start();
  const [least, most] = KILL_AFTER_MS;
  const after = Math.round(least + random() * (most - least));
  await sleep(after);
  await service.kill('SIGKILL');
  const killedAt = Date.now();
  kills.push(killedAt);
  await load.stop();
  const newly = rememberDelivered(killedAt);
  service = await start();
  const result = check({ quiet: false });
  for (const problem of result.problems) violations.push(`round ${round}: ${problem}`);
  console.log(
    [
      `round ${String(round).padStart(3)}: killed after ${String(after).padStart(4)} ms`,
      `${acknowledged.size - before} acknowledged`,
      `${newly} more recorded as delivered`,
      `${result.events} events, ${result.posted} posts, ${result.repeated} of them again`,
      result.problems.length === 0 ? 'ok' : `${result.problems.length} VIOLATIONS`,
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
  const result = check({ quiet: true });
  const { events, states, posted, repeated, problems } = result;
  for (const problem of problems) violations.push(`at rest: ${problem}`);
  const open = events - (states.delivered ?? 0) - (states.superseded ?? 0);
  if (open > 0) violations.push(`at rest: ${open} events are neither delivered nor superseded`);
  const { messages } = readRows(filename);
  const known = new Set(messages.map(({ sms_id }) => sms_id));
  const lost = [...acknowledged].filter((id) => !known.has(id));
  if (lost.length > 0) violations.push(`at rest: ${lost.length} × acknowledged, not stored: ${lost[0]}`);
  const unfinished = messages.filter(({ is_final }) => Number(is_final) === 0);
  if (unfinished.length > 0) violations.push(`at rest: ${unfinished.length} messages are not final`);
  console.log(
    [
      `at rest: work done after ${(undone / 1000).toFixed(1)} s, quiet ${(quiet / 1000).toFixed(1)} s after that`,
      `${messages.length} messages, ${events} events (${JSON.stringify(states)})`,
      `${posted} posts, ${repeated} duplicates (answered 2xx, not recorded before the kill)`,
    ].join(', '),
  );
}

/** Milliseconds until the count is 0; rejects when it is not in time. */
async function until(sql, parameter, timeoutMs) {
  const startedAt = performance.now();
  for (;;) {
    const database = new Sqlite(filename, { readonly: true });
    const { n } = database.prepare(sql).get(parameter());
    database.close();
    const waitedMs = performance.now() - startedAt;
    if (n === 0) return waitedMs;
    if (waitedMs > timeoutMs) throw new Error(`${n} jobs are still left after ${timeoutMs / 1000} s`);
    await sleep(POLL_MS);
  }
}

/** Reads a copy: opening the file itself would recover it before the service has to. */
function rememberDelivered(killedAt) {
  const copy = join(folder, 'copy.db');
  for (const suffix of ['', '-wal']) {
    if (existsSync(filename + suffix)) copyFileSync(filename + suffix, copy + suffix);
  }
  const database = new Sqlite(copy);
  const rows = database.prepare("SELECT id FROM webhook_events WHERE state = 'delivered'").all();
  database.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
  const before = recorded.size;
  for (const { id } of rows) if (!recorded.has(id)) recorded.set(id, killedAt);
  return recorded.size - before;
}

/** What is posted between reading the rows and reading the posts is left out, unless all is quiet. */
function check({ quiet }) {
  const rows = readRows(filename);
  const known = new Set(rows.events.map(({ id }) => id));
  const posts = readFileSync(receiverLog, 'utf8').split('\n').filter(Boolean).map(parsePost);
  const counted = quiet ? posts : posts.filter(({ id }) => known.has(id));
  return checkWebhooks({ ...rows, posts: counted, kills, recorded });
}

function readRows(file) {
  const database = new Sqlite(file, { readonly: true });
  database.exec('BEGIN');
  const events = database
    .prepare(
      'SELECT id, project_id, endpoint, subject, body, state, is_open, next_attempt_at FROM webhook_events',
    )
    .all();
  const messages = database.prepare('SELECT sms_id, is_final FROM messages').all();
  const jobs = database.prepare('SELECT work, due_at, is_leased FROM jobs').all();
  database.exec('COMMIT');
  database.close();
  return { events, messages, jobs };
}

function parsePost(line) {
  const [, at, id, body] = /^(\d+) (\S+) (.*)$/.exec(line);
  return { at: Number(at), id, body };
}

function steadyLoad() {
  return new SteadyLoad({
    ports: () => (service.isOver() ? [] : [service.port]),
    connections: CONNECTIONS,
    pauseMs: PAUSE_MS,
    makeRequest: () => {
      const outcome = OUTCOMES[Math.floor(random() * OUTCOMES.length)];
      const number = `999${100_000 + Math.floor(Math.random() * 900_000)}${outcome}`;
      return post(
        JSON.stringify({
          phoneNumber: number,
          smsType: 'verification',
          verificationCode: '123456',
          provider: 'whatsapp-sms',
          deliveryReport: { webhookUrl, deliveryReportType: 'all', webhookSecret: SECRET },
        }),
      );
    },
    onAnswer: (body, status) => {
      if (status === 200) acknowledged.add(JSON.parse(body).smsId);
      else violations.push(`answered ${status} ${body}`);
    },
  });
}
