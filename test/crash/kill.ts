import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commit } from '../support/commit.ts';
import { mixedRequest } from '../support/http-load.ts';
import { LOAD_API_KEY } from '../support/load-seed.ts';
import { checkLedger, type LedgerReport, repeatedSubmissions } from './support/ledger-check.ts';
import { between, seededRandom, seedFrom } from './support/seeded-random.ts';
import { SqliteService } from './support/sqlite-service.ts';
import { SteadyLoad } from './support/steady-load.ts';
import { QUIET_TIMEOUT_MS, WORK_DUE_WITHIN_MS, WORK_TIMEOUT_MS } from './support/time-limits.ts';
import { assertAcknowledged, conclude, textOf, verdictOf } from './support/verdict.ts';

/**
 * Kills the service on SQLite under load, again and again on the same file. Proves that every acknowledged message
 * survives, that none is held, settled or submitted twice, and that the ledger balances.
 */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 20);
const SEED = seedFrom(process.env.KILL_SEED);
const CONNECTIONS = 32;
const KILL_AFTER_MS = [300, 1_500] as const;

const service = new SqliteService('kill');
const submissionsFile = join(service.folder, 'submissions');
const start = (): Promise<void> => service.start({ CRASH_SUBMISSIONS_FILE: submissionsFile });
const random = seededRandom(SEED);
const acknowledged = new Set<string>();
/** Responses other than 200, and how many there were. */
const unexpected = new Map<string, number>();
const violations: string[] = [];

console.log(`kill: commit ${commit()}, seed ${SEED}, ${ROUNDS} rounds, ${CONNECTIONS} connections`);
console.log('proves: after SIGKILL every acknowledged message is there, charged once, submitted once');
try {
  await start();
  for (let round = 1; round <= ROUNDS; round += 1) await killOnce(round);
  await comeToQuiet();
  assertAcknowledged(acknowledged);
} catch (error) {
  violations.push(textOf(error));
} finally {
  await service.stop();
}
if (violations.length === 0) service.removeFolder();
conclude(
  violations,
  `kill: ${ROUNDS} kills, ${acknowledged.size} acknowledged, ${violations.length} violations, seed ${SEED}`,
  service.folder,
);

async function killOnce(round: number): Promise<void> {
  const before = acknowledged.size;
  const load = steadyLoad();
  load.start();
  const after = between(random, KILL_AFTER_MS);
  await sleep(after);
  await service.child.kill('SIGKILL');
  await load.stop();
  const startedAt = performance.now();
  await start();
  const readyMs = performance.now() - startedAt;
  const { stored, final, problems } = await check({ quiet: false });
  report(`round ${round}`, problems);
  console.log(
    [
      `round ${String(round).padStart(3)}: killed after ${String(after).padStart(4)} ms`,
      `${acknowledged.size - before} acknowledged, ${load.cutOff} cut off`,
      `${stored} stored, ${final} final`,
      `ready again in ${readyMs.toFixed(0)} ms`,
      verdictOf(problems),
    ].join(', '),
  );
}

/** First the work left over is done. Then the clock passes the receipt windows of what was cut off. */
async function comeToQuiet(): Promise<void> {
  const workMs = await service.untilNoJobs(() => Date.now() + WORK_DUE_WITHIN_MS, WORK_TIMEOUT_MS);
  const quietMs = await service.passReceiptWindows(QUIET_TIMEOUT_MS);
  const { stored, failed, problems } = await check({ quiet: true });
  report('when quiet', problems);
  const submissions = readFileSync(submissionsFile, 'utf8').trimEnd().split('\n');
  const repeated = repeatedSubmissions(submissions);
  if (repeated.length > 0) report('when quiet', [`submitted twice: ${repeated.slice(0, 3).join(', ')}`]);
  console.log(
    [
      `when quiet: work done after ${(workMs / 1000).toFixed(1)} s, quiet ${(quietMs / 1000).toFixed(1)} s later`,
      `${stored} stored and final, of which ${failed} failed`,
      `${submissions.length} submissions, ${repeated.length} repeated`,
    ].join(', '),
  );
}

async function check({ quiet }: { readonly quiet: boolean }): Promise<LedgerReport> {
  const result = await service.read(async (database) => {
    const integrity = database.pragma('integrity_check', { simple: true });
    database.exec('BEGIN');
    const query = async (sql: string) => database.prepare<[], Record<string, unknown>>(sql).all();
    const ledger = await checkLedger(query, { acknowledged, quiet });
    database.exec('COMMIT');
    if (integrity !== 'ok') ledger.problems.push(`integrity: ${integrity}`);
    return ledger;
  });
  result.problems.push(...(await service.child.ask('audit', quiet)));
  return result;
}

function steadyLoad(): SteadyLoad {
  return new SteadyLoad({
    ports: () => service.ports(),
    connections: CONNECTIONS,
    makeRequest: mixedRequest({ apiKey: LOAD_API_KEY }),
    onResponse: (body, status) => {
      if (status === 200) acknowledged.add(JSON.parse(body).smsId);
      else unexpected.set(`${status} ${body}`, (unexpected.get(`${status} ${body}`) ?? 0) + 1);
    },
  });
}

function report(when: string, problems: readonly string[]): void {
  for (const problem of problems) violations.push(`${when}: ${problem}`);
  for (const [response, count] of unexpected) violations.push(`${when}: ${count} × response ${response}`);
  unexpected.clear();
}
