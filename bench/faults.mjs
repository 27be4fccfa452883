import { setTimeout as sleep } from 'node:timers/promises';
import { chance, commit, seedFrom } from './chance.mjs';
import { Installation } from './installation.mjs';
import { LeaseWatch } from './lease-watch.mjs';
import { mixedRequest } from './load.mjs';
import { BENCH_API_KEY } from './seed.mjs';
import { SteadyLoad } from './steady-load.mjs';
import { printTable } from './table.mjs';

/**
 * Two api and two worker processes under load on a PostgreSQL and a RabbitMQ of their own, while each part in
 * turn is killed, stopped or frozen again and again. After every kind of fault the load ends, the work must come
 * to rest, and the books must hold. Ends with exit code 1 when anything does not.
 */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 20);
/** No further round of a kind begins after this time; 20 starts of a broker take most of it. */
const KIND_SECONDS_MAX = Number(process.env.FAULT_KIND_SECONDS ?? 260);
/** A worker that stays frozen keeps its lease of 15 s: such a round takes half a minute. */
const FREEZE_SECONDS_MAX = Number(process.env.FAULT_FREEZE_SECONDS ?? 1_000);
/** The names of the kinds to run, all without. */
const ONLY = process.env.FAULT_KINDS?.split(',');
const SEED = seedFrom(process.env.FAULT_SEED);

const CONNECTIONS = 16;
const PAUSE_MS = 40;
/** A fault comes this long after everything worked again, and lasts that long. */
const CALM_MS = [300, 1_500];
const AWAY_MS = [100, 1_000];

const DOCUMENTED_FAULT = '{"message":"Internal server error"}';
const DATABASE_RECOVERY_MAX_MS = 5_000;
const WORK_RECOVERY_MAX_MS = 15_000;
const TAKE_OVER_MAX_MS = 30_000;
/** Longer than a lease, so that the worker wakes up with jobs that are not its own any more. */
const FROZEN_MS = 20_000;
const WORK_TIMEOUT_MS = 120_000;
const QUIET_TIMEOUT_MS = 90_000;
const POLL_MS = 10;

const PROCESSES = ['api-1', 'api-2', 'worker-1', 'worker-2'];
const random = chance(SEED);
const between = ([least, most]) => Math.round(least + random() * (most - least));

console.log(
  `faults: commit ${commit()}, seed ${SEED}, ${ROUNDS} rounds of each kind in at most ${KIND_SECONDS_MAX} s (freezing: ${FREEZE_SECONDS_MAX} s); ${PROCESSES.join(', ')}`,
);
const installation = await Installation.start(PROCESSES);
const acknowledged = new Set();
const violations = [];
/** What the load sees during one kind; `backAt` is when the server that was away answered again. */
let watch = newWatch();

/** Each resolves when the part is back at work, with the milliseconds that took. */
const KINDS = {
  'api-killed': {
    mayBreak: true,
    disturb: (round) => replace(`api-${1 + (round % 2)}`),
  },
  'worker-killed': {
    disturb: (round) => replace(`worker-${1 + (round % 2)}`),
  },
  'broker-killed': {
    disturb: async () => {
      const before = acknowledged.size;
      await installation.rabbit.kill('SIGKILL');
      await sleep(between(AWAY_MS));
      await installation.rabbit.start();
      if (acknowledged.size === before)
        violations.push('broker-killed: nothing was accepted while it was away');
      return untilWorkGoesOn();
    },
  },
  'database-stopped': {
    mayFail: true,
    disturb: () => databaseAway(() => installation.postgres.stopImmediate()),
  },
  'database-killed': {
    mayFail: true,
    disturb: () => databaseAway(async () => process.kill(installation.postgres.pid, 'SIGKILL')),
  },
  'worker-frozen': {
    secondsMax: FREEZE_SECONDS_MAX,
    disturb: async (round) => {
      const worker = installation.processes.get(`worker-${1 + (round % 2)}`);
      worker.signal('SIGSTOP');
      await sleep(FROZEN_MS);
      worker.signal('SIGCONT');
      return untilWorkGoesOn();
    },
  },
};

