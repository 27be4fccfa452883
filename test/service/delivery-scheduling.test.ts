import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ContainerModule } from 'inversify';
import { describe, expect, it } from 'vitest';
import { UndiciWebhookTransport } from '../../src/adapters/egress/webhooks/undici-webhook-transport.ts';
import { RUN_RETENTION_JOB_ID } from '../../src/application/jobs/retention-jobs.ts';
import { deliverWebhooksJob, type WebhookWork } from '../../src/application/jobs/webhook-jobs.ts';
import type { WebhookTransport } from '../../src/application/ports/webhook-transport.ts';
import { DELIVERY_LIMITS } from '../../src/application/webhooks/delivery-limits.ts';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { ports } from '../../src/bootstrap/tokens.ts';
import { LEASE_MS, type LeasedJob } from '../../src/domain/jobs/job.ts';
import { aWebhookEvent } from '../support/builders.ts';
import { HttpsReceiver, respondWith } from '../support/https-receiver.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../support/openssl.ts';
import { startService } from '../support/running-service.ts';
import { seedWith, verification } from '../support/seeds.ts';
import { uncancelled } from '../support/uncancelled.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const POLL_MS = 10;
const START = Date.UTC(2030, 0, 1);
/** Attempts in flight to one endpoint. */
const AT_ONCE = DELIVERY_LIMITS.attemptsPerEndpoint;

const withReceiver = hasOpenssl ? describe : describe.skip;
const named = (title: string) => (hasOpenssl ? title : `${title} (skipped: ${OPENSSL_MISSING})`);

/** A service with a clock of its own, whose destinations are polled again and again, or never. */
async function start({ polls = true } = {}) {
  let isPolling = polls;
  let poll: () => void = () => {};
  const clock = { at: START, now: () => clock.at };
  const intervals = new EventEmitter();
  const byHand = new ContainerModule(({ rebind }) => {
    rebind(ports.clock).toConstantValue(clock);
    rebind(ports.webhookTransport).toResolvedValue(() => watched);
    rebind(ports.fetchInterval).toConstantValue(
      uncancelled((over) => {
        intervals.emit('begun');
        poll = over;
        if (isPolling) setTimeout(over, POLL_MS);
      }),
    );
  });
  const receiver = await HttpsReceiver.open();
  const { allow = [], ports: allowedPorts = [], ca = '' } = receiver.egress;
  // On a slow machine no attempt that is held open runs into its deadline.
  const transport = new UndiciWebhookTransport({
    allowedNetworks: allow,
    allowedPorts,
    ca,
    timeoutMs: MINUTE,
  });
  const responses = new EventEmitter();
  let responseCount = 0;
  const watched: WebhookTransport = {
    acceptUrl: (url) => transport.acceptUrl(url),
    close: () => transport.close(),
    async send(request) {
      const result = await transport.send(request);
      responseCount += 1;
      setImmediate(() => responses.emit('handled'));
      return result;
    },
  };
  const service = await startService({
    egress: receiver.egress,
    now: START,
    seed: seedWith({ credit: 100_000, rateLimit: null }),
    overrides: [byHand],
  });
  const held: ServerResponse[] = [];
  receiver.respond((_, response) => held.push(response));
  const send = async (number: number, path = '/hook') => {
    await service.request('/sms', {
      // Fails at once, so that its only event is due at once.
      body: verification(`999${String(number).padStart(6, '0')}0006`, {
        provider: 'sms',
        deliveryReport: { webhookUrl: receiver.url(path), deliveryReportType: 'final' },
      }),
    });
  };
  /** Resolves when destinations were polled so often from now on. */
  const polled = async (times: number) => {
    for (let time = 0; time < times; time += 1) await once(intervals, 'begun');
  };
  /** Resolves when every destination was polled for the last time. */
  const endPolling = async () => {
    isPolling = false;
    await polled(1);
  };
  const resumePolling = () => {
    isPolling = true;
    poll();
  };
  /** Resolves when the service has handled so many responses in all. */
  const handled = async (count: number) => {
    while (responseCount < count) await once(responses, 'handled');
  };
  const respond = (status: number) => {
    for (const response of held.splice(0)) response.writeHead(status).end();
  };
  const idle = () => service.service.roots.background.idle();
  const events = () => service.service.roots.database.knex('webhook_events');
  return {
    clock,
    receiver,
    service,
    held,
    send,
    polled,
    endPolling,
    resumePolling,
    handled,
    respond,
    idle,
    events,
  };
}

