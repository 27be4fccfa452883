import { ContainerModule } from 'inversify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { BackgroundWork } from '../../../src/application/concurrency/background-work.ts';
import { deliverWebhooksJob, type WebhookWork } from '../../../src/application/jobs/webhook-jobs.ts';
import { WorkerHeartbeat } from '../../../src/application/jobs/worker-heartbeat.ts';
import { LEASES_TRUSTED_MS } from '../../../src/application/jobs/worker-watch.ts';
import type { WebhookTransport } from '../../../src/application/ports/webhook-transport.ts';
import { DeliverWebhooks } from '../../../src/application/webhooks/deliver-webhooks.ts';
import { DELIVERY_LIMITS } from '../../../src/application/webhooks/delivery-limits.ts';
import { adapters, ports } from '../../../src/bootstrap/tokens.ts';
import { LEASE_LEFT_MS, LEASE_MS, type LeasedJob, RENEW_EVERY_MS } from '../../../src/domain/jobs/job.ts';
import { deliveryEvent } from '../../../src/domain/webhooks/delivery-event.ts';
import type { DeliveryResult } from '../../../src/domain/webhooks/delivery-result.ts';
import { destinationKey } from '../../../src/domain/webhooks/destination.ts';
import type { WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aDeliveryReport, aMessage, MINUTE_MS, NOW, PROJECT_ID, SECOND_MS } from '../../support/builders.ts';
import { LossyUnitOfWork } from '../../support/lossy-unit-of-work.ts';
import { uncancelled } from '../../support/uncancelled.ts';

const PATH = 'customer.example/status';
const OK: DeliveryResult = { kind: 'responded', status: 204, retryAfterMs: null };
const BROKEN: DeliveryResult = { kind: 'responded', status: 500, retryAfterMs: null };

function anEvent(number: number, url = `https://${PATH}`): WebhookEvent {
  const id = `${number}`.padStart(24, '0');
  const change = {
    kind: 'status-changed',
    status: 'delivered',
    channel: 'sms',
    isFinal: true,
    reason: null,
  } as const;
  const message = aMessage({ smsId: `sms-${id}` });
  const event = deliveryEvent(id, message, aDeliveryReport({ webhookUrl: url }), change, NOW);
  return { ...event, nextAttemptAt: NOW };
}

