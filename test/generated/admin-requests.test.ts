import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OpenApi } from '../../src/adapters/http/openapi/open-api.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import { type Harness, startHarness } from '../../src/bootstrap/harness/harness.ts';
import { ADMIN_TOKEN, admin } from '../support/admin.ts';
import { seedWith, verification } from '../support/seeds.ts';
import type { RequestAction } from './actions.ts';
import { AdminRun, adminActionsOf } from './admin-run.ts';
import type { StatusTable } from './generated-run.ts';
import { DocumentChecks } from './reply-checks.ts';
import { printStatuses, requestsIn } from './status-table.ts';

/** `npm run test:generated` sends 10,000. */
const REQUESTS = Number(process.env.GENERATED_ADMIN_REQUESTS ?? 1_000);
/** So many requests are sure to do each operation once. */
const REQUESTS_TO_DO_EVERYTHING = 10_000;
const FIRST_SEED = Number(process.env.GENERATED_SEED ?? 20_300_101);
/** Short, because only the project of the seed has a whatsapp number with an inbound webhook, and newer ones are named more. */
const REQUESTS_PER_SEQUENCE = 250;
/** After so long everything passes, so that a failure ends with the shortest sequence that was found. */
const SHRINKING_MS_MAX = 60_000;
/** On PostgreSQL and RabbitMQ a request takes up to 100 ms of its own and of its checks. */
const REQUEST_MS_MAX = 200;
const TIME_LIMIT_MS = 60_000 + SHRINKING_MS_MAX + REQUEST_MS_MAX * REQUESTS;
/** Nothing listens here: the discard service of old is off everywhere. */
const CLOSED_PORT = 9;
/** More than open a circuit. */
const MESSAGES_OF_TRAFFIC = 12;
/** Longer than an event is retried. */
const EVENTS_END_MS = 4 * 86_400_000;
const SCHEDULED_PRICES_FROM = '2032-01-01T00:00:00Z';
const WRONG_CREDENTIALS = [
  null,
  `Bearer ${DEMO_API_KEY}`,
  `Bearer ${ADMIN_TOKEN}x`,
  `Bearer ${ADMIN_TOKEN.slice(0, -1)}`,
  `Bearer ${ADMIN_TOKEN.toUpperCase()}`,
  `Basic ${ADMIN_TOKEN}`,
];

it(
  'every generated request of an operator gets a documented reply, and nobody without the token reads or changes anything',
  async () => {
    const startedAt = performance.now();
    const table: StatusTable = new Map();
    const document = await adminDocument();
    const checks = new DocumentChecks(document);
    const actions = fc.noBias(
      fc.array(adminActionsOf(document, WRONG_CREDENTIALS), {
        maxLength: REQUESTS_PER_SEQUENCE,
        size: 'max',
      }),
    );
    let failedAt = Number.POSITIVE_INFINITY;
    const property = fc.asyncProperty(actions, async (sequence) => {
      if (performance.now() > failedAt + SHRINKING_MS_MAX) return;
      try {
        await runSequence(sequence, checks, table);
      } catch (error) {
        failedAt = Math.min(failedAt, performance.now());
        throw error;
      }
    });
    for (let seed = FIRST_SEED; requestsIn(table) < REQUESTS; seed += 1) {
      await fc.assert(property, { seed, numRuns: 1 });
    }
    printStatuses(table, performance.now() - startedAt, FIRST_SEED);
    if (REQUESTS < REQUESTS_TO_DO_EVERYTHING) return;
    const neverDone = checks.operations.filter(({ id }) => !table.get(id)?.has(200)).map(({ id }) => id);
    expect(neverDone).toEqual([]);
    const neverRejected = checks.operations.filter(({ id }) => !table.get(id)?.has(401)).map(({ id }) => id);
    expect(neverRejected).toEqual([]);
  },
  TIME_LIMIT_MS,
);

const INBOUND_WEBHOOK = {
  phoneNumberId: '664def456abc789012345678',
  url: 'https://shop.example/inbound',
  secret: `svc_live_sk${'0123456789abcdef'.repeat(4)}`,
};

const start = () =>
  startHarness({
    adminToken: ADMIN_TOKEN,
    seed: seedWith({ rateLimit: null, inboundWebhooks: [INBOUND_WEBHOOK] }),
    // Instants of requests lie around the end of the traffic.
    now: '2029-12-28T00:00:00Z',
    egress: { allow: ['127.0.0.1/32'], ports: [443, CLOSED_PORT] },
  });

/** Messages whose webhooks all fail: their events are discarded, and the circuit of their destination is open. */
async function makeTraffic(harness: Harness): Promise<void> {
  const deliveryReport = {
    webhookUrl: `https://127.0.0.1:${CLOSED_PORT}/hook`,
    // Of two events of a message, the older one cannot be resent.
    deliveryReportType: 'final',
    webhookSecret: 'of-the-test',
  };
  for (let sent = 0; sent < MESSAGES_OF_TRAFFIC; sent += 1) {
    const body = verification(`9647701234${String(sent).padStart(3, '0')}`, {
      provider: 'sms',
      deliveryReport,
    });
    await harness.request('/sms', { body });
  }
  await harness.advance(EVENTS_END_MS);
  await harness.request('/sms', { body: verification('9647701235000', { provider: 'sms', deliveryReport }) });
  await harness.advance(1_000);
}

/** A version of the price list that is not in force before all requests are done. */
async function schedulePrices(harness: Harness): Promise<void> {
  const done = async (path: string) => {
    const reply = await admin(harness, `/prices/${path}`, { body: { telegram: 70 } });
    expect(reply.status).toBe(200);
    return reply.body as { preview?: string };
  };
  const { preview } = await done(`previews?effectiveFrom=${SCHEDULED_PRICES_FROM}`);
  await done(`versions?effectiveFrom=${SCHEDULED_PRICES_FROM}&preview=${preview}`);
}

async function adminDocument(): Promise<OpenApi> {
  const harness = await start();
  try {
    return (await harness.request('/admin/openapi.json', { apiKey: ADMIN_TOKEN })).body as OpenApi;
  } finally {
    await harness.close();
  }
}

/** All requests against a service of their own, whose accounts must equal their ledgers afterwards. */
async function runSequence(
  sequence: readonly RequestAction[],
  checks: DocumentChecks,
  table: StatusTable,
): Promise<void> {
  const harness = await start();
  const port = Number(new URL(await harness.url).port);
  const run = new AdminRun(harness, port, ADMIN_TOKEN, checks, table);
  try {
    await schedulePrices(harness);
    await makeTraffic(harness);
    await run.begin();
    for (const action of sequence) await run.run(action);
    await harness.advance(EVENTS_END_MS);
    await harness.assertQuiet();
  } finally {
    run.close();
    await harness.close();
  }
}
