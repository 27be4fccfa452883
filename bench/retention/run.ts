import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '../../src/adapters/node/system-clock.ts';
import { runRetentionJob } from '../../src/application/jobs/retention-jobs.ts';
import type { Logger } from '../../src/application/ports/logger.ts';
import { readConfig } from '../../src/bootstrap/config/config.ts';
import { readSeed } from '../../src/bootstrap/config/seed-file.ts';
import { buildContainer } from '../../src/bootstrap/container.ts';
import { resolveRoots } from '../../src/bootstrap/roots.ts';
import type { Project } from '../../src/domain/access/project.ts';
import type { SendRequest } from '../../src/domain/messages/send-request.ts';
import type { PhoneNumber } from '../../src/domain/shared/phone-number.ts';
import { loadSeed } from '../../test/support/load-seed.ts';
import { percentile } from '../../test/support/percentile.ts';
import { fillMessages } from '../operators/fill-messages.ts';

/*
 * How long a send waits while the oldest month of all projects is anonymised or removed:
 * `node scripts/compiled.mjs bench/retention/run.ts`. It sends once every `SEND_EVERY_MS` and prints the waits with and
 * without retention, in milliseconds.
 */
const STORED = Number(process.env.RETENTION_STORED ?? 1_000_000);
const ACTION = process.env.RETENTION_ACTION ?? 'remove';
const REMOVED_DAYS = 30;
const SEND_EVERY_MS = 10;
const QUIET_SENDS = 300;
const PROJECTS_MAX = 100;
const DAY_MS = 86_400_000;

const folder = mkdtempSync(join(tmpdir(), 'barid-retention-'));
const DATABASE_URL = process.env.RETENTION_DATABASE_URL ?? `sqlite:${join(folder, 'barid.db')}`;
const clock = new SystemClock();
const silent: Logger = { writesDebug: false, debug() {}, info() {}, warn() {}, error() {} };
const config = readConfig({ DATABASE_URL, DATABASE_STATEMENT_TIMEOUT_MS: '600000' });
const roots = resolveRoots(buildContainer({ ...config, secretKey: Buffer.alloc(32), clock, logger: silent }));

const seed = readSeed(loadSeed());
/** Numbers of an earlier run on the same database would be too many for the rate limit. */
const firstNumber = clock.now() % 10_000_000;

const request = (index: number): SendRequest => {
  const phoneNumber = `96477${String((firstNumber + index) % 10_000_000).padStart(8, '0')}` as PhoneNumber;
  return {
    phoneNumber,
    phoneNumberAsSent: phoneNumber,
    provider: 'sms',
    senderId: null,
    content: { smsType: 'custom', customMessage: 'Your parcel has arrived. '.repeat(4) },
    whatsappSender: { accountId: null, phoneId: null, templateName: null },
    deliveryReport: null,
  };
};

/** The project that sends: the first run on a database stores it. */
async function sendingProject(): Promise<Project> {
  await roots.applySeed.execute(seed);
  const projects = await roots.unitOfWork.read((stores) => stores.projects.list(null, PROJECTS_MAX));
  const found = projects.find(({ slug }) => slug === seed.projects[0]?.project.slug);
  if (found === undefined) throw new Error('There is no project');
  return found;
}

/** Has the filled projects keep all but the oldest `REMOVED_DAYS` days. Resolves with the number of older messages. */
async function setRetention(project: Project): Promise<number> {
  const { knex } = roots.database;
  const filled = await knex('projects').where('name', 'Bench').whereNot('id', project.id).pluck('id');
  const [oldest] = await knex('messages').whereIn('project_id', filled).min({ at: 'created_at' });
  const days = Math.floor((clock.now() - Number(oldest?.at)) / DAY_MS) - REMOVED_DAYS;
  const settings = { ...project.settings, retention: { days, action: ACTION } };
  await knex('projects')
    .whereIn('id', filled)
    .update({ settings: JSON.stringify(settings) });
  const [old] = await knex('messages')
    .whereIn('project_id', filled)
    .where('created_at', '<', clock.now() - days * DAY_MS)
    .count({ n: '*' });
  return Number(old?.n);
}

async function timedSend(project: Project, index: number): Promise<number> {
  const startedAt = performance.now();
  await roots.sendMessages.execute({
    project,
    request: request(index),
    idempotency: null,
  } as never);
  return performance.now() - startedAt;
}

function print(title: string, waits: readonly number[]): void {
  const at = (share: number) => percentile(waits, share).toFixed(1);
  console.log(`${title}: ${waits.length} sends, median ${at(0.5)}, 99 % ${at(0.99)}, longest ${at(1)} ms`);
}

try {
  await roots.database.migrate();
  const project = await sendingProject();
  await fillMessages(roots.database, STORED, clock.now());
  const old = await setRetention(project);
  const quiet: number[] = [];
  for (let index = 0; index < QUIET_SENDS; index += 1) {
    quiet.push(await timedSend(project, index));
    await sleep(SEND_EVERY_MS);
  }
  print('without retention', quiet);

  await roots.unitOfWork.run(({ jobs }) => jobs.add([runRetentionJob(1)], clock.now()));
  const workerId = roots.idSource.hex24(clock.now());
  const leased = await roots.unitOfWork.run(({ jobs }) =>
    jobs.lease({ now: 2, until: clock.now() + DAY_MS, limit: 1, workerId }),
  );
  const startedAt = performance.now();
  await roots.runRetention.execute(leased as never);
  let isOver = false;
  const over = roots.background.idle().then(() => {
    isOver = true;
  });
  const busy: number[] = [];
  for (let index = QUIET_SENDS; !isOver; index += 1) {
    busy.push(await timedSend(project, index));
    await sleep(SEND_EVERY_MS);
  }
  await over;
  print(`with ${ACTION}`, busy);
  console.log(`${old} messages: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
} finally {
  await roots.database.close();
  rmSync(folder, { recursive: true });
}
