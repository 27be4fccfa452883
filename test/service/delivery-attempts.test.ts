import type { ServerResponse } from 'node:http';
import { ContainerModule } from 'inversify';
import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../src/adapters/node/random-id-source.ts';
import { deliverWebhooksJob, type WebhookWork } from '../../src/application/jobs/webhook-jobs.ts';
import type { SubmissionReceipt } from '../../src/application/ports/provider-events.ts';
import type { Harness, HarnessOptions } from '../../src/bootstrap/harness/harness.ts';
import { ports } from '../../src/bootstrap/tokens.ts';
import { LEASE_MS, type LeasedJob } from '../../src/domain/jobs/job.ts';
import { destinationKey } from '../../src/domain/webhooks/destination.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Fails at once, so that its only event with the type `final` is due at once. */
const FAILING = '9990000000006';
const TWIN_KEY = 'sk_dev_fedcba9876543210fedcba9876543210fedcba98';

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

async function start(options: HarnessOptions = {}) {
  const receiver = await HttpsReceiver.open();
  const service = await startService({ egress: receiver.egress, ...options });
  const send = async (phoneNumber: string, apiKey = service.apiKey) => {
    const { status, body } = await service.request('/sms', {
      apiKey,
      body: verification(phoneNumber, {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url(), deliveryReportType: 'final' },
      }),
    });
    expect(status).toBe(200);
    return (body as { smsId: string }).smsId;
  };
  return { receiver, service, send };
}

/** Every draw of chance gives the same. */
function withJitter(fraction: number): ContainerModule {
  class FixedChance extends RandomIdSource {
    override fraction(): number {
      return fraction;
    }
  }
  return new ContainerModule(({ rebind }) => {
    rebind(ports.idSource).toConstantValue(new FixedChance());
  });
}

/** The one webhook job there is, leased by hand at an instant of its own and for so long. */
async function leaseByHand(service: Harness, at: number, forMs: number): Promise<LeasedJob<WebhookWork>> {
  const jobs = await service.service.roots.unitOfWork.run((stores) =>
    stores.jobs.lease({ workerId: 'worker', now: at, until: at + forMs, limit: 10 }),
  );
  expect(jobs.map(({ work }) => work.kind)).toEqual(['deliver-webhooks']);
  return jobs[0] as LeasedJob<WebhookWork>;
}

/** The one event there is. */
async function theEvent(service: Harness) {
  const { roots } = service.service;
  const ids = await roots.database.knex('webhook_events').pluck('id');
  const [event] = await roots.unitOfWork.run((stores) => stores.webhookEvents.lock(ids));
  return event;
}

withReceiver(named('a webhook event whose lease ran out'), () => {
  it('an event is attempted again after its lease ran out, and a result under the old lease changes nothing', async () => {
    const held: ServerResponse[] = [];
    const { receiver, service, send } = await start();
    const { roots } = service.service;
    const deliver = roots.deliverWebhooks;
    const background = roots.background;
    receiver.respond((_, response) => held.push(response));
    await send(FAILING);
    await receiver.arrived(1);

    const runOut = service.now().getTime() + LEASE_MS;
    const second = await leaseByHand(service, runOut, 5 * MINUTE);
    const first = { ...second, fencingToken: second.fencingToken - 1 };
    held[0]?.writeHead(410).end();
    await background.idle();
    expect(await theEvent(service)).toMatchObject({ state: 'pending', attempts: 0, lastError: null });

    receiver.respond(respondWith(200));
    await deliver.execute([first]);
    await background.idle();
    expect(receiver.requests).toHaveLength(1);

    await deliver.execute([second]);
    await background.idle();
    expect(receiver.requests).toHaveLength(2);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await theEvent(service)).toMatchObject({ state: 'delivered', attempts: 1 });

    await deliver.execute([first, second]);
    await service.advance(48 * HOUR);
    expect(receiver.requests).toHaveLength(2);
    await service.assertQuiet();
  });

  it('an event under a lease that is nearly over is attempted only once the lease was renewed', async () => {
    const held: ServerResponse[] = [];
    const { receiver, service, send } = await start();
    const { roots } = service.service;
    const background = roots.background;
    receiver.respond((_, response) => held.push(response));
    await send(FAILING);
    await receiver.arrived(1);
    const now = service.now().getTime();
    const job = await leaseByHand(service, now + LEASE_MS, 5_999 - LEASE_MS);
    held[0]?.writeHead(410).end();
    await background.idle();
    const lastsFor = async (ms: number) => {
      const stores = roots.unitOfWork;
      return (await stores.read(({ jobs }) => jobs.stillLeased([job], now + ms))).length === 1;
    };
    expect([await lastsFor(5_999), await lastsFor(6_000)]).toEqual([true, false]);

    await roots.deliverWebhooks.execute([job]);
    await receiver.arrived(2);
    expect([await lastsFor(15 * SECOND), await lastsFor(15 * SECOND + 1)]).toEqual([true, false]);
    held[1]?.writeHead(200).end();
    await background.idle();
    expect(await theEvent(service)).toMatchObject({ state: 'delivered', attempts: 1 });
    await service.assertQuiet();
  });
});

