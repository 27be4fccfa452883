import type { Child } from '../../test/support/child-process.ts';
import { createDatabase, startPrivatePostgres, startPrivateRabbit } from '../../test/support/services.ts';
import type { ServiceHandlers } from '../servers/service.ts';
import type { Bench } from '../support/bench.ts';
import { type Checkout, THIS_CHECKOUT } from '../support/checkout.ts';
import { printRows, type Row, rateOf } from '../support/report.ts';
import { acceptedToDelivered, ratesInTurn, requestsInTurn, settled } from '../support/rounds.ts';

/** A checkout and the database that is its own. */
interface Installed {
  readonly checkout: Checkout;
  readonly databaseUrl: string;
}

/** Rows 5 to 7: acceptance on PostgreSQL with one and with two processes, and the whole way through RabbitMQ. */
export async function onServers(bench: Bench): Promise<void> {
  const postgres = bench.keep(await startPrivatePostgres());
  const installed: Installed[] = [];
  for (const checkout of bench.checkouts) {
    installed.push({ checkout, databaseUrl: await createDatabase(postgres.url, `bench_${checkout.id}`) });
  }
  const { express, single, pair } = await accepted(bench, installed);
  const deliver: Row = {
    label: '(7) accepted to delivered, PostgreSQL and RabbitMQ',
    measured: await delivered(bench, installed),
  };
  const columns = [{ header: '× (1)', of: express }];
  printRows(bench, 'on servers of their own', columns, [express, single, pair, deliver]);
  bench.bar(rateOf(single) >= 1.5 * rateOf(express), '(5) at least 1.5 × (1)');
}

async function accepted(bench: Bench, installed: readonly Installed[]) {
  const stock = await bench.open(THIS_CHECKOUT, 'stock-express');
  const pairs: (readonly Child[])[] = [];
  for (const { checkout, databaseUrl } of installed) {
    const environment = { DATABASE_URL: databaseUrl, ROLE: 'api' };
    const open = (): Promise<Child> => bench.open(checkout, 'service', environment);
    pairs.push([await open(), await open()]);
  }
  const singles = pairs.map((pair) => pair.slice(0, 1));
  const [first, ...others] = await requestsInTurn([[stock], ...singles, ...pairs]);
  await bench.close([stock, ...pairs.flat()]);
  if (first === undefined) throw new Error('Express was measured');
  const express: Row = { label: '(1) express 5 + json + zod, no storage', measured: [first] };
  const single: Row = {
    label: '(5) POST /sms on PostgreSQL, one process',
    measured: others.slice(0, installed.length),
  };
  const pair: Row = {
    label: '(6) POST /sms on PostgreSQL, two processes',
    measured: others.slice(installed.length),
  };
  return { express, single, pair };
}

/** A RabbitMQ for each checkout: their queues have the same names. */
async function delivered(bench: Bench, installed: readonly Installed[]) {
  const services: Child<ServiceHandlers>[] = [];
  for (const { checkout, databaseUrl } of installed) {
    const rabbit = bench.keep(await startPrivateRabbit());
    const environment = { DATABASE_URL: databaseUrl, QUEUE_URL: rabbit.url };
    services.push(await bench.open<ServiceHandlers>(checkout, 'service', environment));
  }
  for (const service of services) await settled(service);
  const measured = await ratesInTurn(services, acceptedToDelivered);
  await bench.close(services);
  return measured;
}
