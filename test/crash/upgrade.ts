import { setTimeout as sleep } from 'node:timers/promises';
import { migrationNames } from '../../src/adapters/knex/migrations/migrations.ts';
import { commit } from '../support/commit.ts';
import { mixedRequest } from '../support/http-load.ts';
import { LOAD_API_KEY } from '../support/load-seed.ts';
import { LOAD_SECRET_KEY } from '../support/load-service.ts';
import { printTable } from '../support/table.ts';
import { Installation, type ProcessName } from './support/installation.ts';
import { OlderVersion } from './support/older-version.ts';
import { SteadyLoad } from './support/steady-load.ts';
import { QUIET_TIMEOUT_MS, WORK_TIMEOUT_MS } from './support/time-limits.ts';
import { assertAcknowledged, conclude, textOf, verdictOf } from './support/verdict.ts';

/**
 * An api and a worker of an older commit under load on a PostgreSQL and a RabbitMQ of their own. An api and a worker of
 * this version start beside them and migrate, both versions run side by side, and the old processes stop. Proves that
 * sends are accepted all the time, that every accepted message ends, that none is submitted twice, and that an old
 * process does not start on the newer database.
 */
const FROM = process.env.UPGRADE_FROM ?? '86fecc7cdd63';
const ROUNDS = Number(process.env.UPGRADE_ROUNDS ?? 3);
const SIDE_BY_SIDE_SECONDS = Number(process.env.UPGRADE_SECONDS ?? 10);
/** Webhook events that the older version has stored, so that migrations meet a table of some size. */
const EVENTS = Number(process.env.UPGRADE_EVENTS ?? 100_000);
const ALONE_MS = 3_000;
const CONNECTIONS = 8;
const DELAY_MS = 40;
/** A migration waits a second for a lock, and a request behind it as long; twice that is wrong. */
const SEND_MAX_MS = 2_000;

const violations: string[] = [];
const rows: (readonly string[])[] = [];
console.log(`upgrade: from ${FROM} to ${commit()}, ${ROUNDS} rounds, ${EVENTS} webhook events stored`);
console.log('proves: two versions work side by side, and no accepted message is lost or submitted twice');
const older = await OlderVersion.of(FROM);
const newMigrations = migrationNames().filter((name) => !older.migrationNames().includes(name));
console.log(`migrations that ${FROM} does not have: ${newMigrations.join(', ') || 'none'}`);
try {
  for (let round = 1; round <= ROUNDS; round += 1) await upgradeOnce(round);
} finally {
  older.remove();
}
printTable([['round', 'phase', 'seconds', 'accepted', 'cut off', 'slowest send'], ...rows]);
process.exitCode = violations.length === 0 ? 0 : 1;
console.log(`upgrade: ${ROUNDS} rounds, ${violations.length} violations`);

