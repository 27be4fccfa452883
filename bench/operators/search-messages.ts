import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/adapters/knex/database.ts';
import { readConfig } from '../../src/bootstrap/config/config.ts';
import type { Child } from '../../test/support/child-process.ts';
import { load, smsRequest } from '../../test/support/http-load.ts';
import { LOAD_API_KEY } from '../../test/support/load-seed.ts';
import { percentile } from '../../test/support/percentile.ts';
import type { ServiceHandlers } from '../servers/service.ts';
import { THIS_CHECKOUT } from '../support/checkout.ts';
import { offer } from '../support/offered-load.ts';
import { inOrderOf, median } from '../support/rounds.ts';
import { type Filled, fillMessages } from './fill-messages.ts';

/*
 * node scripts/compiled.mjs bench/operators/search-messages.ts [COUNT]
 *
 * Fills a database with COUNT messages (1,000,000 without it) of a year, starts the service on it, and prints how long the
 * first page of each search takes over HTTP while sends come by the clock. Then it prints which share of its sends a busy
 * service keeps while searches come. BENCH_DATABASE_URL names the database, which is kept and not filled twice; without it
 * the database is SQLite in a temporary file.
 */
const COUNT = Number(process.argv[2] ?? 1_000_000);
const SENDS_PER_SECOND = 100;
const SEARCHES = Number(process.env.BENCH_SEARCHES ?? 200);
const PAUSE_MS = 10;
const BAR_MS = 100;
const LOADED_SEARCHES_PER_SECOND = 2;
const LOADED_SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const LOADED_ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const CONNECTIONS = 64;
const PAGE = 50;
/** A request that costs next to nothing: what it waits for is the machine. */
const CONTROL = '/webhooks/circuits?limit=1';
const ADMIN_TOKEN = 'a-token-of-the-bench-of-operators';

type Query = Readonly<Record<string, string>>;

const folder = mkdtempSync(join(tmpdir(), 'barid-search-'));
const DATABASE_URL = process.env.BENCH_DATABASE_URL ?? `sqlite:${join(folder, 'barid.db')}`;
const makeRequest = smsRequest({ apiKey: LOAD_API_KEY });

try {
  // The first start stores the project that sends.
  await (await start()).stop();
  const filled = await fill();
  const service = await start();
  await measureSearches(service, filled);
  await measureSends(service, filled);
  await service.stop();
} finally {
  rmSync(folder, { recursive: true });
}

function start(): Promise<Child<ServiceHandlers>> {
  return THIS_CHECKOUT.start('service', { DATABASE_URL, ADMIN_TOKEN, QUEUE_URL: '', ROLE: 'all' });
}

