import type { Child } from '../../test/support/child-process.ts';
import { createDatabase, queryPostgres, startPrivateRabbit } from '../../test/support/services.ts';
import type { ServiceHandlers } from '../servers/service.ts';
import type { Bench } from '../support/bench.ts';
import { THIS_CHECKOUT } from '../support/checkout.ts';
import { printRows, type Row, rateOf } from '../support/report.ts';
import { acceptedToDelivered, allDelivered, ratesInTurn, requestsInTurn, warmUp } from '../support/rounds.ts';
import { startSteadyPostgres } from '../support/steady-postgres.ts';

type Postgres = Awaited<ReturnType<typeof startSteadyPostgres>>;

/** Rows 5 to 7: acceptance on PostgreSQL with one and with two processes, and the whole way through RabbitMQ. */
export async function onServers(bench: Bench): Promise<void> {
  const postgres = bench.keep(await startSteadyPostgres());
  const { express, single, pair } = await accepted(bench, postgres);
  const deliver: Row = {
    label: '(7) accepted to delivered, PostgreSQL and RabbitMQ',
    measured: await delivered(bench, postgres),
  };
  const columns = [{ header: '× (1)', of: express }];
  printRows(bench, 'on servers of their own', columns, [express, single, pair, deliver]);
  bench.bar(rateOf(single) >= 1.5 * rateOf(express), '(5) at least 1.5 × (1)');
}

async function accepted(bench: Bench, postgres: Postgres) {
  const stock = await bench.open(THIS_CHECKOUT, 'stock-express');
  const pairs: (readonly Child[])[] = [];
  const databases: string[] = [];
  for (const checkout of bench.checkouts) {
    const databaseUrl = await createDatabase(postgres.url, `accepted_${checkout.id}`);
    databases.push(databaseUrl);
    const environment = { DATABASE_URL: databaseUrl, ROLE: 'api' };
    const open = (): Promise<Child> => bench.open(checkout, 'service', environment);
    pairs.push([await open(), await open()]);
  }
  const singles = pairs.map((pair) => pair.slice(0, 1));
  const [first, ...others] = await requestsInTurn([[stock], ...singles, ...pairs], async () => {
    // No worker runs here: what waits would reach the bound on untried messages.
    for (const database of databases) await queryPostgres(database, 'TRUNCATE jobs');
  });
  await bench.close([stock, ...pairs.flat()]);
  if (first === undefined) throw new Error('Express was measured');
  const express: Row = { label: '(1) express 5 + json + zod, no storage', measured: [first] };
  const single: Row = {
    label: '(5) POST /sms on PostgreSQL, one process',
    measured: others.slice(0, bench.checkouts.length),
  };
  const pair: Row = {
    label: '(6) POST /sms on PostgreSQL, two processes',
    measured: others.slice(bench.checkouts.length),
  };
  return { express, single, pair };
}

/** On databases with few earlier messages. A RabbitMQ for each checkout: their queues have the same names. */
async function delivered(bench: Bench, postgres: Postgres) {
  const services: { readonly child: Child<ServiceHandlers>; readonly databaseUrl: string }[] = [];
  for (const checkout of bench.checkouts) {
    const databaseUrl = await createDatabase(postgres.url, `delivered_${checkout.id}`);
    const rabbit = bench.keep(await startPrivateRabbit());
    const environment = { DATABASE_URL: databaseUrl, QUEUE_URL: rabbit.url };
    services.push({ child: await bench.open(checkout, 'service', environment), databaseUrl });
  }
  const children = services.map(({ child }) => child);
  await warmUp(children);
  await allDelivered(children);
  const measured = await ratesInTurn(services, ({ child, databaseUrl }) =>
    acceptedToDelivered(child, databaseUrl),
  );
  await bench.close(children);
  return measured;
}
