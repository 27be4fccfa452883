import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_API_KEY } from '../dist/bootstrap/demo-seed.js';
import { startChild } from './child.mjs';
import { load, median, smsRequest } from './load.mjs';
import { BENCH_API_KEY } from './seed.mjs';

/**
 * Measures the service beside what it is compared with, in one run, in turn, and prints ratios: single times
 * differ from machine to machine, ratios within one run hardly do.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 1;
const DELIVERED_MESSAGES = 20_000;
const STORED_FEW = 10_000;
const STORED_MANY = Number(process.env.BENCH_STORED ?? 1_000_000);

const folder = mkdtempSync(join(tmpdir(), 'barid-bench-'));
const service = (name, environment = {}) =>
  startChild('servers/service.mjs', {
    DATABASE_URL: `sqlite:${join(folder, name)}/barid.db`,
    ...environment,
  });
const serviceRequest = smsRequest({ apiKey: BENCH_API_KEY });

try {
  const stock = await startChild('servers/stock-express.mjs');
  const lean = await startChild('servers/lean-express.mjs');
  const real = await service('real');
  const rows = await inTurn([
    {
      label: '(1) express 5 + json + zod, no storage',
      server: stock,
      makeRequest: smsRequest({ apiKey: 'none' }),
    },
    {
      label: "(2) the service's http stack, no storage",
      server: lean,
      makeRequest: smsRequest({ apiKey: DEMO_API_KEY }),
    },
    { label: '(3) POST /sms on SQLite, synchronous=FULL', server: real, makeRequest: serviceRequest },
  ]);
  const memoryMb = await real.ask('memoryMb');
  await Promise.all([stock.stop(), lean.stop(), real.stop()]);
  const delivered = await acceptedToDelivered();
  const [few, many] = await storedMessages();

  const [express, stack, accept] = rows;
  const ratio = (a, b) => (a / b).toFixed(2);
  print([
    ['row', 'requests/s', 'p50 ms', 'p99 ms', '× (1)', '× (2)'],
    ...rows.map((row) => [
      row.label,
      row.perSecond.toFixed(0),
      row.p50.toFixed(1),
      row.p99.toFixed(1),
      ratio(row.perSecond, express.perSecond),
      ratio(row.perSecond, stack.perSecond),
    ]),
    [
      '(4) accepted to delivered, every row written',
      delivered.toFixed(0),
      '',
      '',
      ratio(delivered, express.perSecond),
      ratio(delivered, stack.perSecond),
    ],
  ]);
  print([
    ['acceptance with stored messages', 'requests/s', 'ratio'],
    [`${STORED_FEW.toLocaleString('en')} stored`, few.toFixed(0), '1.00'],
    [`${STORED_MANY.toLocaleString('en')} stored`, many.toFixed(0), ratio(many, few)],
  ]);
  console.log(`memory of the service after (3): ${memoryMb} MB`);
  const bars = [
    [accept.perSecond >= 2 * express.perSecond, '(3) at least 2 × (1)'],
    [accept.perSecond >= 0.5 * stack.perSecond, '(3) at least 0.5 × (2)'],
    [accept.p99 <= 50, '(3) p99 at most 50 ms'],
    [delivered >= 2_000, '(4) at least 2,000 messages/s'],
    [memoryMb < 250, 'memory under 250 MB'],
    [many >= 0.8 * few, 'as fast with many stored messages, within 20 %'],
  ];
  for (const [holds, bar] of bars) console.log(`${holds ? 'holds ' : 'MISSED'}  ${bar}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function inTurn(rows) {
  const rounds = rows.map(() => []);
  for (const row of rows)
    await load({
      port: row.server.port,
      connections: CONNECTIONS,
      seconds: WARM_UP_SECONDS,
      makeRequest: row.makeRequest,
    });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { label, server, makeRequest }] of rows.entries()) {
      const result = await load({
        port: server.port,
        connections: CONNECTIONS,
        seconds: SECONDS,
        makeRequest,
      });
      if (result.refused > 0) throw new Error(`${label}: ${result.refused} answers were not 200`);
      rounds[index].push(result);
    }
  }
  return rows.map(({ label }, index) => ({
    label,
    perSecond: median(rounds[index].map(({ perSecond }) => perSecond)),
    p50: median(rounds[index].map(({ p50 }) => p50)),
    p99: median(rounds[index].map(({ p99 }) => p99)),
  }));
}

/** Messages per second from the first request until the last one is final and settled. */
async function acceptedToDelivered() {
  const server = await service('delivered');
  const started = performance.now();
  await load({
    port: server.port,
    connections: CONNECTIONS,
    seconds: 120,
    requests: DELIVERED_MESSAGES,
    makeRequest: serviceRequest,
  });
  while ((await server.ask('finalMessages')) < DELIVERED_MESSAGES)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const seconds = (performance.now() - started) / 1000;
  await server.stop();
  return DELIVERED_MESSAGES / seconds;
}

/** Acceptance beside few and beside many stored messages, in turn. */
async function storedMessages() {
  const small = await service('small');
  await small.ask('fill', STORED_FEW);
  const large = await service('large');
  await large.ask('fill', STORED_MANY);
  const rows = await inTurn([
    { label: 'few stored', server: small, makeRequest: serviceRequest },
    { label: 'many stored', server: large, makeRequest: serviceRequest },
  ]);
  await Promise.all([small.stop(), large.stop()]);
  return rows.map(({ perSecond }) => perSecond);
}

function print(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  console.log();
  for (const row of rows) {
    console.log(
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
        .join('   '),
    );
  }
}