async function fill(): Promise<Filled> {
  const database = openDatabase(
    readConfig({ DATABASE_URL, DATABASE_STATEMENT_TIMEOUT_MS: '600000' }).database,
  );
  try {
    const startedAt = performance.now();
    const filled = await fillMessages(database, COUNT, Date.now());
    console.log(`${COUNT} messages stored in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
    return filled;
  } finally {
    await database.close();
  }
}

/** The searches by what they search for, each with another time, project and number for every index. */
function searchesIn(filled: Filled): Readonly<Record<string, (index: number) => Query>> {
  const { busyNumber, otherNumber, project, since, until } = filled;
  const before = (index: number): Query => ({
    to: new Date(since + ((until - since) * (index + 1)) / SEARCHES).toISOString(),
  });
  return {
    'by time': before,
    'by project and time': (index) => ({ ...before(index), project: project(index) }),
    'by a number with few': (index) => ({ phoneNumber: otherNumber(index) }),
    'by a number with many': (index) => ({ phoneNumber: busyNumber(index) }),
    'by a number with many and time': (index) => ({ ...before(index), phoneNumber: busyNumber(index) }),
    'by a number with few and project': (index) => ({
      phoneNumber: otherNumber(index),
      project: project(index),
    }),
    'by a number with many and project': (index) => ({
      phoneNumber: busyNumber(index),
      project: project(index),
    }),
    'by a number without any': (index) => ({ phoneNumber: `96479${String(index).padStart(8, '0')}` }),
    'by status and time': (index) => ({ ...before(index), status: 'failed' }),
    'by status, project and time': (index) => ({
      ...before(index),
      status: 'failed',
      project: project(index),
    }),
    'by a status that no message has': (index) => ({ ...before(index), status: 'read' }),
  };
}

/** A request of an operator. Resolves with what was replied, and after how many milliseconds. */
async function ask(
  service: Child,
  path: string,
): Promise<{ readonly body: unknown; readonly tookMs: number }> {
  const startedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${service.port}/admin${path}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  if (response.status !== 200) throw new Error(await response.text());
  return { body: await response.json(), tookMs: performance.now() - startedAt };
}

async function search(
  service: Child,
  query: Query,
): Promise<{ readonly rows: number; readonly tookMs: number }> {
  const parameters = new URLSearchParams({ ...query, limit: String(PAGE) });
  const { body, tookMs } = await ask(service, `/messages?${parameters}`);
  return { rows: (body as { readonly messages: readonly unknown[] }).messages.length, tookMs };
}

function percentiles(times: readonly number[]): { readonly p50: number; readonly p99: number } {
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

async function measureSearches(service: Child<ServiceHandlers>, filled: Filled): Promise<void> {
  for (const [label, queryOf] of Object.entries(searchesIn(filled))) {
    const quiet = await offerWhile(service, () => sleep(2_000));
    let found = 0;
    const times: number[] = [];
    const controls: number[] = [];
    const sends = await offerWhile(service, async () => {
      for (let index = 0; index < SEARCHES; index += 1) {
        const { rows, tookMs } = await search(service, queryOf(index));
        found += rows;
        times.push(tookMs);
        controls.push((await ask(service, CONTROL)).tookMs);
        await sleep(PAUSE_MS);
      }
    });
    const { p50, p99 } = percentiles(times);
    console.log(
      `${label}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${p99 < BAR_MS ? 'below' : 'ABOVE'} ${BAR_MS} ms), beside p99 ${percentiles(controls).p99.toFixed(1)} ms of ${CONTROL}; ${(found / SEARCHES).toFixed(1)} rows a page; sends p99 ${sends.toFixed(1)} ms, before ${quiet.toFixed(1)} ms`,
    );
  }
}

/** Offers sends until `work` is done. Resolves with the p99 of their latency, in milliseconds. */
async function offerWhile(service: Child, work: () => Promise<unknown>): Promise<number> {
  const p99s: number[] = [];
  let isOver = false;
  const over = work().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const { p99, failed } = await offer({
      port: service.port,
      perSecond: SENDS_PER_SECOND,
      seconds: 1,
      makeRequest,
    });
    if (failed > 0) throw new Error(`${failed} sends failed`);
    p99s.push(p99);
  }
  await over;
  return median(p99s);
}

/** The sends of a busy service with searches of every kind, as a share of those without. */
async function measureSends(service: Child<ServiceHandlers>, filled: Filled): Promise<void> {
  const kinds = Object.values(searchesIn(filled));
  const sends = async () =>
    (await load({ port: service.port, connections: CONNECTIONS, seconds: LOADED_SECONDS, makeRequest }))
      .perSecond;
  await sends();
  const shares: number[] = [];
  for (let round = 0; round < LOADED_ROUNDS; round += 1) {
    const rates = { alone: 0, beside: 0 };
    for (const name of inOrderOf(round, ['alone', 'beside'] as const)) {
      let isOver = name === 'alone';
      const searching = (async () => {
        for (let index = round; !isOver; index += 1) {
          const queryOf = kinds[index % kinds.length];
          if (queryOf !== undefined) await search(service, queryOf(index));
          await sleep(1_000 / LOADED_SEARCHES_PER_SECOND);
        }
      })();
      rates[name] = await sends();
      isOver = true;
      await searching;
    }
    const { alone, beside } = rates;
    shares.push(beside / alone);
    console.log(`${alone.toFixed(0)} sends a second alone, ${beside.toFixed(0)} beside searches`);
  }
  console.log(
    `sends beside ${LOADED_SEARCHES_PER_SECOND} searches a second: ${median(shares).toFixed(2)} of those alone`,
  );
}
