import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DELIVERY_LIMITS } from '../../src/application/webhooks/delivery-limits.ts';
import { writeCertificate } from '../../test/support/certificate-files.ts';
import type { Child } from '../../test/support/child-process.ts';
import { printTable } from '../../test/support/table.ts';
import type { BarePoolHandlers } from '../servers/bare-pool.ts';
import type { ReceiverHandlers } from '../servers/receiver.ts';
import type { WebhookServiceHandlers } from '../servers/webhook-service.ts';
import type { Bench } from '../support/bench.ts';
import { THIS_CHECKOUT } from '../support/checkout.ts';
import { pairedRatio } from '../support/report.ts';
import { inOrderOf, median } from '../support/rounds.ts';

const ROUNDS = Number(process.env.WEBHOOK_ROUNDS ?? 15);
const EVENTS = Number(process.env.WEBHOOK_EVENTS ?? 30_000);
const WARM_UP_EVENTS = 10_000;
/** As many as the service lets itself have to one endpoint. */
const CONNECTIONS = DELIVERY_LIMITS.attemptsPerEndpoint;
const BAR = 0.6;
const POLL_MS = 20;
const STALLED_MS = 60_000;

const SECRET = 'bench-webhook-secret';
/** As large as the body of a delivery event. */
const BODY = JSON.stringify({
  smsId: `sms-${'0'.repeat(24)}`,
  deliveryReportType: 'all',
  isFinal: true,
  channel: 'sms',
  status: 'delivered',
});
const HEADERS = {
  'User-Agent': 'Barid-Webhooks/1.0',
  'Content-Type': 'application/json',
  'webhook-id': '0'.repeat(24),
  'webhook-timestamp': '1700000000',
  'webhook-signature': `v1,${'A'.repeat(43)}=`,
  'X-SVC-Webhook-Secret': SECRET,
};

interface Round {
  readonly perSecond: number;
  /** Of what the Pool reached before and after. */
  readonly shareOfPool: number;
}

/**
 * Row 8: webhooks per second to one HTTPS receiver with their outcomes stored, beside a bare undici Pool with as
 * many connections that stores nothing. The Pool is measured before and after each turn of the service.
 */
export async function webhooks(bench: Bench): Promise<void> {
  const certificate = writeCertificate(bench.folder);
  const receiver = await bench.open<ReceiverHandlers>(THIS_CHECKOUT, 'receiver', {
    RECEIVER_KEY: certificate.key,
    RECEIVER_CERT: certificate.cert,
  });
  const url = `https://localhost:${receiver.port}/hook`;
  const pool = await bench.open<BarePoolHandlers>(THIS_CHECKOUT, 'bare-pool', {
    POOL_URL: url,
    POOL_CA: certificate.ca,
    POOL_CONNECTIONS: String(CONNECTIONS),
  });
  const services: { service: Child<WebhookServiceHandlers>; label: string; rounds: Round[] }[] = [];
  for (const checkout of bench.checkouts) {
    const service = await bench.open<WebhookServiceHandlers>(checkout, 'webhook-service', {
      DATABASE_URL: `sqlite:${join(bench.folder, `webhooks-${checkout.id}`, 'barid.db')}`,
      EGRESS_ALLOW: '127.0.0.1/32,::1/128',
      EGRESS_PORTS: String(receiver.port),
      NODE_EXTRA_CA_CERTS: certificate.ca,
    });
    services.push({ service, label: checkout.label, rounds: [] });
  }
  const ofPool = async (count: number): Promise<number> =>
    count / (await pool.ask('post', { count, headers: HEADERS, body: BODY }));
  const ofService = async (service: Child<WebhookServiceHandlers>, count: number): Promise<number> => {
    await service.ask('fill', { count, url, secret: SECRET });
    return count / (await secondsToDeliver(service, receiver, count));
  };

  await ofPool(WARM_UP_EVENTS);
  for (const { service } of services) await ofService(service, WARM_UP_EVENTS);
  const poolRates = [await ofPool(EVENTS)];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { service, rounds } of inOrderOf(round, services)) {
      const before = poolRates.at(-1) ?? 0;
      const perSecond = await ofService(service, EVENTS);
      const after = await ofPool(EVENTS);
      poolRates.push(after);
      rounds.push({ perSecond, shareOfPool: perSecond / ((before + after) / 2) });
    }
  }
  const memoryMb = await services[0]?.service.ask('memoryMb');
  await bench.close([...services.map(({ service }) => service), pool, receiver]);

  const shares = services.map(({ rounds }) => rounds.map(({ shareOfPool }) => shareOfPool));
  printTable([
    ['webhooks to one HTTPS receiver', 'per second', 'ratio'],
    ['a bare undici Pool', median(poolRates).toFixed(0), '1.00'],
    ...services.map(({ label, rounds }, index) => [
      index === 0 ? '(8) the service, outcomes stored' : `    ${label}`,
      median(rounds.map(({ perSecond }) => perSecond)).toFixed(0),
      median(shares[index] ?? []).toFixed(2),
    ]),
  ]);
  console.log(`memory of the service after (8): ${memoryMb} MB`);
  bench.bar(median(shares[0] ?? []) >= BAR, `(8) at least ${BAR} of a bare Pool`);
  const [here, other] = shares;
  if (here !== undefined && other !== undefined) {
    bench.compare('(8) the share of a bare Pool', pairedRatio(here, other));
  }
}

/** From the moment the events come due until every outcome is stored. Rejects when an event was delivered twice. */
async function secondsToDeliver(
  service: Child<WebhookServiceHandlers>,
  receiver: Child<ReceiverHandlers>,
  count: number,
): Promise<number> {
  const before = await receiver.ask('received');
  const startedAt = performance.now();
  await service.ask('comeDue');
  const received = async (): Promise<number> => (await receiver.ask('received')) - before;
  // The receiver is asked first: counting rows costs the service time.
  while ((await received()) < count || (await service.ask('openEvents')) > 0) {
    if (performance.now() - startedAt > STALLED_MS) {
      throw new Error(`Not delivered in time: ${JSON.stringify(await service.ask('states'))}`);
    }
    await sleep(POLL_MS);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const requests = await received();
  if (requests !== count) throw new Error(`${requests} requests for ${count} events`);
  return seconds;
}
