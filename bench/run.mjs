import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO_API_KEY } from '../dist/bootstrap/demo-seed.js';
import { startPrivatePostgres, startPrivateRabbit } from '../scripts/services.mjs';
import { startChild } from './child.mjs';
import { load, median, smsRequest } from './load.mjs';
import { BENCH_API_KEY } from './seed.mjs';
import { printTable } from './table.mjs';
import { measureWebhooks } from './webhooks.mjs';

/**
 * Measures the service beside what it is compared with, in one run, in turn, and prints ratios: single times
 * differ from machine to machine, ratios within one run hardly do.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const STORED_MANY = Number(process.env.BENCH_STORED ?? 1_000_000);
const STORED_FEW = 10_000;
const CONNECTIONS = 64;
/** Long enough for the code to be compiled and the caches to be filled. */
const WARM_UP_SECONDS = 3;
const DELIVERED_MESSAGES = 20_000;
const DELIVERED_SECONDS_MAX = 120;
const POLL_MS = 20;

const folder = mkdtempSync(join(tmpdir(), 'barid-bench-'));
const serviceRequest = smsRequest({ apiKey: BENCH_API_KEY });
const running = [];
const bars = [];

try {
  await acceptance();
  await storedMessages();
  await onServers();
  await webhooks();
  console.log();
  for (const [holds, bar] of bars) console.log(`${holds ? 'holds ' : 'MISSED'}  ${bar}`);
} finally {
  for (const each of running) await each.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Rows 1 to 4: plain express, the bare http stack, the service on SQLite, and the whole way of a message. */
async function acceptance() {
  const stock = await open('servers/stock-express.mjs');
  const lean = await open('servers/lean-express.mjs');
  const real = await onSqlite('real');
  const [express, stack, accept] = await inTurn([
    { servers: [stock], makeRequest: smsRequest({ apiKey: 'none' }) },
    { servers: [lean], makeRequest: smsRequest({ apiKey: DEMO_API_KEY }) },
    { servers: [real], makeRequest: serviceRequest },
  ]);
  const memoryMb = await real.ask('memoryMb');
  await close(stock, lean, real);
  const delivering = await onSqlite('delivered');
  const delivered = await acceptedToDelivered([delivering]);
  await close(delivering);
  const row = (label, { perSecond, p50, p99 }) => [
    label,
    perSecond.toFixed(0),
    p50?.toFixed(1) ?? '',
    p99?.toFixed(1) ?? '',
    ratio(perSecond, express.perSecond),
    ratio(perSecond, stack.perSecond),
  ];
  printTable([
    ['one process', 'per second', 'p50 ms', 'p99 ms', '× (1)', '× (2)'],
    row('(1) express 5 + json + zod, no storage', express),
    row("(2) the service's http stack, no storage", stack),
    row('(3) POST /sms on SQLite, synchronous=FULL', accept),
    row('(4) accepted to delivered, every row written', { perSecond: delivered }),
  ]);
  console.log(`memory of the service after (3): ${memoryMb} MB`);
  bars.push(
    [accept.perSecond >= 2 * express.perSecond, '(3) at least 2 × (1)'],
    [accept.perSecond >= 0.5 * stack.perSecond, '(3) at least 0.5 × (2)'],
    [accept.p99 <= 50, '(3) p99 at most 50 ms'],
    [delivered >= 2_000, '(4) at least 2,000 messages/s'],
    [memoryMb < 250, 'memory under 250 MB'],
  );
}

/** Acceptance beside few and beside many stored messages, in turn. */
async function storedMessages() {
  const small = await onSqlite('small');
  await small.ask('fill', STORED_FEW);
  const large = await onSqlite('large');
  await large.ask('fill', STORED_MANY);
  const [few, many] = await inTurn([
    { servers: [small], makeRequest: serviceRequest },
    { servers: [large], makeRequest: serviceRequest },
  ]);
  await close(small, large);
  printTable([
    ['acceptance on SQLite beside stored messages', 'per second', 'ratio'],
    [`${STORED_FEW.toLocaleString('en')} stored`, few.perSecond.toFixed(0), '1.00'],
    [
      `${STORED_MANY.toLocaleString('en')} stored`,
      many.perSecond.toFixed(0),
      ratio(many.perSecond, few.perSecond),
    ],
  ]);
  bars.push([many.perSecond >= 0.8 * few.perSecond, 'as fast beside many stored messages, within 20 %']);
}

/** Rows 5 to 7: PostgreSQL with one and with two processes, and the whole way through RabbitMQ. */
async function onServers() {
  const postgres = await startPrivatePostgres();
  running.push(postgres);
  const stock = await open('servers/stock-express.mjs');
  const one = await onPostgres(postgres, { ROLE: 'api' });
  const two = await onPostgres(postgres, { ROLE: 'api' });
  const [express, single, pair] = await inTurn([
    { servers: [stock], makeRequest: smsRequest({ apiKey: 'none' }) },
    { servers: [one], makeRequest: serviceRequest },
    { servers: [one, two], makeRequest: serviceRequest },
  ]);
  await close(stock, one, two);
  const rabbit = await startPrivateRabbit();
  running.push(rabbit);
  const waiting = await onPostgres(postgres, { QUEUE_URL: rabbit.url });
  await settled(waiting);
  const delivered = await acceptedToDelivered([waiting]);
  await close(waiting);
  const row = (label, { perSecond, p50, p99 }) => [
    label,
    perSecond.toFixed(0),
    p50?.toFixed(1) ?? '',
    p99?.toFixed(1) ?? '',
    ratio(perSecond, express.perSecond),
  ];
  printTable([
    ['on servers of their own', 'per second', 'p50 ms', 'p99 ms', '× (1)'],
    row('(1) express 5 + json + zod, no storage', express),
    row('(5) POST /sms on PostgreSQL, one process', single),
    row('(6) POST /sms on PostgreSQL, two processes', pair),
    row('(7) accepted to delivered, PostgreSQL and RabbitMQ', { perSecond: delivered }),
  ]);
  bars.push([single.perSecond >= 1.5 * express.perSecond, '(5) at least 1.5 × (1)']);
}

/** Row 8: webhooks posted with their outcomes stored, beside a loop that only posts. */
async function webhooks() {
  const { barePerSecond: bare, perSecond: service, share } = await measureWebhooks();
  printTable([
    ['webhooks to one HTTPS receiver', 'per second', 'ratio'],
    ['a bare undici Pool', bare.toFixed(0), '1.00'],
    ['(8) the service, outcomes stored', service.toFixed(0), share.toFixed(2)],
  ]);
  bars.push([share >= 0.6, '(8) at least 0.6 of a bare Pool']);
}

async function open(script, environment) {
  const child = await startChild(script, environment);
  running.push(child);
  return child;
}

function onSqlite(name) {
  return open('servers/service.mjs', { DATABASE_URL: `sqlite:${join(folder, name)}/barid.db` });
}

function onPostgres(postgres, environment) {
  return open('servers/service.mjs', { DATABASE_URL: postgres.url, ...environment });
}

async function close(...children) {
  for (const child of children) {
    await child.stop();
    running.splice(running.indexOf(child), 1);
  }
}

/** Each row in turn, several rounds, the medians. A row with two servers has its connections shared out. */
async function inTurn(rows) {
  const rounds = rows.map(() => []);
  for (const row of rows) await measure(row, WARM_UP_SECONDS);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, row] of rows.entries()) rounds[index].push(await measure(row, SECONDS));
  }
  return rounds.map((results) => ({
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    p50: median(results.map(({ p50 }) => p50)),
    p99: median(results.map(({ p99 }) => p99)),
  }));
}