withReceiver(named('an open circuit'), () => {
  it('an open circuit lets one event be attempted after each window, and all of them once one attempt succeeds', async () => {
    const { receiver, service, send } = await start();
    const held: ServerResponse[] = [];
    receiver.respond(respondWith(500));
    const ids: string[] = [];
    for (let count = 10; count < 30; count += 1) ids.push(await send(`9990000${count}0006`));
    await service.settle();
    const tripped = receiver.requests.length;

    receiver.respond((_, response) => held.push(response));
    const throughWindow = service.advance(MINUTE);
    await receiver.arrived(tripped + 1);
    receiver.respond(respondWith(200));
    held[0]?.writeHead(500).end();
    await throughWindow;
    expect(receiver.requests).toHaveLength(tripped + 1);

    receiver.respond((_, response) => held.push(response));
    await service.advance(5 * MINUTE - 1);
    expect(receiver.requests).toHaveLength(tripped + 1);
    const throughNextWindow = service.advance(1);
    await receiver.arrived(tripped + 2);
    receiver.respond(respondWith(200));
    expect(receiver.requests).toHaveLength(tripped + 2);
    held[1]?.writeHead(200).end();
    await throughNextWindow;
    const delivered = receiver.bodies().slice(tripped + 1);
    expect(delivered).toHaveLength(ids.length);
    expect(new Set(delivered.map(({ smsId }) => smsId))).toEqual(new Set(ids));
    await service.assertQuiet();
  });
});

withReceiver(named('the log'), () => {
  it('the log has a line for a destination that begins to fail, for a circuit that opens, and for an event that is discarded', async () => {
    const logger = new RecordingLogger();
    const planted = new ContainerModule(({ rebind }) => {
      rebind(ports.logger).toConstantValue(logger);
    });
    const { receiver, service, send } = await start({
      overrides: [planted],
      now: '2030-01-01T00:00:00.000Z',
    });
    receiver.respond(respondWith(410));
    await send(FAILING);
    await service.settle();
    const { id, projectId } = (await theEvent(service)) ?? {};
    const host = new URL(receiver.url()).host;
    receiver.respond(respondWith(500));
    for (let count = 10; count < 22; count += 1) await send(`9990000${count}0006`);
    await service.settle();
    const told = logger.entries.filter(({ event }) => event.startsWith('webhook_'));
    expect(told).toEqual([
      {
        level: 'warn',
        event: 'webhook_attempt_failed',
        fields: { projectId, host, lastError: 'HTTP 410', count: 1 },
      },
      {
        level: 'warn',
        event: 'webhook_discarded',
        fields: { eventId: id, projectId, host, attempts: 1, lastError: 'HTTP 410', count: 1 },
      },
      {
        level: 'warn',
        event: 'webhook_circuit_opened',
        fields: {
          projectId,
          host,
          lastError: 'HTTP 500',
          until: '2030-01-01T00:01:00.000Z',
          count: 1,
        },
      },
    ]);
  });
});

withReceiver(named('an event that is delivered'), () => {
  it('a delivered event is removed after 15 days, within a day', async () => {
    const { receiver, service, send } = await start();
    receiver.respond(respondWith(200));
    const count = async () => Number((await events().count({ n: '*' }))[0]?.n);
    const events = () => service.service.roots.database.knex('webhook_events');
    for (const number of [1, 2, 3]) await send(`99900000${number}0006`);
    await service.advance(15 * 24 * HOUR);
    expect(await count()).toBe(3);
    await service.advance(24 * HOUR);
    expect(await count()).toBe(0);
    await service.assertQuiet();
  });
});