/** The jobs of destinations, and of messages. */
async function jobsOf(service: Harness) {
  const rows = await service.service.roots.database
    .knex('jobs')
    .whereNot('id', RUN_RETENTION_JOB_ID)
    .select('id', 'work', 'due_at', 'leased_by', 'fencing_token');
  return rows.map(({ id, work, due_at, leased_by, fencing_token }) => ({
    job: { id, work: JSON.parse(work), fencingToken: Number(fencing_token) } as LeasedJob<WebhookWork>,
    dueAt: Number(due_at),
    isLeased: leased_by !== null,
  }));
}

/** Leases the job of the one destination to another process, once its lease is over; resolves with the new lease. */
async function leaseElsewhere(service: Harness): Promise<LeasedJob> {
  const leased = await service.service.roots.unitOfWork.run(({ jobs }) =>
    jobs.lease({ workerId: 'worker', now: START + LEASE_MS, until: START + 2 * LEASE_MS, limit: 1_000 }),
  );
  const job = leased.find(({ work }) => work.kind === 'deliver-webhooks');
  if (job === undefined) throw new Error('The job is due');
  return job;
}

withReceiver(named('a destination in hand'), () => {
  it('a destination delivers more events than are attempted at once, without a poll, and leaves no job', async () => {
    const { receiver, service, send, idle, events } = await start({ polls: false });
    receiver.respond(respondWith(200));
    const count = AT_ONCE * 3;
    for (let number = 1; number <= count; number += 1) await send(number);
    await receiver.arrived(count);
    await idle();
    expect(await events().where({ state: 'delivered' })).toHaveLength(count);
    expect(await jobsOf(service)).toEqual([]);
  });

  it('a destination that hangs does not keep another destination of its project waiting', async () => {
    const { receiver, service, send, respond, idle } = await start({ polls: false });
    await send(1);
    await receiver.arrived(1);
    await send(2, '/other');
    await receiver.arrived(2);
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/hook', '/other']);
    respond(200);
    await idle();
    expect(await jobsOf(service)).toEqual([]);
  });

  it('a failed event is attempted again so long after the attempt ended, not after it began', async () => {
    const { clock, receiver, send, respond, idle, events } = await start({ polls: false });
    await send(1);
    await receiver.arrived(1);
    clock.at = START + 5 * SECOND;
    respond(500);
    await idle();
    const [nextAttemptAt] = await events().pluck('next_attempt_at');
    // Five seconds, and a fifth of that more or less.
    expect(Number(nextAttemptAt)).toBeGreaterThanOrEqual(START + 9 * SECOND);
    expect(Number(nextAttemptAt)).toBeLessThanOrEqual(START + 11 * SECOND);
  });

  it('a destination keeps its job leased while attempts are in flight, and delivers what comes due meanwhile', async () => {
    const { clock, receiver, service, send, respond, idle } = await start();
    await send(1);
    await receiver.arrived(1);
    expect(await jobsOf(service)).toMatchObject([{ dueAt: START + LEASE_MS, isLeased: true }]);
    clock.at = START + 4 * SECOND;
    await send(2);
    await receiver.arrived(2);
    expect(await jobsOf(service)).toMatchObject([{ dueAt: START + 4 * SECOND + LEASE_MS, isLeased: true }]);
    respond(200);
    await idle();
    expect(await jobsOf(service)).toEqual([]);
  });

  it('a destination has no more attempts in flight than its endpoint may have, and one more for each that ends', async () => {
    const { receiver, held, send, polled, respond, idle, events } = await start();
    const count = AT_ONCE + 20;
    for (let number = 0; number < count; number += 1) await send(number);
    await receiver.arrived(AT_ONCE);
    await polled(3);
    expect(held).toHaveLength(AT_ONCE);
    for (const response of held.splice(0, 10)) response.writeHead(200).end();
    await receiver.arrived(AT_ONCE + 10);
    await polled(3);
    expect(receiver.requests).toHaveLength(AT_ONCE + 10);
    receiver.respond(respondWith(200));
    respond(200);
    await receiver.arrived(count);
    await idle();
    expect(await events().where({ state: 'delivered' })).toHaveLength(count);
  });

  it('a destination attempts nothing more once another process has its job, and leaves the job to that one', async () => {
    const { clock, receiver, service, send, polled, respond, idle, events } = await start();
    await send(1);
    await receiver.arrived(1);
    const taken = await leaseElsewhere(service);
    clock.at = START + LEASE_MS;
    await send(2);
    while ((await events()).length < 2) await polled(1);
    await polled(2);
    expect(receiver.requests).toHaveLength(1);
    respond(200);
    await idle();
    expect(await jobsOf(service)).toMatchObject([{ job: taken, isLeased: true }]);
    expect(await events().where({ is_open: 1 })).toHaveLength(2);
  });

  it('a destination begins nothing under a lease that may be over, though its events were fetched before', async () => {
    const {
      clock,
      receiver,
      service,
      send,
      polled,
      endPolling,
      resumePolling,
      handled,
      respond,
      idle,
      events,
    } = await start();
    const count = AT_ONCE + 10;
    for (let number = 0; number < count; number += 1) await send(number);
    await receiver.arrived(AT_ONCE);
    while ((await events()).length < count) await polled(1);
    await endPolling();
    // The process stalls: the lease runs out while fetched events wait for a free attempt.
    await leaseElsewhere(service);
    clock.at = START + LEASE_MS;
    respond(200);
    await handled(AT_ONCE);
    expect(receiver.requests).toHaveLength(AT_ONCE);
    // The next poll finds that the job is lost.
    resumePolling();
    await idle();
    expect(receiver.requests).toHaveLength(AT_ONCE);
    expect(await events().where({ is_open: 1 })).toHaveLength(count);
  });

  it('a destination releases its job when the service stops, once its attempts are recorded', async () => {
    const { receiver, service, send, polled, respond, idle, events } = await start();
    const count = AT_ONCE + 20;
    for (let number = 0; number < count; number += 1) await send(number);
    await receiver.arrived(AT_ONCE);
    while ((await events()).length < count) await polled(1);
    // As when a service stops: nothing is leased any more.
    await service.service.roots.jobQueue.close();
    service.service.roots.background.stop();
    receiver.respond(respondWith(200));
    respond(200);
    await idle();
    expect(receiver.requests).toHaveLength(AT_ONCE);
    const jobs = (await jobsOf(service)).filter(({ job }) => job.work.kind === 'deliver-webhooks');
    expect(jobs).toMatchObject([{ dueAt: START, isLeased: false }]);
    expect(await events().where({ is_open: 1 })).toHaveLength(count - AT_ONCE);
  });
});

