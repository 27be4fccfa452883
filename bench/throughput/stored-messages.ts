import type { Child } from '../../test/support/child-process.ts';
import type { ServiceHandlers } from '../servers/service.ts';
import type { Bench } from '../support/bench.ts';
import { printRows, type Row, rateOf } from '../support/report.ts';
import { allDelivered, requestsInTurn } from '../support/rounds.ts';

const FEW = 10_000;
const MANY = Number(process.env.BENCH_STORED ?? 1_000_000);

/** Acceptance on SQLite beside few and beside many stored messages, in turn. */
export async function storedMessages(bench: Bench): Promise<void> {
  const filled: Child<ServiceHandlers>[] = [];
  for (const count of [FEW, MANY]) {
    for (const checkout of bench.checkouts) {
      const service = await bench.openOnSqlite(checkout, `stored-${count}`);
      await service.ask('fill', count);
      filled.push(service);
    }
  }
  const measured = await requestsInTurn(
    filled.map((service) => [service]),
    () => allDelivered(filled),
  );
  await bench.close(filled);
  const rowOf = (count: number, measured: Row['measured']): Row => ({
    label: `acceptance beside ${count.toLocaleString('en')} stored`,
    measured,
  });
  const few = rowOf(FEW, measured.slice(0, bench.checkouts.length));
  const many = rowOf(MANY, measured.slice(bench.checkouts.length));
  printRows(bench, 'stored messages, on SQLite', [{ header: 'ratio', of: few }], [few, many]);
  bench.bar(rateOf(many) >= 0.8 * rateOf(few), 'as fast beside many stored messages, within 20 %');
}