withReceiver(named('an open circuit of a destination without due events'), () => {
  it('an open circuit does not become half-open while its destination has no due events', async () => {
    const { receiver, service, send } = await start();
    receiver.respond(respondWith(410));
    for (let count = 10; count < 20; count += 1) await send(`9990000${count}0006`);
    await service.settle();
    const unitOfWork = service.service.roots.unitOfWork;
    const { knex } = service.service.roots.database;
    const [destination] = await knex('webhook_events').select('project_id as projectId', 'endpoint').limit(1);
    const breaker = async () =>
      (await unitOfWork.read((stores) => stores.circuitBreakers.read([destinationKey(destination)]))).get(
        destinationKey(destination),
      );
    await service.advance(MINUTE);
    const before = await breaker();
    expect(before).toMatchObject({ isHalfOpen: false, consecutiveOpens: 1 });
    const now = service.now().getTime();
    await unitOfWork.run((stores) => stores.jobs.add([deliverWebhooksJob(destination, now)], now));
    await service.settle();
    expect(await breaker()).toEqual(before);
    await service.assertQuiet();
  });
});

withReceiver(named('a webhook event that is attempted again'), () => {
  it('an event keeps the next event of its message waiting while it is attempted again', async () => {
    const { receiver, service } = await start({ overrides: [withJitter(0.5)] });
    const { roots } = service.service;
    receiver.respond(respondWith(500));
    const { body } = await service.request('/sms', {
      // Accepted, and nothing more by itself.
      body: verification('9990000000003', {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url(), deliveryReportType: 'all' },
      }),
    });
    const { smsId } = body as { smsId: string };
    await receiver.arrived(1);
    await service.settle();
    const held: ServerResponse[] = [];
    receiver.respond((_, response) => held.push(response));
    const advancing = service.advance(5 * SECOND);
    await receiver.arrived(2);
    const providerMessageId = (await service.message(smsId))?.attempts[0]?.providerMessageIds[0] ?? '';
    const receipt: SubmissionReceipt = { channel: 'sms', providerMessageId, receipt: { kind: 'delivered' } };
    await roots.recordProviderEvents.execute([{ kind: 'receipt', receipt }]);
    const open = await roots.unitOfWork.run((stores) => stores.webhookEvents.lockOpen([smsId]));
    expect(open.map(({ body, nextAttemptAt }) => [JSON.parse(body).status, nextAttemptAt])).toEqual([
      ['sent', service.now().getTime()],
      ['delivered', null],
    ]);
    receiver.respond(respondWith(200));
    held[0]?.writeHead(500).end();
    await advancing;
    await service.settle();
    expect(receiver.bodies().map(({ status }) => status)).toEqual(['sent', 'sent', 'delivered']);
    await service.assertQuiet();
  });
});

withReceiver(named('the circuit of an endpoint that two projects use'), () => {
  it('a circuit opens for the project whose attempts fail, and for no other', async () => {
    const [project, ...others] = seedWith({}).projects;
    if (project === undefined) throw new Error('The seed has a project');
    const twin = {
      ...project,
      slug: 'twin',
      apiKeys: [TWIN_KEY],
      whatsapp: { businesses: [] },
      inboundWebhooks: [],
    };
    const { receiver, service, send } = await start({
      seed: { ...seedWith({}), projects: [project, twin, ...others] },
    });
    receiver.respond(respondWith(500));
    for (let count = 10; count < 20; count += 1) await send(`9990000${count}0006`);
    await service.settle();
    const before = receiver.requests.length;
    receiver.respond(respondWith(200));
    await send('9990000910006');
    await send('9990000900006', TWIN_KEY);
    await service.settle();
    expect(receiver.requests).toHaveLength(before + 1);
    await service.advance(MINUTE);
    await service.assertQuiet();
  });
});

/** Milliseconds from each attempt to the next at both ends of the jitter, worked out by hand. */
const EARLIEST = [4, 12, 36, 108, 324, 972, 2_916, 8_748, 17_280, 17_280].map((s) => s * SECOND);
const LATEST = [6, 18, 54, 162, 486, 1_458, 4_374, 13_122, 25_920, 25_920].map((s) => s * SECOND);

withReceiver(named('the ten retries'), () => {
  it.each([
    ['earliest', 0, EARLIEST],
    ['latest', 1 - Number.EPSILON, LATEST],
  ])('the ten retries come to the millisecond, at the %s', async (_, fraction, delays) => {
    const { receiver, service, send } = await start({ overrides: [withJitter(fraction)] });
    const attempts: number[] = [];
    receiver.respond((_, response) => {
      attempts.push(service.now().getTime());
      response.writeHead(500).end();
    });
    await send(FAILING);
    await service.advance(48 * HOUR);
    expect(attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0))).toEqual(delays);
    await service.assertQuiet();
  });
});
