import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { LEASE_MS } from '../../src/domain/jobs/job.ts';
import { writeCertificate } from '../support/certificate-files.ts';
import { startChild } from '../support/child-process.ts';
import { commit } from '../support/commit.ts';
import { postTo } from '../support/http-load.ts';
import { LOAD_API_KEY } from '../support/load-seed.ts';
import { between, seededRandom, seedFrom } from './support/seeded-random.ts';
import { SqliteService } from './support/sqlite-service.ts';
import { SteadyLoad } from './support/steady-load.ts';
import { QUIET_TIMEOUT_MS, WORK_DUE_WITHIN_MS, WORK_TIMEOUT_MS } from './support/time-limits.ts';
import { assertAcknowledged, conclude, textOf, verdictOf } from './support/verdict.ts';
import {
  checkWebhooks,
  type EventRow,
  type JobRow,
  type MessageRow,
  type ReceivedRequest,
  type WebhookReport,
} from './support/webhook-check.ts';

/**
 * Kills the service while it delivers webhooks, again and again on the same file, and compares its rows with what
 * the receiver wrote down. Proves that no event is lost, delivered twice without need, or delivered out of order.
 */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 20);
const SEED = seedFrom(process.env.KILL_SEED);
const CONNECTIONS = 16;
const DELAY_MS = 10;
const KILL_AFTER_MS = [400, 2_000] as const;

/** Delivered, delivered after a fallback, failed, read before delivered, reported twice. */
const OUTCOMES = ['0001', '0007', '0006', '0013', '0012'];
const SECRET = 'crash-webhook-secret';

const service = new SqliteService('kill-webhooks');
const receiverLog = join(service.folder, 'requests');
const certificate = writeCertificate(service.folder);
const random = seededRandom(SEED);
const post = postTo('/sms', LOAD_API_KEY);
const acknowledged = new Set<string>();
const violations: string[] = [];
const kills: number[] = [];
/** By event id: the instant of the kill before which the event was recorded as delivered. */
const recorded = new Map<string, number>();

const receiver = await startChild(new URL('./support/logging-receiver.js', import.meta.url), {
  RECEIVER_KEY: certificate.key,
  RECEIVER_CERT: certificate.cert,
  RECEIVER_LOG: receiverLog,
});
const webhookUrl = `https://localhost:${receiver.port}/hook`;

/** The clock of each start is past the leases of the process before, so that delivery begins at once. */
let starts = 0;
const start = (): Promise<void> => {
  starts += 1;
  return service.start({
    CRASH_CLOCK_AHEAD_MS: String(starts * LEASE_MS),
    EGRESS_ALLOW: '127.0.0.1/32,::1/128',
    EGRESS_PORTS: String(receiver.port),
    NODE_EXTRA_CA_CERTS: certificate.ca,
  });
};

console.log(`kill-webhooks: commit ${commit()}, seed ${SEED}, ${ROUNDS} rounds, ${CONNECTIONS} connections`);
console.log(
  'proves: after SIGKILL no webhook event is lost or out of order, and none is repeated once its delivery is recorded',
);
try {
  await start();
  for (let round = 1; round <= ROUNDS; round += 1) await killOnce(round);
  await comeToQuiet();
  assertAcknowledged(acknowledged);
} catch (error) {
  violations.push(textOf(error));
} finally {
  await service.stop();
  await receiver.stop();
}
if (violations.length === 0) service.removeFolder();
conclude(
  violations,
  `kill-webhooks: ${kills.length} kills, ${acknowledged.size} acknowledged, ${violations.length} violations, seed ${SEED}`,
  service.folder,
);

async function killOnce(round: number): Promise<void> {
  const before = acknowledged.size;
  const load = steadyLoad();
  load.start();
  const after = between(random, KILL_AFTER_MS);
  await sleep(after);
  await service.child.kill('SIGKILL');
  const killedAt = Date.now();
  kills.push(killedAt);
  await load.stop();
  const newlyRecorded = rememberDelivered(killedAt);
  await start();
  const { events, requests, repeated, problems } = await check({ quiet: false });
  for (const problem of problems) violations.push(`round ${round}: ${problem}`);
  console.log(
    [
      `round ${String(round).padStart(3)}: killed after ${String(after).padStart(4)} ms`,
      `${acknowledged.size - before} acknowledged`,
      `${newlyRecorded} more recorded as delivered`,
      `${events} events, ${requests} requests, ${repeated} of them again`,
      verdictOf(problems),
    ].join(', '),
  );
}

