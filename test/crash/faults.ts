import { setTimeout as sleep } from 'node:timers/promises';
import { commit } from '../support/commit.ts';
import { mixedRequest } from '../support/http-load.ts';
import { LOAD_API_KEY } from '../support/load-seed.ts';
import { printTable } from '../support/table.ts';
import { Installation, type ProcessName } from './support/installation.ts';
import { LeaseWatch } from './support/lease-watch.ts';
import { between, seededRandom, seedFrom } from './support/seeded-random.ts';
import { SteadyLoad } from './support/steady-load.ts';
import { assertAcknowledged, conclude, textOf, verdictOf } from './support/verdict.ts';

/**
 * Two api and two worker processes under load on a PostgreSQL and a RabbitMQ of their own, while each part in
 * turn is killed, stopped or frozen again and again, and the clocks of the processes are put apart. After every kind
 * of fault the load ends and all work must be done. Proves that no acknowledged message is lost or doubled, that the
 * ledger balances, and that the service recovers within its limits.
 */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 20);
/** No further round of a kind begins after this time; 20 starts of a broker take most of it. */
const KIND_SECONDS_MAX = Number(process.env.FAULT_KIND_SECONDS ?? 260);
/** A frozen worker keeps its lease of 15 s: such a round takes half a minute. */
const FREEZE_SECONDS_MAX = Number(process.env.FAULT_FREEZE_SECONDS ?? 1_000);
/** The names of the kinds to run; all of them when absent. */
const ONLY = process.env.FAULT_KINDS?.split(',');
const SEED = seedFrom(process.env.FAULT_SEED);

const CONNECTIONS = 16;
const DELAY_MS = 40;
/** A fault comes this long after everything worked again, and lasts that long. */
const CALM_MS = [300, 1_500] as const;
const AWAY_MS = [100, 1_000] as const;

const DOCUMENTED_FAULT = '{"message":"Internal server error"}';
const DATABASE_RECOVERY_MAX_MS = 5_000;
const WORK_RECOVERY_MAX_MS = 15_000;
const TAKE_OVER_MAX_MS = 30_000;
/** Longer than a lease, so that the worker wakes up with jobs that another process has by then. */
const FROZEN_MS = 20_000;
const WORK_TIMEOUT_MS = 120_000;
const QUIET_TIMEOUT_MS = 90_000;
const POLL_MS = 10;
/** How far the clocks of two processes are apart at most. */
const CLOCKS_APART_MS = [0, 600_000] as const;

const PROCESSES = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;

interface Fault {
  /** Disturbs one part; resolves with the milliseconds until that part was back at work. */
  readonly disturb: (round: number) => Promise<number>;
  /** Takes back what outlasts the rounds, before the work that is left is waited for. */
  readonly end?: () => Promise<void>;
  /** Requests may lose their connection. */
  readonly mayBreak?: boolean;
  /** Requests may fail while the database is away. */
  readonly mayFail?: boolean;
  readonly secondsMax?: number;
}

const random = seededRandom(SEED);
console.log(
  `faults: commit ${commit()}, seed ${SEED}, ${ROUNDS} rounds of each kind in at most ${KIND_SECONDS_MAX} s (freezing: ${FREEZE_SECONDS_MAX} s); ${PROCESSES.join(', ')}`,
);
console.log(
  'proves: whatever part dies or freezes, no acknowledged message is lost, doubled or charged wrongly, and work goes on',
);
const installation = await Installation.start(PROCESSES);
const acknowledged = new Set<string>();
const violations: string[] = [];

/** What clients see during one kind of fault. */
class Responses {
  /** Whether the database is away at the moment. */
  isAway = false;
  /** When the database replied again. */
  backAt = 0;
  faults = 0;
  /** How long after the database was back the last fault came. */
  lastFaultMs = 0;
  readonly unexpected = new Map<string, number>();

  read(body: string, status: number): void {
    if (status === 200) acknowledged.add(JSON.parse(body).smsId);
    else if (status === 500 && body === DOCUMENTED_FAULT) {
      this.faults += 1;
      if (!this.isAway) this.lastFaultMs = Math.max(this.lastFaultMs, performance.now() - this.backAt);
    } else this.unexpected.set(`${status} ${body}`, (this.unexpected.get(`${status} ${body}`) ?? 0) + 1);
  }
}
let responses = new Responses();

const FAULTS: Readonly<Record<string, Fault>> = {
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
      await installation.rabbit.kill();
      await sleep(between(random, AWAY_MS));
      await installation.rabbit.start();
      if (acknowledged.size === before)
        violations.push('broker-killed: no message was accepted while it was away');
      return untilWorkGoesOn();
    },
  },
  'database-stopped': {
    mayFail: true,
    disturb: () => databaseAway(() => installation.postgres.stopImmediate()),
  },
  'database-killed': {
    mayFail: true,
    disturb: () => databaseAway(async () => installation.postgres.signalMain('SIGKILL')),
  },
  'worker-frozen': {
    secondsMax: FREEZE_SECONDS_MAX,
    disturb: async (round) => {
      const worker = installation.process(`worker-${1 + (round % 2)}`);
      worker.signal('SIGSTOP');
      await sleep(FROZEN_MS);
      worker.signal('SIGCONT');
      return untilWorkGoesOn();
    },
  },
  // One clock is put ahead or back in each round, so that all four differ.
  'clocks-apart': {
    disturb: async (round) => {
      const name = PROCESSES[round % PROCESSES.length] ?? 'api-1';
      await installation.putClockAhead(name, between(random, CLOCKS_APART_MS));
      await sleep(between(random, AWAY_MS));
      // What a process whose clock is ahead accepts waits for the clocks of the workers.
      return 0;
    },
    end: () => installation.putClocksAhead(CLOCKS_APART_MS[1]),
  },
};

