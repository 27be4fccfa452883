import { setTimeout as sleep } from 'node:timers/promises';
import { commit } from '../support/commit.ts';
import { mixedRequest } from '../support/http-load.ts';
import { LOAD_API_KEY } from '../support/load-seed.ts';
import { printTable } from '../support/table.ts';
import { backupFile, killBackup } from './operators/kill-backup.ts';
import { killPrices } from './operators/kill-prices.ts';
import { killRedrive } from './operators/kill-redrive.ts';
import { killRestore } from './operators/kill-restore.ts';
import { killRetention } from './operators/kill-retention.ts';
import type { KillCounts, OperatorKills } from './operators/operator-kills.ts';
import { seededRandom, seedFrom } from './support/seeded-random.ts';
import { checkFile, withFile } from './support/sqlite-file.ts';
import { SqliteService } from './support/sqlite-service.ts';
import { SteadyLoad } from './support/steady-load.ts';
import {
  PAST_LATE_WINDOWS_MS,
  QUIET_TIMEOUT_MS,
  WORK_DUE_WITHIN_MS,
  WORK_TIMEOUT_MS,
} from './support/time-limits.ts';
import { assertAcknowledged, conclude, textOf, verdictOf } from './support/verdict.ts';

/**
 * Kills what operators start, on SQLite, at random instants: redrive, an import of prices, backup, restore and retention. Proves
 * that nothing is half done afterwards, that the money agrees, and that the same again finishes.
 */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 10);
const SEED = seedFrom(process.env.KILL_SEED);
const LOAD_MS = 10_000;
const CONNECTIONS = 16;
/** Webhook events of 1 kB, so that a copy of the database takes some time. */
const EVENTS = 60_000;
/** The clock of the service passes all receipt windows, and later the days of retention. */
const RETENTION_AHEAD_MS = 40 * 86_400_000;

const service = new SqliteService('kill-operators');
const acknowledged = new Set<string>();
const violations: string[] = [];
const rows: (readonly string[])[] = [];
let aheadMs = 0;
const kills: OperatorKills = {
  service,
  rounds: ROUNDS,
  random: seededRandom(SEED),
  environment: () => ({ CRASH_CLOCK_AHEAD_MS: String(aheadMs) }),
};

console.log(`kill-operators: commit ${commit()}, seed ${SEED}, ${ROUNDS} kills of each kind`);
console.log(
  'proves: after SIGKILL of what an operator started nothing is half done, and the same again finishes',
);
try {
  await service.start(kills.environment());
  const load = steadyLoad(CONNECTIONS, 0);
  load.start();
  await sleep(LOAD_MS);
  await service.child.kill('SIGKILL');
  await load.stop();
  assertAcknowledged(acknowledged);
  await record('redrive', () => killRedrive(kills));
  await comeToQuiet();
  await record('price import', () => killPrices(kills));
  await storeEvents();
  const backup = backupFile(service.folder);
  await service.start(kills.environment());
  const beside = steadyLoad(1, 100);
  beside.start();
  await record('backup', () => killBackup(kills, backup));
  await sleep(500);
  await beside.stop();
  await service.untilNoJobs(() => Date.now() + aheadMs + WORK_DUE_WITHIN_MS, WORK_TIMEOUT_MS);
  await service.stop();
  await record('restore', () => killRestore(kills, backup));
  acknowledged.clear();
  await comeToQuiet();
  aheadMs += RETENTION_AHEAD_MS;
  await record('retention', () => killRetention(kills));
} catch (error) {
  violations.push(textOf(error));
} finally {
  await service.stop();
}
if (violations.length === 0) service.removeFolder();
printTable([['killed', 'kills', 'untouched', 'midway', 'done', 'seconds', 'verdict'], ...rows]);
conclude(
  violations,
  `kill-operators: ${ROUNDS} kills of each kind, ${violations.length} violations, seed ${SEED}`,
  service.folder,
);

async function record(name: string, work: () => Promise<KillCounts>): Promise<void> {
  const startedAt = performance.now();
  const { untouched, midway, done, problems } = await work();
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  rows.push([name, ...[ROUNDS, untouched, midway, done].map(String), seconds, verdictOf(problems)]);
  console.log(`${name}: ${untouched} untouched, ${midway} midway, ${done} done, ${verdictOf(problems)}`);
  for (const problem of problems) violations.push(`${name}: ${problem}`);
}

/** Starts the service, lets it end everything, checks it and stops it. */
async function comeToQuiet(): Promise<void> {
  await service.start(kills.environment());
  await service.untilNoJobs(() => Date.now() + aheadMs + WORK_DUE_WITHIN_MS, WORK_TIMEOUT_MS);
  await service.passReceiptWindows(QUIET_TIMEOUT_MS, aheadMs);
  aheadMs += PAST_LATE_WINDOWS_MS;
  const audit = await service.child.ask('audit', true);
  await service.stop();
  const { stored, final, problems } = await checkFile(service.filename, acknowledged);
  console.log(`quiet: ${stored} stored, ${final} final`);
  for (const problem of [...audit, ...problems]) violations.push(`when quiet: ${problem}`);
}

function storeEvents(): Promise<unknown> {
  return withFile(service.filename, (database) =>
    database.exec(`
      INSERT INTO webhook_events (id, kind, project_id, ordering_key, url, endpoint, body, state, is_open, attempts, created_at, version)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${EVENTS})
      SELECT printf('%024x', i), 'delivery', 'none', 'none-' || i, 'https://localhost/', 'localhost:443/',
        hex(randomblob(500)), 'delivered', 0, 1, ${Date.now() + aheadMs}, 1 FROM n`),
  );
}

function steadyLoad(connections: number, delayMs: number): SteadyLoad {
  return new SteadyLoad({
    ports: () => service.ports(),
    connections,
    delayMs,
    makeRequest: mixedRequest({ apiKey: LOAD_API_KEY }),
    onResponse: (body, status) => {
      if (status === 200) acknowledged.add(JSON.parse(body).smsId);
      else violations.push(`response ${status} ${body}`);
    },
  });
}