/** First the work left over is done. Then the clock passes the receipt windows of what was cut off. */
async function comeToQuiet(): Promise<void> {
  const workMs = await service.untilNoJobs(() => Date.now() + WORK_DUE_WITHIN_MS, WORK_TIMEOUT_MS);
  const quietMs = await service.passReceiptWindows(QUIET_TIMEOUT_MS);
  const { events, states, requests, repeated, problems } = await check({ quiet: true });
  for (const problem of problems) violations.push(`when quiet: ${problem}`);
  const open = events - (states.delivered ?? 0) - (states.superseded ?? 0);
  if (open > 0) violations.push(`when quiet: ${open} events are neither delivered nor superseded`);
  const { messages } = await readRows();
  const stored = new Set(messages.map(({ sms_id }) => sms_id));
  const lost = [...acknowledged].filter((id) => !stored.has(id));
  if (lost.length > 0) violations.push(`when quiet: ${lost.length} × acknowledged, not stored: ${lost[0]}`);
  const unfinished = messages.filter(({ is_final }) => is_final === 0);
  if (unfinished.length > 0) violations.push(`when quiet: ${unfinished.length} messages are not final`);
  console.log(
    [
      `when quiet: work done after ${(workMs / 1000).toFixed(1)} s, quiet ${(quietMs / 1000).toFixed(1)} s later`,
      `${messages.length} messages, ${events} events (${JSON.stringify(states)})`,
      `${requests} requests, ${repeated} duplicates (responded 2xx, not recorded before the kill)`,
    ].join(', '),
  );
}

/** Reads a copy: opening the file itself would recover it before the service has to. */
function rememberDelivered(killedAt: number): number {
  const copy = join(service.folder, 'copy.db');
  for (const suffix of ['', '-wal']) {
    if (existsSync(service.filename + suffix)) copyFileSync(service.filename + suffix, copy + suffix);
  }
  const database = new Sqlite(copy);
  const delivered = database
    .prepare<[], { id: string }>("SELECT id FROM webhook_events WHERE state = 'delivered'")
    .all();
  database.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
  const before = recorded.size;
  for (const { id } of delivered) if (!recorded.has(id)) recorded.set(id, killedAt);
  return recorded.size - before;
}

/** Events received between reading the rows and reading the requests are left out, unless the service is quiet. */
async function check({ quiet }: { readonly quiet: boolean }): Promise<WebhookReport> {
  const rows = await readRows();
  const stored = new Set(rows.events.map(({ id }) => id));
  const requests = readFileSync(receiverLog, 'utf8').split('\n').filter(Boolean).map(parseRequest);
  const counted = quiet ? requests : requests.filter(({ id }) => stored.has(id));
  return checkWebhooks({ ...rows, requests: counted, kills, recorded });
}

function readRows() {
  return service.read((database) => {
    database.exec('BEGIN');
    const events = database
      .prepare<[], EventRow>(
        'SELECT id, project_id, endpoint, ordering_key, body, state, is_open, next_attempt_at FROM webhook_events',
      )
      .all();
    const messages = database.prepare<[], MessageRow>('SELECT sms_id, is_final FROM messages').all();
    const jobs = database.prepare<[], JobRow>('SELECT work, due_at, leased_by FROM jobs').all();
    database.exec('COMMIT');
    return { events, messages, jobs };
  });
}

function parseRequest(line: string): ReceivedRequest {
  const [, at, id, body] = /^(\d+) (\S+) (.*)$/.exec(line) ?? [];
  if (id === undefined || body === undefined) throw new Error(`The receiver wrote ${line}`);
  return { at: Number(at), id, body };
}

function steadyLoad(): SteadyLoad {
  return new SteadyLoad({
    ports: () => service.ports(),
    connections: CONNECTIONS,
    delayMs: DELAY_MS,
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
    onResponse: (body, status) => {
      if (status === 200) acknowledged.add(JSON.parse(body).smsId);
      else violations.push(`response ${status} ${body}`);
    },
  });
}