const rows = [];
for (const [name, kind] of Object.entries(KINDS)) {
  if (ONLY !== undefined && !ONLY.includes(name)) continue;
  try {
    rows.push(await run(name, kind));
  } catch (error) {
    violations.push(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
    break;
  }
}
await installation.stop({ keepLogs: violations.length > 0 });
printTable([
  [
    'kind',
    'rounds',
    'acknowledged',
    'cut off',
    '500',
    'lost',
    'double',
    'differences',
    'worst recovery',
    'longest lease',
    'longest wait',
    'slowest answer',
  ],
  ...rows,
]);
for (const violation of violations) console.log(`VIOLATION  ${violation}`);
console.log(`faults: ${acknowledged.size} acknowledged, ${violations.length} violations, seed ${SEED}`);
if (violations.length > 0) console.log(`The logs of the processes are kept in ${installation.folder}`);
process.exit(violations.length === 0 ? 0 : 1);

async function run(name, { disturb, secondsMax = KIND_SECONDS_MAX, mayBreak = false, mayFail = false }) {
  watch = newWatch();
  const before = acknowledged.size;
  const since = installation.now();
  const startedAt = performance.now();
  const load = steadyLoad();
  const leases = new LeaseWatch(installation);
  load.start();
  let done = 0;
  let worstMs = 0;
  while (done < ROUNDS && performance.now() - startedAt < secondsMax * 1000) {
    await sleep(between(CALM_MS));
    worstMs = Math.max(worstMs, await disturb(done));
    done += 1;
    for (const [process, child] of installation.processes)
      if (child.isOver()) throw new Error(`${process} ended by itself (${await child.end})`);
  }
  await sleep(between(CALM_MS));
  await load.stop();
  const workedMs = await installation.untilWorkIsDone(WORK_TIMEOUT_MS);
  await leases.stop();
  await installation.comeToRest(QUIET_TIMEOUT_MS);
  const books = await installation.check({ acknowledged, quiet: true });
  worstMs = Math.max(worstMs, watch.lastFaultMs);
  if (mayFail && worstMs > DATABASE_RECOVERY_MAX_MS)
    violations.push(`${name}: ${worstMs.toFixed(0)} ms until answers were 200 again`);
  if (!mayFail && watch.faults > 0) violations.push(`${name}: ${watch.faults} answers were 500`);
  if (!mayBreak && load.unanswered > 0) violations.push(`${name}: ${load.unanswered} requests had no answer`);
  for (const [answer, count] of watch.others) violations.push(`${name}: answered ${count} × ${answer}`);
  for (const problem of books.problems) violations.push(`${name}: ${problem}`);
  const waitedMs = await installation.longestWaitMs(since);
  if (leases.longestMs > TAKE_OVER_MAX_MS)
    violations.push(`${name}: a job lay under one lease for ${leases.longestMs} ms`);
  const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
  console.log(
    `${name}: ${done} rounds, all work done ${seconds(workedMs)} after the load ended, ${books.stored} messages stored in all, ${books.problems.length === 0 ? 'books hold' : `${books.problems.length} VIOLATIONS`}`,
  );
  return [
    name,
    done,
    acknowledged.size - before,
    load.unanswered,
    watch.faults,
    books.lost,
    books.double,
    books.differences,
    seconds(worstMs),
    seconds(leases.longestMs),
    seconds(waitedMs),
    seconds(load.slowestMs),
  ].map(String);
}

/** Kills the process if it runs, and starts it again. */
async function replace(name) {
  const startedAt = performance.now();
  const child = installation.processes.get(name);
  if (!child.isOver()) await child.kill('SIGKILL');
  await installation.startProcess(name);
  return performance.now() - startedAt;
}

async function databaseAway(stop) {
  watch.isAway = true;
  await stop();
  await sleep(between(AWAY_MS));
  await installation.postgres.start();
  watch.backAt = performance.now();
  watch.isAway = false;
  const accepted = acknowledged.size;
  return waitFor(() => acknowledged.size > accepted, DATABASE_RECOVERY_MAX_MS * 4);
}

/** Until a message reaches a channel. */
function untilWorkGoesOn() {
  const submitted = installation.submittedBytes();
  return waitFor(() => installation.submittedBytes() > submitted, WORK_RECOVERY_MAX_MS);
}

async function waitFor(isMet, timeoutMs) {
  const startedAt = performance.now();
  while (!isMet()) {
    if (performance.now() - startedAt > timeoutMs)
      throw new Error(`Nothing moved within ${timeoutMs / 1000} s after the recovery`);
    await sleep(POLL_MS);
  }
  return performance.now() - startedAt;
}

function newWatch() {
  return { isAway: false, backAt: 0, lastFaultMs: 0, faults: 0, others: new Map() };
}

function steadyLoad() {
  return new SteadyLoad({
    ports: () => installation.apiPorts(),
    connections: CONNECTIONS,
    pauseMs: PAUSE_MS,
    makeRequest: mixedRequest({ apiKey: BENCH_API_KEY }),
    onAnswer: (body, status) => {
      if (status === 200) acknowledged.add(JSON.parse(body).smsId);
      else if (status === 500 && body === DOCUMENTED_FAULT) {
        watch.faults += 1;
        if (!watch.isAway) watch.lastFaultMs = Math.max(watch.lastFaultMs, performance.now() - watch.backAt);
      } else watch.others.set(`${status} ${body}`, (watch.others.get(`${status} ${body}`) ?? 0) + 1);
    },
  });
}