async function upgradeOnce(round: number): Promise<void> {
  const found: string[] = [];
  const acknowledged = new Set<string>();
  const unexpected = new Map<string, number>();
  const installation = await Installation.start(['api-1', 'worker-1'], {}, older.serviceProcess);
  const loadOn = (ports: () => readonly number[]): SteadyLoad =>
    new SteadyLoad({
      ports,
      connections: CONNECTIONS,
      delayMs: DELAY_MS,
      makeRequest: mixedRequest({ apiKey: LOAD_API_KEY }),
      onResponse: (body, status) => {
        if (status === 200) acknowledged.add(JSON.parse(body).smsId);
        else unexpected.set(`${status} ${body}`, (unexpected.get(`${status} ${body}`) ?? 0) + 1);
      },
    });
  // Connections stay where they are: those of the first move to the new api when the old one stops.
  const loads = [
    loadOn(() => installation.apiPorts()),
    loadOn(() => [installation.process('api-2').port]),
  ] as const;
  const cutOff = (): number => loads[0].cutOff + loads[1].cutOff;
  const phase = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const before = { accepted: acknowledged.size, cutOff: cutOff(), at: performance.now() };
    for (const load of loads) load.slowestMs = 0;
    await work();
    const seconds = (performance.now() - before.at) / 1_000;
    const counts = [acknowledged.size - before.accepted, cutOff() - before.cutOff].map(String);
    const slowestMs = Math.max(...loads.map((load) => load.slowestMs));
    rows.push([String(round), name, seconds.toFixed(1), ...counts, `${slowestMs.toFixed(0)} ms`]);
    if (slowestMs > SEND_MAX_MS) found.push(`${name}: a send took ${slowestMs.toFixed(0)} ms`);
    await installation.assertAllRun();
  };
  const stopLoads = (): Promise<unknown> => Promise.all(loads.map((load) => load.stop()));
  try {
    await storeEvents(installation);
    loads[0].start();
    await phase('old alone', () => sleep(ALONE_MS));
    await phase('new ones start and migrate', () =>
      Promise.all([installation.startProcess('api-2'), installation.startProcess('worker-2')]),
    );
    loads[1].start();
    await phase('side by side', () => sleep(SIDE_BY_SIDE_SECONDS * 1_000));
    await phase('old ones stop', async () => {
      const codes = await Promise.all([
        installation.stopProcess('api-1'),
        installation.stopProcess('worker-1'),
      ]);
      if (codes.some((code) => code !== 0)) found.push(`the old processes ended with ${codes.join(', ')}`);
    });
    // As the page on deployment has it: an old worker knows no new kind of job, and makes a dead-letter job of it.
    if (newMigrations.length > 0)
      console.log(`round ${round}: ${await installation.redrive()} jobs due again`);
    await phase('new alone', () => sleep(ALONE_MS));
    if (newMigrations.length > 0)
      await phase('an old one is started', () => startOldOne(installation, round, found));
    await stopLoads();
    assertAcknowledged(acknowledged);
    const workedMs = await installation.untilWorkIsDone(WORK_TIMEOUT_MS);
    await installation.comeToQuiet(QUIET_TIMEOUT_MS);
    const { stored, final, failed, lost, double, problems } = await installation.check({
      acknowledged,
      quiet: true,
    });
    found.push(...problems);
    const submitted = (['worker-1', 'worker-2'] satisfies ProcessName[]).map(
      (name) => installation.submissionsOf(name).length,
    );
    if (submitted.includes(0)) found.push(`the workers submitted ${submitted.join(' and ')} times`);
    console.log(
      [
        `round ${round}: ${acknowledged.size} acknowledged, ${stored} stored, ${final} final (${failed} failed)`,
        `${submitted[0]} submissions by the old worker and ${submitted[1]} by the new one`,
        `${lost} lost, ${double} doubled, work done ${(workedMs / 1_000).toFixed(1)} s after the load`,
      ].join(', '),
    );
  } catch (error) {
    found.push(textOf(error));
  }
  for (const [response, count] of unexpected) found.push(`${count} × response ${response}`);
  await stopLoads();
  await installation.stop({ keepLogs: found.length > 0 });
  conclude(found, `round ${round}: ${verdictOf(found)}`, installation.folder);
  violations.push(...found);
}

/** Delivered long ago, in a project that is gone. */
function storeEvents(installation: Installation): Promise<unknown> {
  return installation.withDatabase((query) =>
    query(
      `INSERT INTO webhook_events (id, kind, project_id, ordering_key, url, endpoint, body, state, is_open, attempts,
         created_at, version)
       SELECT lpad(to_hex(n), 24, '0'), 'delivery', 'none', 'none-' || n, 'https://localhost/', 'localhost:443/',
         repeat('x', 300), 'delivered', 0, 1, $2, 1
       FROM generate_series(1, $1::bigint) AS n`,
      [EVENTS, Date.now()],
    ),
  );
}

/** Must not come up, and must leave the database alone. */
async function startOldOne(installation: Installation, round: number, found: string[]): Promise<void> {
  const { code, text } = await older.runMain({
    DATABASE_URL: installation.postgres.url,
    QUEUE_URL: installation.rabbit.url,
    SECRET_KEY: LOAD_SECRET_KEY.toString('hex'),
    PORT: '0',
    ROLE: 'api',
  });
  const reason = text.split('\n').filter((line) => /^(Error|Barid|DATABASE_URL)\b/.test(line));
  if (round === 1)
    console.log(`An old process on the newer database ended with ${code}: ${reason.join(' ')}`);
  if (code === null || code === 0) found.push(`an old process on the newer database ended with ${code}`);
}
