import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../../test/support/child-process.ts';
import { load, type RequestMaker, smsRequest } from '../../test/support/http-load.ts';
import { LOAD_API_KEY } from '../../test/support/load-seed.ts';
import type { ServiceHandlers } from '../servers/service.ts';
import { OpenMessages } from './open-messages.ts';

export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** How long each round of a row takes. */
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const CONNECTIONS = 64;
/** What a server is sent first: until then code is still being compiled, and the more of it there is the longer that takes. */
const WARM_UP_REQUESTS = 20_000;
const WARM_UP_SECONDS_MAX = 30;
/** So many that the second of the handset, which follows the last hand-over to the simulator, hardly counts. */
const DELIVERED_MESSAGES = 60_000;
const DELIVERED_SECONDS_MAX = 240;
/** Longer than any message waits between two of its changes. */
const STANDSTILL_MS = 1_500;

const makeRequest: RequestMaker = smsRequest({ apiKey: LOAD_API_KEY });

/** What a row reached: medians, and the rate of each round. Latencies are milliseconds, and absent where none was measured. */
export interface Measured {
  readonly perSecond: number;
  readonly p50?: number;
  readonly p99?: number;
  readonly rounds: readonly number[];
}

/**
 * Measures POST /sms for each row in turn, several rounds each. A row is the servers its connections are shared
 * out to. Every measurement begins when the servers are warm and `ready` resolves.
 */
export async function requestsInTurn(
  rows: readonly (readonly Child[])[],
  ready: () => Promise<unknown>,
): Promise<readonly Measured[]> {
  await warmUp([...new Set(rows.flat())]);
  const rounds = await inTurn(rows, async (row) => {
    await ready();
    return requestsPerSecond(row, SECONDS);
  });
  return rounds.map((results) => ({
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    p50: median(results.map(({ p50 }) => p50)),
    p99: median(results.map(({ p99 }) => p99)),
    rounds: results.map(({ perSecond }) => perSecond),
  }));
}

/** Sends each server what it takes to be as fast as it gets, unless it is too slow for that. */
export async function warmUp(servers: readonly Child[]): Promise<void> {
  for (const { port } of servers) {
    const { failed } = await load({
      port,
      connections: CONNECTIONS,
      seconds: WARM_UP_SECONDS_MAX,
      requests: WARM_UP_REQUESTS,
      makeRequest,
    });
    if (failed > 0) throw new Error(`${failed} responses were not 200`);
  }
}

/** Measures each row in turn, several rounds each. */
export async function ratesInTurn<Row>(
  rows: readonly Row[],
  measure: (row: Row) => Promise<number>,
): Promise<readonly Measured[]> {
  const rounds = await inTurn(rows, measure);
  return rounds.map((rates) => ({ perSecond: median(rates), rounds: rates }));
}

async function inTurn<Row, Result>(
  rows: readonly Row[],
  measure: (row: Row) => Promise<Result>,
): Promise<readonly (readonly Result[])[]> {
  const rounds = rows.map((row) => ({ row, results: [] as Result[] }));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { row, results } of inOrderOf(round, rounds)) results.push(await measure(row));
  }
  return rounds.map(({ results }) => results);
}

async function requestsPerSecond(servers: readonly Child[], seconds: number) {
  const connections = CONNECTIONS / servers.length;
  const results = await Promise.all(
    servers.map(({ port }) => load({ port, connections, seconds, makeRequest })),
  );
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  if (failed > 0) throw new Error(`${failed} responses were not 200`);
  return {
    perSecond: results.reduce((sum, result) => sum + result.perSecond, 0),
    p50: Math.max(...results.map(({ p50 }) => p50)),
    p99: Math.max(...results.map(({ p99 }) => p99)),
  };
}

/** Resolves when these services have delivered what they accepted. */
export async function allDelivered(servers: readonly Child<ServiceHandlers>[]): Promise<void> {
  await Promise.all(servers.map(untilDelivered));
}

/** Resolves when the number of final messages stands still. */
async function untilDelivered(server: Child<ServiceHandlers>): Promise<void> {
  for (let before = -1; ; ) {
    const now = await server.ask('finalMessages');
    if (now === before) return;
    before = now;
    await sleep(STANDSTILL_MS);
  }
}

/** Messages per second from the first request until the last message of the service's database is final and settled. */
export async function acceptedToDelivered({ port }: Child, databaseUrl: string): Promise<number> {
  const messages = new OpenMessages(databaseUrl);
  try {
    const started = performance.now();
    const { responses, failed } = await load({
      port,
      connections: CONNECTIONS,
      seconds: DELIVERED_SECONDS_MAX,
      requests: DELIVERED_MESSAGES,
      makeRequest,
    });
    if (responses < DELIVERED_MESSAGES || failed > 0) throw new Error('Not every message was accepted');
    if (!(await messages.end(DELIVERED_SECONDS_MAX * 1_000)))
      throw new Error('Not every message was delivered');
    return DELIVERED_MESSAGES / ((performance.now() - started) / 1_000);
  } finally {
    await messages.close();
  }
}

/** Every second round goes backwards, so that no row always follows the same one. */
export function inOrderOf<Item>(round: number, items: readonly Item[]): readonly Item[] {
  return round % 2 === 0 ? items : items.toReversed();
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
  return (lower + upper) / 2;
}