const rows: (readonly string[])[] = [];
for (const [name, fault] of Object.entries(FAULTS)) {
  if (ONLY !== undefined && !ONLY.includes(name)) continue;
  try {
    rows.push(await run(name, fault));
  } catch (error) {
    violations.push(`${name}: ${textOf(error)}`);
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
    'worst recovery',
    'longest lease',
    'longest wait',
    'slowest response',
  ],
  ...rows,
]);
conclude(
  violations,
  `faults: ${acknowledged.size} acknowledged, ${violations.length} violations, seed ${SEED}`,
  installation.folder,
);
process.exit();

async function run(
  name: string,
  { disturb, end, secondsMax = KIND_SECONDS_MAX, mayBreak = false, mayFail = false }: Fault,
): Promise<readonly string[]> {
  responses = new Responses();
  const before = acknowledged.size;
  const since = installation.now();
  const startedAt = performance.now();
  const load = steadyLoad();
  const leases = new LeaseWatch(installation);
  load.start();
  let rounds = 0;
  let worstMs = 0;
  while (rounds < ROUNDS && performance.now() - startedAt < secondsMax * 1000) {
    await sleep(between(random, CALM_MS));
    worstMs = Math.max(worstMs, await disturb(rounds));
    rounds += 1;
    await installation.assertAllRun();
  }
  await sleep(between(random, CALM_MS));
  await load.stop();
  await end?.();
  assertAcknowledged(acknowledged);
  const workedMs = await installation.untilWorkIsDone(WORK_TIMEOUT_MS);
  await leases.stop();
  await installation.comeToQuiet(QUIET_TIMEOUT_MS);
  const ledger = await installation.check({ acknowledged, quiet: true });
  worstMs = Math.max(worstMs, responses.lastFaultMs);
  const found = [...ledger.problems];
  if (mayFail && worstMs > DATABASE_RECOVERY_MAX_MS)
    found.push(`${worstMs.toFixed(0)} ms until responses were 200 again`);
  if (!mayFail && responses.faults > 0) found.push(`${responses.faults} responses were 500`);
  if (!mayBreak && load.cutOff > 0) found.push(`${load.cutOff} requests had no response`);
  for (const [response, count] of responses.unexpected) found.push(`${count} × response ${response}`);
  if (leases.longestMs > TAKE_OVER_MAX_MS) found.push(`a job was under one lease for ${leases.longestMs} ms`);
  violations.push(...found.map((violation) => `${name}: ${violation}`));
  const waitedMs = await installation.longestWaitMs(since);
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
  console.log(
    `${name}: ${rounds} rounds, all work done ${seconds(workedMs)} after the load ended, ${ledger.stored} messages stored in all, ${verdictOf(found)}`,
  );
  return [
    name,
    rounds,
    acknowledged.size - before,
    load.cutOff,
    responses.faults,
    ledger.lost,
    ledger.double,
    seconds(worstMs),
    seconds(leases.longestMs),
    seconds(waitedMs),
    seconds(load.slowestMs),
  ].map(String);
}

/** Kills the process if it runs, and starts it again. */
async function replace(name: ProcessName): Promise<number> {
  const startedAt = performance.now();
  const child = installation.process(name);
  if (!child.isOver()) await child.kill('SIGKILL');
  await installation.startProcess(name);
  return performance.now() - startedAt;
}

async function databaseAway(stop: () => Promise<void>): Promise<number> {
  responses.isAway = true;
  await stop();
  await sleep(between(random, AWAY_MS));
  await installation.postgres.start();
  responses.backAt = performance.now();
  responses.isAway = false;
  const accepted = acknowledged.size;
  return waitFor(() => acknowledged.size > accepted, DATABASE_RECOVERY_MAX_MS * 4);
}

/** Until a message reaches a channel. */
function untilWorkGoesOn(): Promise<number> {
  const submitted = installation.submittedBytes();
  return waitFor(() => installation.submittedBytes() > submitted, WORK_RECOVERY_MAX_MS);
}

async function waitFor(isMet: () => boolean, timeoutMs: number): Promise<number> {
  const startedAt = performance.now();
  while (!isMet()) {
    if (performance.now() - startedAt > timeoutMs)
      throw new Error(`No work was done within ${timeoutMs / 1000} s after the recovery`);
    await sleep(POLL_MS);
  }
  return performance.now() - startedAt;
}

function steadyLoad(): SteadyLoad {
  return new SteadyLoad({
    ports: () => installation.apiPorts(),
    connections: CONNECTIONS,
    delayMs: DELAY_MS,
    makeRequest: mixedRequest({ apiKey: LOAD_API_KEY }),
    onResponse: (body, status) => responses.read(body, status),
  });
}
