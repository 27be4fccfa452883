import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeCertificate } from '../../test/support/certificate-files.ts';
import type { Child } from '../../test/support/child-process.ts';
import { commit } from '../../test/support/commit.ts';
import { load, smsRequest } from '../../test/support/http-load.ts';
import { createDatabase, startPrivateRabbit } from '../../test/support/services.ts';
import { printTable } from '../../test/support/table.ts';
import type { ArrivalsReceiverHandlers } from '../servers/arrivals-receiver.ts';
import type { AttackerHandlers } from '../servers/attacker.ts';
import type { NeighbourServiceHandlers } from '../servers/neighbour-service.ts';
import { Bench } from '../support/bench.ts';
import { THIS_CHECKOUT } from '../support/checkout.ts';
import { startSteadyPostgres } from '../support/steady-postgres.ts';
import {
  ATTACKS,
  type Attack,
  attackSeconds,
  chosenAttacks,
  hangingEndpoints,
  isPossible,
  WIRINGS,
  type Wiring,
} from './attacks.ts';
import { figuresOf, type Instants } from './figures.ts';
import { type HealthProbe, type Probe, probe } from './probe.ts';
import { idleShare, startShare } from './processor.ts';
import { NEIGHBOUR } from './seed.ts';
import { HEADER, type Outcome, rowsOf, setBars } from './verdicts.ts';

/**
 * npm run bench:neighbours [-- ATTACK...]
 *
 * How long one project waits while others attack the service: until its send is replied to, until the message is first submitted,
 * and until its first webhook arrives. It sends ten codes a second, during the attack and 5 s after it. Then the service is idle,
 * and what it takes of the processor is measured.
 */

const AFTER_MS = 5_000;
/** What was sent last may take so long to arrive. */
const ARRIVAL_MS_MAX = 5_000;
const POLL_MS = 250;
const SMSC_BINDS = 2;
/** A service that has just started compiles its code first, and makes everybody wait. */
const WARM_UP = { connections: 4, seconds: 3, requests: 2_000 };

const attacks = chosenAttacks(process.argv.slice(2));
console.log(`bench: commit ${commit()}`);
const bench = new Bench([THIS_CHECKOUT]);
try {
  await main();
  bench.printVerdicts();
} finally {
  await bench.stop();
}

async function main(): Promise<void> {
  const postgres = bench.keep(await startSteadyPostgres());
  const certificate = writeCertificate(bench.folder);
  const rows: string[][] = [];
  for (const wiring of WIRINGS) {
    for (const attack of attacks.filter((name) => isPossible(name, wiring))) {
      const outcome = await attacked(attack, wiring, postgres.url, certificate);
      rows.push(...rowsOf(`${ATTACKS[attack]}, ${wiring}`, outcome));
      setBars(bench, attack, `${attack} on ${wiring}`, outcome);
    }
  }
  printTable([HEADER, ...rows]);
}

async function attacked(
  attack: Attack,
  wiring: Wiring,
  postgresUrl: string,
  certificate: ReturnType<typeof writeCertificate>,
): Promise<Outcome> {
  const keys = { RECEIVER_KEY: certificate.key, RECEIVER_CERT: certificate.cert };
  const receiver = await bench.open<ArrivalsReceiverHandlers>(THIS_CHECKOUT, 'arrivals-receiver', keys);
  const attacker = await bench.open<AttackerHandlers>(THIS_CHECKOUT, 'attacker', keys);
  const { servers, databaseUrl, queueUrl } = await storageOf(wiring, attack, postgresUrl);
  const service = await bench.open<NeighbourServiceHandlers>(THIS_CHECKOUT, 'neighbour-service', {
    DATABASE_URL: databaseUrl,
    QUEUE_URL: queueUrl,
    EGRESS_ALLOW: '127.0.0.1/32,::1/128',
    EGRESS_PORTS: `${receiver.port},${attacker.port}`,
    NODE_EXTRA_CA_CERTS: certificate.ca,
    ...(attack === 'floodingSmsc' ? smscOf(await attacker.ask('smscPort')) : {}),
  });
  const { port } = service;
  await load({ port, ...WARM_UP, makeRequest: smsRequest({ apiKey: NEIGHBOUR.apiKey }) });
  const busy = await startShare(service);
  const attacking = attacker.ask(attack, {
    port,
    seconds: attackSeconds(wiring),
    databaseUrl,
    queueUrl,
    endpoints: hangingEndpoints(wiring),
  });
  const busyShare = attacking.then(busy);
  const webhookUrl = `https://localhost:${receiver.port}/neighbour`;
  const { codes, health, endedAt } = await probe({
    port,
    webhookUrl,
    attack: attacking,
    afterMs: AFTER_MS,
  });
  const { triedAt, arrivedAt } = await arrivals(codes, service, receiver);
  const idle = await idleShare(service);
  const figures = (isMeant: (each: HealthProbe) => boolean) =>
    figuresOf(codes.filter(isMeant), health.filter(isMeant), triedAt, arrivedAt);
  const outcome: Outcome = {
    attacks: await attacking,
    busyShare: await busyShare,
    codes,
    endedAt,
    triedAt,
    during: figures(({ sentAt }) => sentAt < endedAt),
    after: figures(({ sentAt }) => sentAt >= endedAt),
    idle,
    longestDripMs: await attacker.ask('longestDripMs'),
  };
  await bench.close([attacker, service, receiver, ...servers]);
  return outcome;
}

/** The SMSC of the attacker carries what live projects send, and nobody here is one. */
function smscOf(port: number): NodeJS.ProcessEnv {
  const smsc = {
    kind: 'smpp',
    url: `smpp://127.0.0.1:${port}`,
    systemId: 'service',
    password: { env: 'SMSC_PASSWORD' },
    binds: SMSC_BINDS,
  };
  const file = join(bench.folder, 'channels.json');
  writeFileSync(file, JSON.stringify({ sms: { providers: { smsc } } }));
  return { CHANNELS_FILE: file, SMSC_PASSWORD: 'bench' };
}

/** When each code was tried, and when its webhook arrived. */
async function arrivals(
  codes: readonly Probe[],
  service: Child<NeighbourServiceHandlers>,
  receiver: Child<ArrivalsReceiverHandlers>,
): Promise<{ triedAt: Instants; arrivedAt: Instants }> {
  const end = performance.now() + ARRIVAL_MS_MAX;
  for (;;) {
    const [triedAt, arrivedAt] = await Promise.all([service.ask('triedAt'), receiver.ask('arrivedAt')]);
    const isThere = codes.every(({ smsId }) => smsId === null || (smsId in triedAt && smsId in arrivedAt));
    if (isThere || performance.now() > end) return { triedAt, arrivedAt };
    await sleep(POLL_MS);
  }
}

/** A database of its own for each attack: what one leaves behind is no matter of the next. */
async function storageOf(
  wiring: Wiring,
  attack: Attack,
  postgresUrl: string,
): Promise<{ servers: readonly { stop(): Promise<void> }[]; databaseUrl: string; queueUrl: string }> {
  if (wiring === 'SQLite') {
    return { servers: [], databaseUrl: `sqlite:${join(bench.folder, attack, 'barid.db')}`, queueUrl: '' };
  }
  const rabbit = bench.keep(await startPrivateRabbit());
  const databaseUrl = await createDatabase(postgresUrl, `neighbours_${attack.toLowerCase()}`);
  return { servers: [rabbit], databaseUrl, queueUrl: rabbit.url };
}
