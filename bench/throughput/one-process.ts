import type { Bench } from '../support/bench.ts';
import { THIS_CHECKOUT } from '../support/checkout.ts';
import { printRows, type Row, rateOf } from '../support/report.ts';
import { acceptedToDelivered, allDelivered, ratesInTurn, requestsInTurn } from '../support/rounds.ts';

/** Rows 1 to 4: plain express, the bare http stack, acceptance on SQLite, and the whole way of a message. */
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
    label: '(3) POST /sms on SQLite, synchronous=FULL',
    measured: others.slice(checkouts.length),
  };
  const deliver: Row = {
    label: '(4) accepted to delivered, every row written',
    measured: await delivered(bench),
  };
  const columns = [
    { header: '× (1)', of: plain },
    { header: '× (2)', of: stack },
  ];
  printRows(bench, 'one process', columns, [plain, stack, accept, deliver]);
  console.log(`memory of the service after (3): ${memoryMb} MB`);
  bench.bar(rateOf(accept) >= 2 * rateOf(plain), '(3) at least 2 × (1)');
  bench.bar(rateOf(accept) >= 0.5 * rateOf(stack), '(3) at least 0.5 × (2)');
  bench.bar((accept.measured[0]?.p99 ?? Number.NaN) <= 50, '(3) p99 at most 50 ms');
  bench.bar(rateOf(deliver) >= 2_000, '(4) at least 2,000 messages/s');
  bench.bar(memoryMb < 250, 'memory under 250 MB');
}

/** Each round has a process and a file of its own, so that none profits from the one before. */
function delivered(bench: Bench) {
  let rounds = 0;
  return ratesInTurn(bench.checkouts, async (checkout) => {
    rounds += 1;
    const service = await bench.openOnSqlite(checkout, `delivered-${rounds}`);
    const perSecond = await acceptedToDelivered(service);
    await bench.close([service]);
    return perSecond;
  });
}