withReceiver(named('a process with as many destinations as it may have'), () => {
  it('a process with as many destinations as it may have releases the job of one more, due a little later', async () => {
    const { clock, receiver, service, send, respond, idle } = await start();
    await send(1);
    await receiver.arrived(1);
    const { roots } = service.service;
    const [inHand] = await jobsOf(service);
    if (inHand === undefined) throw new Error('The job is leased');
    const { projectId } = inHand.job.work;
    // Of endpoints without events.
    const count = DELIVERY_LIMITS.destinationsPerProject;
    const others = Array.from({ length: count }, (_, index) =>
      deliverWebhooksJob({ projectId, endpoint: `other.example/${index}` }, START),
    );
    const last = deliverWebhooksJob({ projectId, endpoint: 'last.example/' }, START);
    const leased = await roots.unitOfWork.run(async ({ jobs, webhookEvents }) => {
      await jobs.add([...others, last], START);
      await webhookEvents.insert([
        aWebhookEvent({
          projectId,
          url: 'https://last.example/',
          endpoint: 'last.example/',
          nextAttemptAt: START,
        }),
      ]);
      const all: LeasedJob[] = [];
      const lease = () =>
        jobs.lease({ workerId: 'worker', now: START, until: START + LEASE_MS, limit: count });
      for (let more = await lease(); more.length > 0; more = await lease()) all.push(...more);
      return all;
    });
    expect(leased).toHaveLength(count + 1);
    const isLast = ({ id }: { readonly id: string }) => id === last.id;
    const inOrder = [...leased.filter((each) => !isLast(each)), ...leased.filter(isLast)];
    await roots.deliverWebhooks.execute(inOrder as LeasedJob<WebhookWork>[]);
    const back = (await jobsOf(service)).find(({ job: { id } }) => id === last.id);
    // Two are too many, and this is the second one of the line: the first of those that come together.
    expect(back).toMatchObject({ dueAt: clock.at + 2.5 * SECOND, isLeased: false });
    respond(200);
    await idle();
  });
});
