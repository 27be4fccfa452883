import { join } from 'node:path';
import type { Child } from '../../test/support/child-process.ts';
import { smsRequest } from '../../test/support/http-load.ts';
import { LOAD_API_KEY } from '../../test/support/load-seed.ts';
import { createDatabase, startPrivatePostgres } from '../../test/support/services.ts';
import type { MadeReport, ServiceHandlers } from '../servers/service.ts';
import type { Bench } from '../support/bench.ts';
import { THIS_CHECKOUT } from '../support/checkout.ts';
import { type Latencies, offer } from '../support/offered-load.ts';
import { printRows, rateOf } from '../support/report.ts';
import { ratesInTurn } from '../support/rounds.ts';

const STORED = Number(process.env.BENCH_STORED ?? 1_000_000);
const SHARE_OF_BARE_MIN = 0.7;
const GROWN_MB_MAX = 100;
const REPLY_P99_MS_MAX = 250;
/** Requests offered while a report is made. */
const PER_SECOND = 500;
const SECONDS = 10;

const makeRequest = smsRequest({ apiKey: LOAD_API_KEY });

/** Reports of all stored messages: rows per second beside a bare loop, memory, and the latency of POST /sms meanwhile. */
export async function reports(bench: Bench): Promise<void> {
  const postgres = bench.keep(await startPrivatePostgres());
  for (const storage of ['SQLite', 'PostgreSQL'] as const) {
    const service =
      storage === 'SQLite'
        ? await bench.openOnSqlite(THIS_CHECKOUT, 'reports')
        : await bench.open<ServiceHandlers>(THIS_CHECKOUT, 'service', {
            DATABASE_URL: await createDatabase(postgres.url, 'reports'),
            REPORTS_DIR: join(bench.folder, 'reports'),
          });
    await service.ask('fill', STORED);
    const made: MadeReport[] = [];
    const [bare, ours] = await ratesInTurn(['bareReport', 'report'] as const, async (row) => {
      if (row === 'bareReport') return service.ask(row);
      made.push(await service.ask(row));
      return made.at(-1)?.perSecond ?? 0;
    });
    if (bare === undefined || ours === undefined) throw new Error('Both rows were measured');
    const loop = { label: `bare loop on ${storage}`, measured: [bare] };
    const report = {
      label: `report of ${STORED.toLocaleString('en')} messages on ${storage}`,
      measured: [ours],
    };
    printRows(bench, `reports, on ${storage}`, [{ header: '× bare', of: loop }], [loop, report]);
    bench.bar(
      rateOf(report) >= SHARE_OF_BARE_MIN * rateOf(loop),
      `report on ${storage} at least ${SHARE_OF_BARE_MIN} of a bare loop`,
    );

    const { latencies, made: last } = await latenciesMeanwhile(service);
    const grownMb = Math.max(...[...made, last].map((each) => each.grownMb));
    console.log(
      `${PER_SECOND} requests/s while a report is made on ${storage}: p50 ${latencies.p50.toFixed(1)} ms, ` +
        `p99 ${latencies.p99.toFixed(1)} ms; the process grew by ${grownMb.toFixed(0)} MB at most`,
    );
    bench.bar(
      latencies.p99 <= REPLY_P99_MS_MAX,
      `p99 at most ${REPLY_P99_MS_MAX} ms beside a report on ${storage}`,
    );
    bench.bar(
      grownMb <= GROWN_MB_MAX,
      `a report on ${storage} grows the process by at most ${GROWN_MB_MAX} MB`,
    );
    await bench.close([service]);
  }
}

async function latenciesMeanwhile(
  service: Child<ServiceHandlers>,
): Promise<{ readonly latencies: Latencies; readonly made: MadeReport }> {
  const { port } = service;
  await offer({ port, perSecond: PER_SECOND, seconds: 2, makeRequest });
  const [latencies, made] = await Promise.all([
    offer({ port, perSecond: PER_SECOND, seconds: SECONDS, makeRequest }),
    service.ask('report'),
  ]);
  if (latencies.failed > 0) throw new Error(`${latencies.failed} responses were not 200`);
  return { latencies, made };
}
