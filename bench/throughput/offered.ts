import type { Child } from '../../test/support/child-process.ts';
import { smsRequest } from '../../test/support/http-load.ts';
import { LOAD_API_KEY } from '../../test/support/load-seed.ts';
import { createDatabase } from '../../test/support/services.ts';
import { printTable } from '../../test/support/table.ts';
import type { ServiceHandlers } from '../servers/service.ts';
import type { Bench } from '../support/bench.ts';
import { type Latencies, offer } from '../support/offered-load.ts';
import { allDelivered, warmUp } from '../support/rounds.ts';
import { startSteadyPostgres } from '../support/steady-postgres.ts';

const SECONDS = Number(process.env.OFFERED_SECONDS ?? 10);
const LEAD_IN_SECONDS = 3;
/** In the second and the third run the messages of those before are being delivered. */
const RUNS = 3;
/** p99.9 may be so many times p99. */
const TAIL = 3;
const BLOCK_MS_MAX = 20;

/** Requests per second, and the p99 in milliseconds that is wanted of each storage. */
const OFFERED = [
  { perSecond: 100, p99: { SQLite: 15, PostgreSQL: 15 } },
  { perSecond: 1_000, p99: { SQLite: 15, PostgreSQL: 25 } },
  { perSecond: 3_000, p99: { SQLite: 30, PostgreSQL: 50 } },
] as const;

type Storage = keyof (typeof OFFERED)[number]['p99'];

const makeRequest = smsRequest({ apiKey: LOAD_API_KEY });

/** Row 9: the latency of POST /sms when requests come by the clock and wait for no reply. */
export async function offered(bench: Bench): Promise<void> {
  const postgres = bench.keep(await startSteadyPostgres());
  const rows: string[][] = [];
  for (const storage of ['SQLite', 'PostgreSQL'] as const satisfies readonly Storage[]) {
    for (const checkout of bench.checkouts) {
      const service =
        storage === 'SQLite'
          ? await bench.openOnSqlite(checkout, 'offered')
          : await bench.open<ServiceHandlers>(checkout, 'service', {
              DATABASE_URL: await createDatabase(postgres.url, `offered_${checkout.id}`),
            });
      await warmUp([service]);
      await allDelivered([service]);
      for (const { perSecond, p99 } of OFFERED) {
        // An older checkout may not know the question.
        const isThis = checkout.id === 'this';
        if (isThis) await service.ask('watchEventLoop');
        const runs = await latenciesOf(service, perSecond);
        const blockMs = isThis ? await service.ask('longestBlockMs') : null;
        rows.push([
          `(9) ${perSecond} requests/s on ${storage}${isThis ? '' : `, ${checkout.label}`}`,
          ...(['p50', 'p99', 'p999'] as const).map((name) =>
            runs.map((run) => run[name].toFixed(1)).join(' '),
          ),
          blockMs?.toFixed(0) ?? '',
        ]);
        if (isThis) setBars(bench, `${perSecond} requests/s on ${storage}`, runs, p99[storage], blockMs);
      }
      await bench.close([service]);
    }
  }
  printTable([['offered, in three runs', 'p50 ms', 'p99 ms', 'p99.9 ms', 'longest block ms'], ...rows]);
}

async function latenciesOf(service: Child<ServiceHandlers>, perSecond: number): Promise<Latencies[]> {
  const { port } = service;
  await offer({ port, perSecond, seconds: LEAD_IN_SECONDS, makeRequest });
  const runs: Latencies[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    runs.push(await offer({ port, perSecond, seconds: SECONDS, makeRequest }));
  }
  const failed = runs.reduce((sum, run) => sum + run.failed, 0);
  if (failed > 0) throw new Error(`${failed} responses were not 200`);
  return runs;
}

function setBars(
  bench: Bench,
  name: string,
  runs: readonly Latencies[],
  p99Max: number,
  blockMs: number | null,
): void {
  const worst = (of: 'p99' | 'p999'): number => Math.max(...runs.map((run) => run[of]));
  bench.bar(worst('p99') <= p99Max, `(9) ${name}: p99 at most ${p99Max} ms`);
  bench.bar(worst('p999') <= TAIL * p99Max, `(9) ${name}: p99.9 at most ${TAIL * p99Max} ms`);
  bench.bar(blockMs !== null && blockMs <= BLOCK_MS_MAX, `(9) ${name}: no block over ${BLOCK_MS_MAX} ms`);
}
