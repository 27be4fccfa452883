import type { ServerResponse } from 'node:http';
import { ContainerModule } from 'inversify';
import { describe, expect, it } from 'vitest';
import { UndiciWebhookTransport } from '../../src/adapters/egress/webhooks/undici-webhook-transport.ts';
import { DELIVERY_LIMITS } from '../../src/application/webhooks/delivery-limits.ts';
import { DEMO_API_KEY } from '../../src/bootstrap/config/demo-seed.ts';
import { ports } from '../../src/bootstrap/tokens.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';
import { uncancelled } from '../support/uncancelled.ts';

const NEIGHBOUR_KEY = 'sk_dev_fedcba9876543210fedcba9876543210fedcba98';
const THIRD_KEY = 'sk_dev_abcdef0123456789abcdef0123456789abcdef01';
const QUEUED_EVENTS = 1_000;
/** Of each of two projects, on one host: more than may be attempted at once. */
const HANGING_PATHS = 250;
const NEIGHBOUR_SENDS = 120;
/** Requests in flight at once. */
const CLIENTS = 10;
/** On a machine that does nothing else. */
const P99_MS_MAX = 2_000;
/** On a busy machine: so much longer than the same sends take while no receiver hangs. */
const P99_FACTOR_MAX = 3;
/** On a busy machine no attempt that is held open runs into its deadline. */
const ATTEMPT_MS_MAX = 60_000;
const HANGING_ATTEMPTS = 50;
/** It sends more than a thousand messages. */
const TEST_MS_MAX = 120_000;

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

/** Three projects without limits, the second with the key of the neighbour. */
function neighbours() {
  const seed = seedWith({ credit: 1_000_000, rateLimit: null, inboundWebhooks: [] });
  const [project] = seed.projects;
  if (project === undefined) throw new Error('The seed has a project');
  const another = (slug: string, apiKey: string) => ({
    ...project,
    slug,
    apiKeys: [apiKey],
    whatsapp: { businesses: [] },
  });
  return { ...seed, projects: [project, another('neighbour', NEIGHBOUR_KEY), another('third', THIRD_KEY)] };
}

/** All customers have receivers on one host: some paths keep every attempt open, the others respond at once. */
async function start() {
  const hanging: ServerResponse[] = [];
  const arrivals = new Map<string, number>();
  const receiver = await HttpsReceiver.open((request, response) => {
    if (request.path.startsWith('/hanging')) {
      hanging.push(response);
      return;
    }
    arrivals.set((JSON.parse(request.rawBody) as { smsId: string }).smsId, performance.now());
    response.writeHead(200).end();
  });
  const { allow = [], ports: allowedPorts = [], ca = '' } = receiver.egress;
  const patient = new ContainerModule(({ rebind }) => {
    rebind(ports.webhookTransport).toResolvedValue(
      () =>
        new UndiciWebhookTransport({ allowedNetworks: allow, allowedPorts, ca, timeoutMs: ATTEMPT_MS_MAX }),
    );
  });
  const service = await startService({
    egress: receiver.egress,
    seed: neighbours(),
    overrides: [patient],
  });
  const send = async (index: number, apiKey: string, path: string) => {
    const { status, body } = await service.request('/sms', {
      apiKey,
      // Fails at once, so that its final event is due without moving the clock.
      body: verification(`999${String(index).padStart(6, '0')}0006`, {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url(path), deliveryReportType: 'final' },
      }),
    });
    expect(status).toBe(200);
    return (body as { smsId: string }).smsId;
  };
  /** How long the first attempts of the neighbour's events take after their sends, in milliseconds: 99 of 100. */
  const neighbourP99 = async (firstNumber: number) => {
    const sentAt = new Map<string, number>();
    await inTurn(NEIGHBOUR_SENDS, async (index) => {
      const startedAt = performance.now();
      sentAt.set(await send(firstNumber + index, NEIGHBOUR_KEY, '/neighbour'), startedAt);
    });
    while ([...sentAt.keys()].some((smsId) => !arrivals.has(smsId))) {
      await receiver.arrived(receiver.requests.length + 1);
    }
    const waits = [...sentAt].map(([smsId, at]) => (arrivals.get(smsId) ?? Number.NaN) - at);
    waits.sort((a, b) => a - b);
    return waits[Math.ceil(0.99 * NEIGHBOUR_SENDS) - 1] ?? Number.NaN;
  };
  return { receiver, service, send, hanging, neighbourP99 };
}

