import { join } from 'node:path';
import type { BareStorageHandlers } from '../servers/bare-storage.ts';
import type { Bench } from '../support/bench.ts';
import { THIS_CHECKOUT } from '../support/checkout.ts';
import { printRows, type Row, rateOf } from '../support/report.ts';
import {
  acceptedToDelivered,
  allDelivered,
  type Measured,
  ratesInTurn,
  requestsInTurn,
  SECONDS,
  warmUp,
} from '../support/rounds.ts';

/** What is wanted of (4): one of both. */
const DELIVERED_PER_SECOND = 5_000;
const SHARE_OF_ROWS = 0.2;

/**
 * Rows 1 to 4: plain express, the bare http stack, acceptance on SQLite, and the whole way of a message. Beside them the rows of a
 * send written by a bare loop, and what one thread can reach that does both: the stack, and these rows.
 */
export async function oneProcess(bench: Bench): Promise<void> {
  const { checkouts } = bench;
  const express = await bench.open(THIS_CHECKOUT, 'stock-express');
  const stacks = await Promise.all(checkouts.map((checkout) => bench.open(checkout, 'lean-express')));
  const services = await Promise.all(checkouts.map((checkout) => bench.openOnSqlite(checkout, 'accepted')));
  const [first, ...others] = await requestsInTurn(
    [express, ...stacks, ...services].map((server) => [server]),
    () => allDelivered(services),
  );
  const memoryMb = (await services[0]?.ask('memoryMb')) ?? 0;
  await bench.close([express, ...stacks, ...services]);
  if (first === undefined) throw new Error('Express was measured');

  const plain: Row = { label: '(1) express 5 + json + zod, no storage', measured: [first] };
  const stack: Row = {
    label: "(2) the service's http stack, no storage",
    measured: others.slice(0, checkouts.length),
  };
  const accept: Row = {
    label: '(3) POST /sms on SQLite, every commit synced',
    measured: others.slice(checkouts.length),
  };
  const rows: Row = { label: '(rows) the rows of a send, by a bare loop', measured: [await storage(bench)] };
  const bound: Row = { label: '(bound) (2) and (rows) on one thread', measured: [boundOf(stack, rows)] };
  const deliver: Row = {
    label: '(4) accepted to delivered, every row written',
    measured: await delivered(bench),
  };
  const columns = [
    { header: '× (1)', of: plain },
    { header: '× (2)', of: stack },
    { header: '× (bound)', of: bound },
  ];
  printRows(bench, 'one process', columns, [plain, stack, rows, bound, accept, deliver]);
  console.log(`memory of the service after (3): ${memoryMb} MB`);
  bench.bar(rateOf(accept) >= 2 * rateOf(plain), '(3) at least 2 × (1)');
  bench.bar(rateOf(accept) >= 0.45 * rateOf(stack), '(3) at least 0.45 × (2)');
  bench.bar((accept.measured[0]?.p99 ?? Number.NaN) <= 50, '(3) p99 at most 50 ms');
  bench.bar(
    rateOf(deliver) >= DELIVERED_PER_SECOND || rateOf(deliver) >= SHARE_OF_ROWS * rateOf(rows),
    `(4) at least ${DELIVERED_PER_SECOND.toLocaleString('en')} messages/s, or ${SHARE_OF_ROWS} × (rows)`,
  );
  bench.bar(memoryMb < 250, 'memory under 250 MB');
}

/** The rows of a send, on a file of their own. */
async function storage(bench: Bench): Promise<Measured> {
  const loop = await bench.open<BareStorageHandlers>(THIS_CHECKOUT, 'bare-storage', {
    DATABASE_URL: `sqlite:${join(bench.folder, 'bare-storage', 'barid.db')}`,
  });
  await loop.ask('write', SECONDS);
  const [measured] = await ratesInTurn([loop], () => loop.ask('write', SECONDS));
  await bench.close([loop]);
  if (measured === undefined) throw new Error('The loop was measured');
  return measured;
}

/** What one thread reaches that does both for each send, and nothing else. */
function boundOf(http: Row, rows: Row): Measured {
  const perSecond = 1 / (1 / rateOf(http) + 1 / rateOf(rows));
  return { perSecond, rounds: [perSecond] };
}

/** Each round has a process and a file of its own, so that none profits from the one before. */
function delivered(bench: Bench) {
  let rounds = 0;
  return ratesInTurn(bench.checkouts, async (checkout) => {
    rounds += 1;
    const file = `delivered-${rounds}`;
    const service = await bench.openOnSqlite(checkout, file);
    await warmUp([service]);
    await allDelivered([service]);
    const perSecond = await acceptedToDelivered(service, bench.sqliteUrl(checkout, file));
    await bench.close([service]);
    return perSecond;
  });
}
