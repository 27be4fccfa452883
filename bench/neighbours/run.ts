import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeCertificate } from '../../test/support/certificate-files.ts';
import { commit } from '../../test/support/commit.ts';
import { createDatabase, startPrivatePostgres, startPrivateRabbit } from '../../test/support/services.ts';
import { printTable } from '../../test/support/table.ts';
import type { ArrivalsReceiverHandlers } from '../servers/arrivals-receiver.ts';
import type { AttackerHandlers } from '../servers/attacker.ts';
import type { NeighbourServiceHandlers } from '../servers/neighbour-service.ts';
import { Bench } from '../support/bench.ts';
import { THIS_CHECKOUT } from '../support/checkout.ts';
import { p99, p99WaitMs, probe } from './probe.ts';

/**
 * npm run bench:neighbours [-- ATTACK...]
 *
 * How long one project waits while others attack the service: until its send is replied to, until the message is first submitted,
 * and until its first webhook arrives. It sends ten codes a second, during the attack and 5 s after it.
 */

/** Longer than the 20 s after which SQLite truncates its log. */
const SECONDS = Number(process.env.ATTACK_SECONDS ?? 25);
const AFTER_MS = 5_000;
/** What was sent last may take so long to arrive. */
const ARRIVAL_MS = 5_000;
const REPLY_MS_MAX = 250;
const TRIED_MS_MAX = 500;
const WEBHOOK_MS_MAX = 2_000;
/** No connection stays open for so long before its headers are there. */
const SLOW_HEADERS_MS_MAX = 15_000;

const ATTACKS = {
  nothing: 'no attack',
  storm: 'one project sends as fast as it can',
  hangingReceivers: 'failing sends, each with a webhook address that hangs',
  madeUpKeys: 'made-up keys',
  endlessBodies: 'requests whose bodies never end',
  idleConnections: 'connections without requests',
  slowHeaders: 'requests whose headers come byte by byte',
  campaigns: '20 campaigns of 1,000 recipients, 1,000 a second',
  lockedAccount: 'the account of one project is locked',
} as const satisfies Record<string, string>;
type Attack = keyof typeof ATTACKS;

/** SQLite has no locks of rows. */
const ON_POSTGRES_ONLY: ReadonlySet<Attack> = new Set(['lockedAccount']);

const WIRINGS = ['SQLite', 'PostgreSQL and RabbitMQ'] as const;
type Wiring = (typeof WIRINGS)[number];

const chosen = process.argv.slice(2);
const unknown = chosen.find((name) => !(name in ATTACKS));
if (unknown !== undefined) {
  throw new Error(`There is no attack ${unknown}: the attacks are ${Object.keys(ATTACKS).join(', ')}`);
}
const attacks = (Object.keys(ATTACKS) as Attack[]).filter(
  (name) => chosen.length === 0 || chosen.includes(name),
);

console.log(`bench: commit ${commit()}`);
const bench = new Bench([THIS_CHECKOUT]);
try {
  await main();
  bench.printVerdicts();
} finally {
  await bench.stop();
}

async function main(): Promise<void> {
  const postgres = bench.keep(await startPrivatePostgres());
  const certificate = writeCertificate(bench.folder);
  const keys = { RECEIVER_KEY: certificate.key, RECEIVER_CERT: certificate.cert };
  const rows: string[][] = [];
  for (const wiring of WIRINGS) {
    for (const attack of attacks) {
      if (wiring === 'SQLite' && ON_POSTGRES_ONLY.has(attack)) continue;
      const receiver = await bench.open<ArrivalsReceiverHandlers>(THIS_CHECKOUT, 'arrivals-receiver', keys);
      const attacker = await bench.open<AttackerHandlers>(THIS_CHECKOUT, 'attacker', keys);
      const { servers, databaseUrl, environment } = await storageOf(wiring, attack, postgres.url);
      const service = await bench.open<NeighbourServiceHandlers>(THIS_CHECKOUT, 'neighbour-service', {
        ...environment,
        EGRESS_ALLOW: '127.0.0.1/32,::1/128',
        EGRESS_PORTS: `${receiver.port},${attacker.port}`,
        NODE_EXTRA_CA_CERTS: certificate.ca,
      });
      const { port } = service;
      const attacked = attacker.ask(attack, { port, seconds: SECONDS, databaseUrl });
      const probes = await probe({
        port,
        webhookUrl: `https://localhost:${receiver.port}/neighbour`,
        attack: attacked,
        afterMs: AFTER_MS,
      });
      await sleep(ARRIVAL_MS);
      const reply = p99(
        probes.map(({ status, replyMs }) => (status === 200 ? replyMs : Number.POSITIVE_INFINITY)),
      );
      const tried = p99WaitMs(probes, await service.ask('triedAt'));
      const webhook = p99WaitMs(probes, await receiver.ask('arrivedAt'));
      const failed = probes.filter(({ status }) => status !== 200).length;
      rows.push([
        `${ATTACKS[attack]}, ${wiring}`,
        String(await attacked),
        String(probes.length),
        String(failed),
        ...[reply, tried, webhook].map((ms) => ms.toFixed(0)),
      ]);
      const name = `${attack} on ${wiring}`;
      bench.bar(failed === 0, `${name}: no send failed`);
      bench.bar(reply <= REPLY_MS_MAX, `${name}: replied to within ${REPLY_MS_MAX} ms`);
      bench.bar(tried <= TRIED_MS_MAX, `${name}: tried within ${TRIED_MS_MAX} ms`);
      bench.bar(webhook <= WEBHOOK_MS_MAX, `${name}: webhook within ${WEBHOOK_MS_MAX} ms`);
      if (attack === 'slowHeaders') {
        const longestMs = await attacker.ask('longestDripMs');
        const seconds = SLOW_HEADERS_MS_MAX / 1000;
        bench.bar(longestMs <= SLOW_HEADERS_MS_MAX, `${name}: every connection closed within ${seconds} s`);
        console.log(`${name}: the slowest connection was closed after ${(longestMs / 1000).toFixed(1)} s`);
      }
      await bench.close([attacker, service, receiver, ...servers]);
    }
  }
  printTable([
    ["another project's codes, p99", 'attacks', 'sends', 'failed', 'reply ms', 'tried ms', 'webhook ms'],
    ...rows,
  ]);
}

/** A database of its own for each attack: what one leaves behind is no matter of the next. */
async function storageOf(
  wiring: Wiring,
  attack: Attack,
  postgresUrl: string,
): Promise<{
  servers: readonly { stop(): Promise<void> }[];
  databaseUrl: string;
  environment: NodeJS.ProcessEnv;
}> {
  if (wiring === 'SQLite') {
    const databaseUrl = `sqlite:${join(bench.folder, attack, 'barid.db')}`;
    return { servers: [], databaseUrl, environment: { DATABASE_URL: databaseUrl } };
  }
  const rabbit = bench.keep(await startPrivateRabbit());
  const databaseUrl = await createDatabase(postgresUrl, `neighbours_${attack.toLowerCase()}`);
  return {
    servers: [rabbit],
    databaseUrl,
    environment: { DATABASE_URL: databaseUrl, QUEUE_URL: rabbit.url },
  };
}