describe('DeliverWebhooks', () => {
  let world: ApplicationWorld;
  let unitOfWork: LossyUnitOfWork;
  /** The numbers of the events that were attempted, and what ends those attempts that hang. */
  let attempted: number[];
  let hanging: ((result: DeliveryResult) => void)[];
  let respond: (number: number) => DeliveryResult | null;
  let intervals: (() => void)[];

  beforeEach(async () => {
    attempted = [];
    hanging = [];
    intervals = [];
    respond = () => OK;
    const transport: WebhookTransport = {
      acceptUrl: (url) => url,
      close: async () => {},
      send({ body }) {
        const number = Number((JSON.parse(body) as { smsId: string }).smsId.slice('sms-'.length));
        attempted.push(number);
        const result = respond(number);
        return result === null ? new Promise((resolve) => hanging.push(resolve)) : Promise.resolve(result);
      },
    };
    const byHand = new ContainerModule(({ rebind }) => {
      rebind(ports.webhookTransport).toConstantValue(transport);
      rebind(ports.heartbeatInterval).toConstantValue(() => () => {});
      rebind(ports.fetchInterval).toConstantValue(uncancelled((over) => intervals.push(over)));
      rebind(ports.recordBatchWindow).toConstantValue(uncancelled(setImmediate));
      rebind(ports.unitOfWork).toResolvedValue(
        (database: Database) => new LossyUnitOfWork(new SqlUnitOfWork(database)),
        [adapters.database],
      );
    });
    world = await openApplication({ overrides: [byHand] });
    unitOfWork = world.unitOfWork as LossyUnitOfWork;
  });

  afterEach(async () => {
    world.container.get(BackgroundWork).stop();
    for (const end of hanging) end(OK);
    await world.close();
  });

  async function queue(...events: readonly WebhookEvent[]): Promise<void> {
    await unitOfWork.run(async ({ jobs, webhookEvents }) => {
      await webhookEvents.insert(events);
      const endpoints = new Set(events.map(({ endpoint }) => endpoint));
      await jobs.add(
        [...endpoints].map((endpoint) => deliverWebhooksJob({ projectId: PROJECT_ID, endpoint }, NOW)),
        NOW,
      );
    });
  }

  async function leaseJobs(limit?: number): Promise<readonly LeasedJob<WebhookWork>[]> {
    return (await world.lease(limit)) as readonly LeasedJob<WebhookWork>[];
  }

  async function execute(jobs: readonly LeasedJob<WebhookWork>[]): Promise<void> {
    await world.container.get(DeliverWebhooks).execute(jobs);
    await settle();
  }

  /** The time between two polls is over. */
  async function poll(): Promise<void> {
    intervals.shift()?.();
    await settle();
  }

  async function deliver(): Promise<readonly LeasedJob<WebhookWork>[]> {
    const jobs = await leaseJobs();
    await execute(jobs);
    return jobs;
  }

  /** Delivers these events to receivers that hang. */
  async function hang(...events: readonly WebhookEvent[]): Promise<readonly LeasedJob<WebhookWork>[]> {
    respond = () => null;
    await queue(...events);
    return deliver();
  }

  /** Runs the event loop for as long as anything goes on that waits for no hanging receiver. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 60; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  const states = async () =>
    Object.fromEntries(
      (await world.database.knex('webhook_events').select('id', 'state')).map(({ id, state }) => [
        Number(id),
        state,
      ]),
    );
  const failuresToRecord = () =>
    world.logger.entries.filter(({ event }) => event === 'webhook_record_failed').map(({ fields }) => fields);
  const jobIds = async () => world.database.knex('jobs').pluck('id');
  const dueTimes = async () => world.database.knex('jobs').orderBy('due_at').pluck('due_at');

  it('DeliverWebhooks delivers every due event of a destination, then is done with its job', async () => {
    await queue(anEvent(1), anEvent(2), anEvent(3));
    await deliver();
    expect(attempted.toSorted()).toEqual([1, 2, 3]);
    expect(await states()).toEqual({ 1: 'delivered', 2: 'delivered', 3: 'delivered' });
    expect(await jobIds()).toEqual([]);
  });

  it('DeliverWebhooks delivers each event once when there are more of a destination than it prefetches', async () => {
    const count = 2 * DELIVERY_LIMITS.fetchedPerDestination + 100;
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    await queue(...numbers.map((number) => anEvent(number)));
    await deliver();
    await world.container.get(BackgroundWork).idle();
    expect(attempted.toSorted((a, b) => a - b)).toEqual(numbers);
    expect(new Set(Object.values(await states()))).toEqual(new Set(['delivered']));
    expect(await jobIds()).toEqual([]);
  });

  it('DeliverWebhooks releases the job until a failed event is due again', async () => {
    respond = () => BROKEN;
    await queue(anEvent(1));
    await deliver();
    const [event] = await world.database.knex('webhook_events').select('next_attempt_at', 'last_error');
    expect(event.last_error).toBe('HTTP 500');
    expect(await world.database.knex('jobs').select('id', 'due_at')).toEqual([
      {
        id: `webhooks/${destinationKey({ projectId: PROJECT_ID, endpoint: PATH })}`,
        due_at: event.next_attempt_at,
      },
    ]);
  });

  it('DeliverWebhooks attempts nothing while the circuit of its destination is open, and says when it opened', async () => {
    respond = () => BROKEN;
    const events = Array.from({ length: 12 }, (_, number) => anEvent(number));
    await queue(...events);
    await deliver();
    expect(world.logger.count('webhook_circuit_opened')).toBe(1);
    const before = attempted.length;
    world.clock.at = NOW + 30 * SECOND_MS;
    await world.database.knex('jobs').update({ due_at: NOW });
    await deliver();
    expect(attempted.length).toBe(before);
    expect(await world.database.knex('jobs').pluck('due_at')).toEqual([NOW + MINUTE_MS]);
  });

  it('DeliverWebhooks does not let a receiver that hangs hold up another destination', async () => {
    respond = (number) => (number < 100 ? null : OK);
    const hangs = Array.from({ length: 60 }, (_, number) => anEvent(number));
    await queue(...hangs, anEvent(100, 'https://other.example/status'));
    await deliver();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint + 1);
    expect(await states()).toMatchObject({ 100: 'delivered', 0: 'pending' });
    for (const end of hanging.splice(0)) end(OK);
    respond = () => OK;
    await settle();
    expect(Object.values(await states())).toEqual(Array.from({ length: 61 }, () => 'delivered'));
  });

  it('DeliverWebhooks renews the lease of a job while its attempts hang', async () => {
    await hang(anEvent(1));
    world.clock.at = NOW + RENEW_EVERY_MS;
    intervals.shift()?.();
    await settle();
    world.clock.at = NOW + LEASE_MS;
    expect(await leaseJobs()).toEqual([]);
    world.clock.at = NOW + RENEW_EVERY_MS + LEASE_MS;
    expect(await leaseJobs()).toHaveLength(1);
  });

  it('DeliverWebhooks records nothing for an attempt whose lease another process has by now', async () => {
    await hang(anEvent(1));
    world.clock.at = NOW + LEASE_MS;
    const [newer] = await leaseJobs();
    hanging.shift()?.(OK);
    await settle();
    expect(await states()).toEqual({ 1: 'pending' });
    expect(await unitOfWork.read(({ jobs }) => jobs.stillLeased([newer as LeasedJob]))).toEqual([newer]);
  });

  it('DeliverWebhooks fetches an event that comes while it delivers others', async () => {
    respond = (number) => (number === 1 ? null : OK);
    await queue(anEvent(1));
    await deliver();
    await unitOfWork.run(({ webhookEvents }) => webhookEvents.insert([anEvent(2)]));
    intervals.shift()?.();
    await settle();
    expect(attempted).toEqual([1, 2]);
  });

  it('DeliverWebhooks delivers nothing more once it is stopped, and releases every job', async () => {
    const hangs = Array.from({ length: 60 }, (_, number) => anEvent(number));
    await hang(...hangs);
    world.container.get(BackgroundWork).stop();
    await settle();
    expect(await leaseJobs()).toEqual([]);
    for (const end of hanging.splice(0)) end(OK);
    await settle();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint);
    expect(await leaseJobs()).toHaveLength(1);
  });

  it('DeliverWebhooks releases a job at once that comes after it was stopped', async () => {
    await queue(anEvent(1));
    world.container.get(BackgroundWork).stop();
    await deliver();
    expect(attempted).toEqual([]);
    expect(await leaseJobs()).toHaveLength(1);
  });

  it('DeliverWebhooks leaves a job leased whose results cannot be recorded, and says so once', async () => {
    await queue(anEvent(1), anEvent(2));
    const jobs = await leaseJobs();
    // The job is found to be leased. The results of both fail to be stored, and their repeat, each alone; the rest is stored.
    unitOfWork.losses = [null, 'before-commit', 'before-commit', 'before-commit'];
    await execute(jobs);
    expect(unitOfWork.losses).toEqual([]);
    expect(failuresToRecord()).toEqual([{ eventId: anEvent(1).id }]);
    expect(await states()).toEqual({ 1: 'pending', 2: 'pending' });
    expect(await leaseJobs()).toEqual([]);
    world.clock.at = NOW + LEASE_MS;
    await deliver();
    expect(await states()).toEqual({ 1: 'delivered', 2: 'delivered' });
  });

  it('DeliverWebhooks gives a job back for two seconds when it has enough destinations of its project', async () => {
    respond = () => null;
    const count = DELIVERY_LIMITS.destinationsPerProject + 1;
    const numbers = Array.from({ length: count }, (_, number) => number);
    await queue(...numbers.map((number) => anEvent(number, `https://customer.example/${number}`)));
    while ((await deliver()).length > 0);
    const due = await dueTimes();
    expect(due.slice(0, 2)).toEqual([NOW + 2 * SECOND_MS, NOW + LEASE_MS]);
    // A destination that is done frees its place.
    hanging.shift()?.(OK);
    await settle();
    world.clock.at = NOW + 2 * SECOND_MS;
    expect((await deliver()).length).toBe(1);
    expect(await jobIds()).toHaveLength(count - 1);
  });

  it('DeliverWebhooks goes on under the newer of two leases, and attempts no event a second time', async () => {
    const numbers = Array.from({ length: 60 }, (_, number) => number);
    const older = await hang(...numbers.map((number) => anEvent(number)));
    world.clock.at = NOW + LEASE_MS;
    await execute(await leaseJobs());
    await execute(older);
    respond = () => OK;
    for (const end of hanging.splice(0)) end(OK);
    await settle();
    expect(attempted.toSorted((a, b) => a - b)).toEqual(numbers);
    expect(new Set(Object.values(await states()))).toEqual(new Set(['delivered']));
    expect(await jobIds()).toEqual([]);
  });

  it('DeliverWebhooks fetches again after an outage, and says so once for each outage', async () => {
    for (const outage of [1, 2]) {
      await queue(anEvent(outage));
      const jobs = await leaseJobs();
      unitOfWork.areReadsLost = true;
      await execute(jobs);
      await poll();
      await poll();
      expect(world.logger.count('webhook_fetch_failed')).toBe(outage);
      unitOfWork.areReadsLost = false;
      await poll();
      expect(await jobIds()).toEqual([]);
      await poll();
    }
    expect(attempted).toEqual([1, 2]);
  });

  it('DeliverWebhooks polls the destinations in turn, a bounded number at a time', async () => {
    const numbers = Array.from({ length: 251 }, (_, number) => number);
    await queue(...numbers.map((number) => anEvent(number, `https://customer.example/${number}`)));
    const jobs = await leaseJobs(300);
    unitOfWork.areReadsLost = true;
    await execute(jobs);
    await poll();
    unitOfWork.areReadsLost = false;
    await poll();
    // The second poll begins with the destination that the first one left out.
    expect(attempted).toHaveLength(250);
    await poll();
    await settle();
    expect(attempted.toSorted((a, b) => a - b)).toEqual(numbers);
    expect(await jobIds()).toEqual([]);
  });

  it('DeliverWebhooks waits for one interval at a time, and for none without a destination', async () => {
    await hang(anEvent(1), anEvent(2, 'https://other.example/status'));
    expect(intervals).toHaveLength(1);
    await poll();
    expect(intervals).toHaveLength(1);
    for (const end of hanging.splice(0)) end(OK);
    await settle();
    expect(intervals).toHaveLength(1);
    await poll();
    expect(intervals).toHaveLength(0);
    await queue(anEvent(3));
    await deliver();
    expect(intervals).toHaveLength(1);
  });

  it('DeliverWebhooks attempts nothing shortly before its lease ends, and goes on once it is renewed', async () => {
    await hang(...Array.from({ length: 60 }, (_, number) => anEvent(number)));
    world.clock.at = NOW + LEASE_LEFT_MS;
    hanging.shift()?.(OK);
    await settle();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint);
    await poll();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint + 1);
    expect(await dueTimes()).toEqual([NOW + LEASE_LEFT_MS + LEASE_MS]);
  });

  it('DeliverWebhooks renews leases no sooner than it has to, but at once when the clock was put back', async () => {
    await hang(anEvent(1));
    world.clock.at = NOW + RENEW_EVERY_MS - 1;
    await poll();
    expect(await dueTimes()).toEqual([NOW + LEASE_MS]);
    world.clock.at = NOW;
    unitOfWork.transactions = 0;
    await poll();
    expect(unitOfWork.transactions).toBe(0);
    world.clock.at = NOW - MINUTE_MS;
    await poll();
    expect(await dueTimes()).toEqual([NOW - MINUTE_MS + LEASE_MS]);
    world.clock.at = NOW - MINUTE_MS + RENEW_EVERY_MS;
    await poll();
    expect(await dueTimes()).toEqual([NOW - MINUTE_MS + RENEW_EVERY_MS + LEASE_MS]);
  });

  it('DeliverWebhooks renews again after a renewal that failed, and says that it failed', async () => {
    await hang(anEvent(1), anEvent(2, 'https://other.example/status'));
    // The renewal of both fails, and its repeat, each alone.
    unitOfWork.losses = ['before-commit', 'before-commit', 'before-commit'];
    world.clock.at = NOW + RENEW_EVERY_MS;
    await poll();
    expect(world.logger.count('webhook_renewal_failed')).toBe(1);
    expect(await dueTimes()).toEqual([NOW + LEASE_MS, NOW + LEASE_MS]);
    world.clock.at = NOW + 2 * RENEW_EVERY_MS;
    const renewed = NOW + 2 * RENEW_EVERY_MS + LEASE_MS;
    await poll();
    expect(await dueTimes()).toEqual([renewed, renewed]);
  });

  it('DeliverWebhooks attempts nothing more of a job that another process has by now, and leaves it alone', async () => {
    await hang(...Array.from({ length: 60 }, (_, number) => anEvent(number)));
    world.clock.at = NOW + LEASE_MS;
    const newer = await leaseJobs();
    await poll();
    for (const end of hanging.splice(0)) end(OK);
    await settle();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint);
    expect(new Set(Object.values(await states()))).toEqual(new Set(['pending']));
    expect(await unitOfWork.read(({ jobs }) => jobs.stillLeased(newer))).toEqual(newer);
    expect(await dueTimes()).toEqual([NOW + 2 * LEASE_MS]);
    // Nothing is in hand any more: the job can be leased anew.
    respond = () => OK;
    attempted = [];
    await execute(newer);
    expect(attempted).toHaveLength(60);
  });

  it('DeliverWebhooks attempts nothing more once the circuit of its destination opens', async () => {
    await hang(...Array.from({ length: 70 }, (_, number) => anEvent(number)));
    for (const end of hanging.splice(0, 10)) end(BROKEN);
    await settle();
    for (const end of hanging.splice(0)) end(BROKEN);
    await settle();
    expect(attempted).toHaveLength(60);
    expect(await dueTimes()).toEqual([NOW + MINUTE_MS]);
  });

  it('DeliverWebhooks leaves a job leased that it cannot release, and says so', async () => {
    await queue(anEvent(1));
    const jobs = await leaseJobs();
    // The job is found to be leased, and the results are recorded; then the release fails, and fails again.
    unitOfWork.losses = [null, null, 'before-commit', 'before-commit'];
    await execute(jobs);
    expect(world.logger.count('webhook_release_failed')).toBe(1);
    expect(await states()).toEqual({ 1: 'delivered' });
    expect(await dueTimes()).toEqual([NOW + LEASE_MS]);
    world.clock.at = NOW + LEASE_MS;
    await deliver();
    expect(attempted).toEqual([1]);
    expect(await jobIds()).toEqual([]);
  });

  it('DeliverWebhooks has a bounded number of events of one project in hand', async () => {
    respond = () => null;
    const urls = ['a', 'b', 'c'].map((name) => `https://${name}.example/`);
    const events = urls.flatMap((url, index) =>
      Array.from({ length: DELIVERY_LIMITS.fetchedPerDestination }, (_, number) =>
        anEvent(1_000 * index + number, url),
      ),
    );
    await queue(...events);
    await deliver();
    // The third destination gets the least there is. What is in hand is attempted without another fetch.
    expect(attempted).toHaveLength(2 * DELIVERY_LIMITS.attemptsPerEndpoint + DELIVERY_LIMITS.fetchedMin);
    unitOfWork.areReadsLost = true;
    respond = () => OK;
    for (const end of hanging.splice(0)) end(OK);
    await settle();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.fetchedPerProject + DELIVERY_LIMITS.fetchedMin);
  });

  it('DeliverWebhooks fetches on behind what it has in hand while one attempt hangs', async () => {
    respond = (number) => (number === 1 ? null : OK);
    const count = 2 * DELIVERY_LIMITS.fetchedPerDestination + 100;
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    await queue(...numbers.map((number) => anEvent(number)));
    await deliver();
    for (let turn = 0; turn < 100 && attempted.length < count; turn += 1) await settle();
    expect(attempted.toSorted((a, b) => a - b)).toEqual(numbers);
  });

  it('DeliverWebhooks renews a lease that is nearly over before it attempts anything', async () => {
    await queue(anEvent(1));
    const jobs = await leaseJobs();
    world.clock.at = NOW + LEASE_MS - LEASE_LEFT_MS + 1;
    // The first question about the lease fails, and so does the next one; each is repeated.
    unitOfWork.losses = ['before-commit', 'before-commit', 'before-commit', 'before-commit'];
    await execute(jobs);
    expect(attempted).toEqual([]);
    await poll();
    expect(attempted).toEqual([1]);
  });

  it('DeliverWebhooks attempts nothing more without heartbeats, and goes on once its lease is confirmed after the next one', async () => {
    const count = DELIVERY_LIMITS.attemptsPerEndpoint + 2;
    const numbers = Array.from({ length: count }, (_, number) => number);
    const heartbeat = world.container.get(WorkerHeartbeat);
    await heartbeat.start({ repeats: true });
    world.clock.at = NOW + 1;
    respond = () => null;
    await queue(...numbers.map((number) => anEvent(number)));
    await execute(await leaseJobs());
    world.clock.at = NOW + LEASES_TRUSTED_MS;
    const [first, second, ...others] = hanging.splice(0);
    first?.(OK);
    await poll();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint);
    await heartbeat.beat();
    second?.(OK);
    await settle();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint);
    world.clock.at += 1;
    await poll();
    expect(attempted).toHaveLength(count);
    hanging.push(...others);
  });

  it('DeliverWebhooks leaves what it does alone when the same lease comes again', async () => {
    const jobs = await hang(...Array.from({ length: 60 }, (_, number) => anEvent(number)));
    unitOfWork.areReadsLost = true;
    await execute(jobs);
    for (const count of [1, 2]) {
      hanging.shift()?.(OK);
      await settle();
      expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint + count);
    }
    expect(await dueTimes()).toEqual([NOW + LEASE_MS]);
  });

  it('DeliverWebhooks renews in time, although new destinations come all the while', async () => {
    await hang(anEvent(1));
    world.clock.at = NOW + RENEW_EVERY_MS - 1;
    await hang(anEvent(2, 'https://other.example/status'));
    world.clock.at = NOW + RENEW_EVERY_MS;
    await poll();
    const renewed = NOW + RENEW_EVERY_MS + LEASE_MS;
    expect(await dueTimes()).toEqual([renewed, renewed]);
  });

  it('DeliverWebhooks renews no lease of a destination that it has lost', async () => {
    respond = (number) => (number === 1 ? null : OK);
    await queue(anEvent(1), anEvent(2));
    const jobs = await leaseJobs();
    unitOfWork.losses = [null, 'before-commit', 'before-commit'];
    await execute(jobs);
    expect(failuresToRecord()).toEqual([{ eventId: anEvent(2).id }]);
    world.clock.at = NOW + RENEW_EVERY_MS;
    await poll();
    expect(await dueTimes()).toEqual([NOW + LEASE_MS]);
  });

  it('DeliverWebhooks fetches nothing while it has as much in hand as it may, and ahead once half of it is attempted', async () => {
    const max = DELIVERY_LIMITS.fetchedPerDestination;
    await hang(...Array.from({ length: max + 1 }, (_, number) => anEvent(number)));
    unitOfWork.areReadsLost = true;
    await poll();
    expect(world.logger.count('webhook_fetch_failed')).toBe(0);
    respond = (number) => (number < max / 2 - 1 ? OK : null);
    for (const end of hanging.splice(0)) end(OK);
    for (let turn = 0; turn < 10; turn += 1) await settle();
    // Those that hang now are in flight: half of the events but one have ended.
    expect(world.logger.count('webhook_fetch_failed')).toBe(0);
    hanging.shift()?.(OK);
    await settle();
    expect(world.logger.count('webhook_fetch_failed')).toBe(1);
  });

  it('DeliverWebhooks finds what is new behind all that it has in hand, once it reads all that is due again', async () => {
    const max = DELIVERY_LIMITS.fetchedPerDestination;
    await hang(...Array.from({ length: max }, (_, number) => anEvent(number)));
    for (const end of hanging.splice(0, DELIVERY_LIMITS.fetchedMin)) end(OK);
    await settle();
    const late = Array.from({ length: DELIVERY_LIMITS.fetchedMin }, (_, number) => anEvent(max + number));
    await unitOfWork.run(({ webhookEvents }) => webhookEvents.insert(late));
    world.clock.at = NOW + RENEW_EVERY_MS;
    await poll();
    await poll();
    unitOfWork.areReadsLost = true;
    respond = () => OK;
    for (const end of hanging.splice(0)) end(OK);
    for (let turn = 0; turn < 10; turn += 1) await settle();
    expect(attempted).toHaveLength(max + DELIVERY_LIMITS.fetchedMin);
  });

  it('DeliverWebhooks attempts under the same lease what was committed late and is due before what it has read', async () => {
    const max = DELIVERY_LIMITS.fetchedPerDestination;
    respond = (number) => (number === max ? null : OK);
    await queue(...Array.from({ length: max }, (_, index) => anEvent(index + 1)));
    await deliver();
    for (let turn = 0; turn < 10; turn += 1) await settle();
    expect(attempted).toHaveLength(max);
    const late = { ...anEvent(max + 1), nextAttemptAt: NOW - SECOND_MS };
    await unitOfWork.run(({ webhookEvents }) => webhookEvents.insert([late]));
    hanging.shift()?.(OK);
    await settle();
    expect(attempted).toHaveLength(max + 1);
    expect(await jobIds()).toEqual([]);
  });

  it('DeliverWebhooks attempts nothing that it has read under a lease that is replaced meanwhile', async () => {
    await queue(anEvent(1));
    const jobs = await leaseJobs();
    let end = () => {};
    unitOfWork.readsEndAfter = new Promise<void>((resolve) => {
      end = resolve;
    });
    await execute(jobs);
    world.clock.at = NOW + LEASE_MS;
    await execute(await leaseJobs());
    // Another process may have attempted it by then.
    await world.database.knex('webhook_events').update({ state: 'delivered', next_attempt_at: null });
    unitOfWork.readsEndAfter = Promise.resolve();
    end();
    await settle();
    expect(attempted).toEqual([]);
    expect(await jobIds()).toEqual([]);
  });

  it('DeliverWebhooks takes no more than it has capacity for when results are recorded during a fetch', async () => {
    const max = DELIVERY_LIMITS.fetchedPerDestination;
    await hang(...Array.from({ length: 60 }, (_, number) => anEvent(number)));
    const more = Array.from({ length: max }, (_, number) => anEvent(60 + number));
    await unitOfWork.run(({ webhookEvents }) => webhookEvents.insert(more));
    await world.database
      .knex('webhook_events')
      .where('id', '<', anEvent(60).id)
      .update({ state: 'delivered', next_attempt_at: null });
    await poll();
    unitOfWork.areReadsLost = true;
    respond = () => OK;
    for (const end of hanging.splice(0)) end(OK);
    for (let turn = 0; turn < 10; turn += 1) await settle();
    expect(attempted).toHaveLength(max);
  });

  it('DeliverWebhooks keeps nothing in hand of a destination that it loses during a fetch', async () => {
    await hang(anEvent(1));
    await unitOfWork.run(({ webhookEvents }) => webhookEvents.insert([anEvent(2)]));
    let end = () => {};
    unitOfWork.readsEndAfter = new Promise<void>((resolve) => {
      end = resolve;
    });
    await poll();
    unitOfWork.losses = ['before-commit', 'before-commit'];
    hanging.shift()?.(OK);
    await settle();
    end();
    unitOfWork.readsEndAfter = Promise.resolve();
    await settle();
    await poll();
    expect(intervals).toHaveLength(0);
    expect(attempted).toEqual([1]);
  });

  it('DeliverWebhooks keeps a destination that got a newer lease while the older one was renewed', async () => {
    const numbers = Array.from({ length: 60 }, (_, number) => number);
    await hang(...numbers.map((number) => anEvent(number)));
    world.clock.at = NOW + LEASE_MS;
    const newer = await leaseJobs();
    let end = () => {};
    unitOfWork.transactionsEndAfter = new Promise<void>((resolve) => {
      end = resolve;
    });
    // The renewal of the older lease finds that it is none any more, while this process asks for the newer one.
    await poll();
    const executed = execute(newer);
    unitOfWork.transactionsEndAfter = Promise.resolve();
    end();
    await executed;
    await settle();
    respond = () => OK;
    for (const done of hanging.splice(0)) done(OK);
    await settle();
    expect(attempted.toSorted((a, b) => a - b)).toEqual(numbers);
    expect(await jobIds()).toEqual([]);
  });

  it('DeliverWebhooks goes on with what it has when a message comes whose lease nobody has', async () => {
    const [held] = await hang(...Array.from({ length: 60 }, (_, number) => anEvent(number)));
    if (held === undefined) throw new Error('One job is leased');
    await execute([{ ...held, fencingToken: Number.MAX_SAFE_INTEGER }]);
    respond = () => OK;
    for (const done of hanging.splice(0)) done(OK);
    await settle();
    expect(attempted).toHaveLength(60);
    expect(await jobIds()).toEqual([]);
  });

  it('DeliverWebhooks attempts nothing more of a job that another process has, as soon as it cannot renew it', async () => {
    await hang(...Array.from({ length: 60 }, (_, number) => anEvent(number)));
    world.clock.at = NOW + LEASE_MS;
    await leaseJobs();
    await poll();
    // An attempt would be possible from now on if the lease counted as renewed.
    hanging.shift()?.(OK);
    await settle();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint);
  });
});