async function measure({ servers, makeRequest }, seconds) {
  const results = await Promise.all(
    servers.map(({ port }) =>
      load({ port, connections: CONNECTIONS / servers.length, seconds, makeRequest }),
    ),
  );
  const refused = results.reduce((sum, result) => sum + result.refused, 0);
  if (refused > 0) throw new Error(`${refused} answers were not 200`);
  return {
    perSecond: results.reduce((sum, result) => sum + result.perSecond, 0),
    p50: Math.max(...results.map(({ p50 }) => p50)),
    p99: Math.max(...results.map(({ p99 }) => p99)),
  };
}

/** Messages per second from the first request until the last one is final and settled. */
async function acceptedToDelivered([server]) {
  const before = await server.ask('finalMessages');
  const started = performance.now();
  await load({
    port: server.port,
    connections: CONNECTIONS,
    seconds: DELIVERED_SECONDS_MAX,
    requests: DELIVERED_MESSAGES,
    makeRequest: serviceRequest,
  });
  while ((await server.ask('finalMessages')) < before + DELIVERED_MESSAGES) {
    if (performance.now() - started > DELIVERED_SECONDS_MAX * 1000)
      throw new Error('Not everything was delivered');
    await sleep(POLL_MS);
  }
  return DELIVERED_MESSAGES / ((performance.now() - started) / 1000);
}

/** Waits until what others accepted before is delivered, so that only new messages are measured. */
async function settled(server) {
  const until = performance.now() + DELIVERED_SECONDS_MAX * 1000;
  while ((await server.ask('finalMessages')) < (await server.ask('messages'))) {
    if (performance.now() > until) throw new Error('The messages accepted before were not delivered');
    await sleep(POLL_MS);
  }
}

function ratio(a, b) {
  return (a / b).toFixed(2);
}
