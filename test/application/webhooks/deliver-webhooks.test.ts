import { ContainerModule } from 'inversify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../../src/adapters/knex/unit-of-work.ts';
import { BackgroundWork } from '../../../src/application/background-work.ts';
import { LEASE_MS, type LeasedJob, RENEW_EVERY_MS } from '../../../src/application/jobs/job.ts';
import {
  deliverWebhooksJob,
  destinationKey,
  type WebhookWork,
} from '../../../src/application/jobs/webhook-jobs.ts';
import type { WebhookTransport } from '../../../src/application/ports/webhook-transport.ts';
import { DeliverWebhooks } from '../../../src/application/webhooks/deliver-webhooks.ts';
import { DELIVERY_LIMITS } from '../../../src/application/webhooks/delivery-limits.ts';
import { adapters, ports } from '../../../src/bootstrap/tokens.ts';
import type { AttemptResult } from '../../../src/domain/webhooks/attempt-result.ts';
import { statusEvent, type WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aDeliveryReport, aMessage, MINUTE_MS, NOW, PROJECT_ID, SECOND_MS } from '../../support/builders.ts';
import { LossyUnitOfWork } from '../../support/lossy-unit-of-work.ts';

const PATH = 'customer.example/status';
const OK: AttemptResult = { kind: 'responded', status: 204, retryAfterMs: null };
const BROKEN: AttemptResult = { kind: 'responded', status: 500, retryAfterMs: null };

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
  const event = statusEvent(id, message, aDeliveryReport({ webhookUrl: url }), change, NOW);
  return { ...event, nextAttemptAt: NOW };
}

describe('DeliverWebhooks', () => {
  let world: ApplicationWorld;
  let unitOfWork: LossyUnitOfWork;
  /** The numbers of the events that were attempted, and what ends those attempts that hang. */
  let attempted: number[];
  let hanging: ((result: AttemptResult) => void)[];
  let respond: (number: number) => AttemptResult | null;
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
      rebind(ports.fetchInterval).toConstantValue((over) => void intervals.push(over));
      rebind(ports.recordBatchWindow).toConstantValue((over) => void setImmediate(over));
      rebind(ports.unitOfWork).toResolvedValue(
        (database: Database) => new LossyUnitOfWork(new SqlUnitOfWork(database)),
        [adapters.database],
      );
    });
    world = await openApplication({ overrides: [byHand] });
    unitOfWork = world.unitOfWork as LossyUnitOfWork;
  });

  afterEach(async () => {
    world.container.get(DeliverWebhooks).stop();
    for (const end of hanging) end(OK);
    await world.close();
  });

  async function queue(...events: readonly WebhookEvent[]): Promise<void> {
    await unitOfWork.run(async ({ jobs, webhookEvents }) => {
      await webhookEvents.insert(events);
      const endpoints = new Set(events.map(({ endpoint }) => endpoint));
      await jobs.add(
        [...endpoints].map((endpoint) => deliverWebhooksJob({ projectId: PROJECT_ID, endpoint }, NOW)),
      );
    });
  }

  async function leaseJobs(): Promise<readonly LeasedJob<WebhookWork>[]> {
    return (await world.lease()) as readonly LeasedJob<WebhookWork>[];
  }

  async function deliver(): Promise<readonly LeasedJob<WebhookWork>[]> {
    const jobs = await leaseJobs();
    await world.container.get(DeliverWebhooks).execute(jobs);
    return jobs;
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
  const jobIds = async () => world.database.knex('jobs').pluck('id');

  it('DeliverWebhooks delivers every due event of a destination, then is done with its job', async () => {
    await queue(anEvent(1), anEvent(2), anEvent(3));
    await deliver();
    await settle();
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
    await settle();
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
    await settle();
    expect(world.logger.count('webhook_circuit_opened')).toBe(1);
    const before = attempted.length;
    world.clock.at = NOW + 30 * SECOND_MS;
    await world.database.knex('jobs').update({ due_at: NOW });
    await deliver();
    await settle();
    expect(attempted.length).toBe(before);
    expect(await world.database.knex('jobs').pluck('due_at')).toEqual([NOW + MINUTE_MS]);
  });

  it('DeliverWebhooks does not let a receiver that hangs hold up another destination', async () => {
    respond = (number) => (number < 100 ? null : OK);
    const hangs = Array.from({ length: 60 }, (_, number) => anEvent(number));
    await queue(...hangs, anEvent(100, 'https://other.example/status'));
    await deliver();
    await settle();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint + 1);
    expect(await states()).toMatchObject({ 100: 'delivered', 0: 'pending' });
    for (const end of hanging.splice(0)) end(OK);
    respond = () => OK;
    await settle();
    expect(Object.values(await states())).toEqual(Array.from({ length: 61 }, () => 'delivered'));
  });

  it('DeliverWebhooks renews the lease of a job while its attempts hang', async () => {
    respond = () => null;
    await queue(anEvent(1));
    await deliver();
    await settle();
    world.clock.at = NOW + RENEW_EVERY_MS;
    intervals.shift()?.();
    await settle();
    world.clock.at = NOW + LEASE_MS;
    expect(await leaseJobs()).toEqual([]);
    world.clock.at = NOW + RENEW_EVERY_MS + LEASE_MS;
    expect(await leaseJobs()).toHaveLength(1);
  });

  it('DeliverWebhooks records nothing for an attempt whose lease another process has by now', async () => {
    respond = () => null;
    await queue(anEvent(1));
    await deliver();
    await settle();
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
    await settle();
    await unitOfWork.run(({ webhookEvents }) => webhookEvents.insert([anEvent(2)]));
    intervals.shift()?.();
    await settle();
    expect(attempted).toEqual([1, 2]);
  });

  it('DeliverWebhooks delivers nothing more once it is stopped, and releases every job', async () => {
    respond = () => null;
    const hangs = Array.from({ length: 60 }, (_, number) => anEvent(number));
    await queue(...hangs);
    await deliver();
    await settle();
    world.container.get(DeliverWebhooks).stop();
    await settle();
    expect(await leaseJobs()).toEqual([]);
    for (const end of hanging.splice(0)) end(OK);
    await settle();
    expect(attempted).toHaveLength(DELIVERY_LIMITS.attemptsPerEndpoint);
    expect(await leaseJobs()).toHaveLength(1);
  });

  it('DeliverWebhooks releases a job at once that comes after it was stopped', async () => {
    await queue(anEvent(1));
    world.container.get(DeliverWebhooks).stop();
    await deliver();
    await settle();
    expect(attempted).toEqual([]);
    expect(await leaseJobs()).toHaveLength(1);
  });

  it('DeliverWebhooks leaves a job leased whose results cannot be recorded, and says so once', async () => {
    await queue(anEvent(1), anEvent(2));
    const jobs = await leaseJobs();
    unitOfWork.losses = Array.from({ length: 20 }, () => 'before-commit' as const);
    await world.container.get(DeliverWebhooks).execute(jobs);
    await settle();
    unitOfWork.losses = [];
    expect(world.logger.count('webhook_record_failed')).toBe(1);
    expect(await states()).toEqual({ 1: 'pending', 2: 'pending' });
    expect(await leaseJobs()).toEqual([]);
    world.clock.at = NOW + LEASE_MS;
    await deliver();
    await settle();
    expect(await states()).toEqual({ 1: 'delivered', 2: 'delivered' });
  });
});