async function inTurn(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let begun = 0;
  const client = async () => {
    while (begun < count) {
      begun += 1;
      await work(begun);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

withReceiver(named('a receiver that hangs on a thousand events'), () => {
  it(
    'a receiver that hangs does not hold up the first attempts of a neighbour, even on the same host, and loses no event',
    async () => {
      const { receiver, service, send, hanging, neighbourP99 } = await start();
      const aloneMs = await neighbourP99(0);
      await inTurn(QUEUED_EVENTS, async (index) => {
        await send(index, DEMO_API_KEY, '/hanging');
      });
      await receiver.arrived(NEIGHBOUR_SENDS + HANGING_ATTEMPTS);

      const besideMs = await neighbourP99(NEIGHBOUR_SENDS);
      expect(hanging.length).toBeLessThanOrEqual(2 * HANGING_ATTEMPTS);
      expect(besideMs).toBeLessThan(Math.max(P99_MS_MAX, P99_FACTOR_MAX * aloneMs));

      receiver.respond(respondWith(200));
      for (const response of hanging) response.writeHead(200).end();
      await service.settle();
      const own = receiver.bodies().filter((_, index) => receiver.requests[index]?.path === '/hanging');
      expect(new Set(own.map(({ smsId }) => smsId)).size).toBe(QUEUED_EVENTS);
      await service.assertQuiet();
    },
    TEST_MS_MAX,
  );
});

withReceiver(named('many paths of one host that hang for two projects'), () => {
  it(
    'paths that hang for two projects do not hold up the first attempts of a third on the same host',
    async () => {
      const { receiver, service, send, hanging, neighbourP99 } = await start();
      const aloneMs = await neighbourP99(0);
      await inTurn(HANGING_PATHS, async (index) => {
        await Promise.all([
          send(index, DEMO_API_KEY, `/hanging/a${index}`),
          send(index, THIRD_KEY, `/hanging/b${index}`),
        ]);
      });
      // Their attempts fill what the host has for two projects.
      await receiver.arrived(NEIGHBOUR_SENDS + 2 * HANGING_ATTEMPTS + 1);

      const besideMs = await neighbourP99(NEIGHBOUR_SENDS);
      expect(hanging.length).toBeGreaterThan(2 * HANGING_ATTEMPTS);
      expect(besideMs).toBeLessThan(Math.max(P99_MS_MAX, P99_FACTOR_MAX * aloneMs));

      receiver.respond(respondWith(200));
      for (const response of hanging) response.writeHead(200).end();
      await service.settle();
      await service.assertQuiet();
    },
    TEST_MS_MAX,
  );
});

withReceiver(named('attempts whose results are not recorded yet'), () => {
  it('attempts whose results are not recorded yet hold up no other attempt, and are recorded together', async () => {
    const batchWindows: (() => void)[] = [];
    let isHeld = true;
    const held = new ContainerModule(({ rebind }) => {
      rebind(ports.recordBatchWindow).toConstantValue(
        uncancelled((over) => {
          if (isHeld) batchWindows.push(over);
          else setImmediate(over);
        }),
      );
    });
    const receiver = await HttpsReceiver.open();
    const service = await startService({ egress: receiver.egress, seed: neighbours(), overrides: [held] });
    const { roots } = service.service;
    const atOnce = DELIVERY_LIMITS.attemptsPerEndpoint;
    const count = 4 * atOnce;
    await inTurn(count, async (index) => {
      await service.request('/sms', {
        body: verification(`999${String(index).padStart(6, '0')}0006`, {
          provider: 'sms',
          deliveryReport: { webhookUrl: receiver.url(), deliveryReportType: 'final' },
        }),
      });
    });
    await receiver.arrived(count);
    const open = await roots.database.knex('webhook_events').where({ is_open: 1 });
    expect(open.length).toBeGreaterThan(atOnce);
    expect(batchWindows).toHaveLength(1);
    isHeld = false;
    for (const over of batchWindows) over();
    await service.settle();
    await service.assertQuiet();
  });
});
