import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliverWebhooksJob, type WebhookWork } from '../../../src/application/jobs/webhook-jobs.ts';
import { RecordDeliveries } from '../../../src/application/webhooks/record-deliveries.ts';
import type { LeasedJob } from '../../../src/domain/jobs/job.ts';
import type { DeliveryResult } from '../../../src/domain/webhooks/delivery-result.ts';
import { destinationKey } from '../../../src/domain/webhooks/destination.ts';
import type { WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aWebhookEvent, MINUTE_MS, NOW, PROJECT_ID } from '../../support/builders.ts';

const DESTINATION = { projectId: PROJECT_ID, endpoint: 'customer.example/status' };
const OK: DeliveryResult = { kind: 'responded', status: 204, retryAfterMs: null };
const GONE: DeliveryResult = { kind: 'responded', status: 410, retryAfterMs: null };
const BROKEN: DeliveryResult = { kind: 'responded', status: 500, retryAfterMs: null };
const UNREADABLE: DeliveryResult = { kind: 'failed', reason: 'secret-unreadable' };

const idOf = (number: number): string => `${number}`.padStart(24, '0');

/** An event of a message of its own, or of `orderingKey`. */
function anEvent(number: number, given: Partial<WebhookEvent> = {}): WebhookEvent {
  return aWebhookEvent({
    id: idOf(number),
    orderingKey: `message ${number}`,
    url: `https://${DESTINATION.endpoint}`,
    endpoint: DESTINATION.endpoint,
    nextAttemptAt: NOW,
    ...given,
  });
}

describe('RecordDeliveries', () => {
  let world: ApplicationWorld;
  let job: LeasedJob<WebhookWork>;

  beforeEach(async () => {
    world = await openApplication();
    await world.unitOfWork.run(({ jobs }) => jobs.add([deliverWebhooksJob(DESTINATION, NOW)], NOW));
    const [leased] = await world.lease();
    job = leased as LeasedJob<WebhookWork>;
  });

  afterEach(() => world.close());

  const store = (...events: readonly WebhookEvent[]) =>
    world.unitOfWork.run(({ webhookEvents }) => webhookEvents.insert(events));

  /** Records one result for each of the events, in one batch. */
  const record = (result: DeliveryResult, ...events: readonly WebhookEvent[]) =>
    Promise.all(
      events.map((event) =>
        world.container
          .get(RecordDeliveries)
          .execute({ job, event, result, startedAt: NOW - 2, endedAt: NOW - 1 }),
      ),
    );

  const rows = async () =>
    (await world.database.knex('webhook_events').orderBy('id').select('id', 'state', 'next_attempt_at')).map(
      ({ id, state, next_attempt_at }) => [Number(id), state, next_attempt_at],
    );

  const breaker = async () => {
    const key = destinationKey(DESTINATION);
    const found = await world.unitOfWork.read(({ circuitBreakers }) => circuitBreakers.read([key]));
    return found.get(key);
  };

  const logged = (name: string) =>
    world.logger.entries
      .filter(({ event }) => event === name)
      .map(({ level, fields }) => ({ level, fields }));

  it('RecordDeliveries stores each attempt whose result it stores, and no other', async () => {
    const [first, second] = [anEvent(1), anEvent(2)];
    await store(first, second);
    await record({ ...BROKEN, responseStart: 'no' }, first);
    await record(UNREADABLE, second);
    // It is as it was before the first attempt.
    await record(OK, first);
    const keys = [first.orderingKey, second.orderingKey];
    const attempts = await world.unitOfWork.read((s) => s.webhookAttempts.ofOrderingKeys(keys, 9));
    const times = { attemptNumber: 1, startedAt: NOW - 2, durationMs: 1 };
    expect(attempts).toEqual([
      [
        {
          ...times,
          orderingKey: 'message 1',
          eventId: first.id,
          status: 500,
          error: 'HTTP 500',
          response: 'no',
        },
      ],
      [
        {
          ...times,
          orderingKey: 'message 2',
          eventId: second.id,
          status: null,
          error: 'secret-unreadable',
          response: null,
        },
      ],
    ]);
  });

  it('RecordDeliveries says which event it discarded, with the host alone', async () => {
    const events = [anEvent(1), anEvent(2)];
    await store(...events);
    await Promise.all([record(GONE, events[0] as WebhookEvent), record(OK, events[1] as WebhookEvent)]);
    expect(await rows()).toEqual([
      [1, 'discarded', null],
      [2, 'delivered', null],
    ]);
    expect(logged('webhook_discarded')).toEqual([
      {
        level: 'warn',
        fields: {
          eventId: idOf(1),
          projectId: PROJECT_ID,
          host: 'customer.example',
          attempts: 1,
          lastError: 'HTTP 410',
          count: 1,
        },
      },
    ]);
  });

  it('RecordDeliveries says once that a destination begins to fail, and why', async () => {
    const events = Array.from({ length: 4 }, (_, number) => anEvent(number));
    await store(...events);
    await record(OK, ...events.slice(0, 2));
    expect(logged('webhook_attempt_failed')).toEqual([]);
    await record(BROKEN, ...events.slice(2));
    expect(logged('webhook_attempt_failed')).toEqual([
      {
        level: 'warn',
        fields: { projectId: PROJECT_ID, host: 'customer.example', lastError: 'HTTP 500', count: 1 },
      },
    ]);
  });

  it('RecordDeliveries says until when it opened a circuit, and why', async () => {
    const events = Array.from({ length: 10 }, (_, number) => anEvent(number));
    await store(...events);
    expect(await record(BROKEN, ...events)).toEqual(events.map(() => true));
    expect(logged('webhook_circuit_opened')).toEqual([
      {
        level: 'warn',
        fields: {
          projectId: PROJECT_ID,
          host: 'customer.example',
          lastError: 'HTTP 500',
          until: new Date(NOW - 1 + MINUTE_MS).toISOString(),
          count: 1,
        },
      },
    ]);
  });

  it('RecordDeliveries has one line a minute for a project, however many of its events are discarded', async () => {
    const events = Array.from({ length: 30 }, (_, number) => anEvent(number));
    await store(...events);
    for (const event of events.slice(0, 29)) await record(GONE, event);
    expect(world.logger.count('webhook_discarded')).toBe(1);
    world.clock.at += MINUTE_MS;
    await record(GONE, events[29] as WebhookEvent);
    expect(logged('webhook_discarded').at(-1)?.fields).toMatchObject({ eventId: idOf(29), count: 29 });
  });

  it('RecordDeliveries has one line a minute for a project whose destinations all begin to fail', async () => {
    const events = Array.from({ length: 20 }, (_, number) => {
      const endpoint = `customer.example/${number}`;
      return anEvent(number, { endpoint, url: `https://${endpoint}` });
    });
    await store(...events);
    const destinations = events.map(({ endpoint }) => ({ ...DESTINATION, endpoint }));
    await world.unitOfWork.run(({ jobs }) =>
      jobs.add(
        destinations.map((to) => deliverWebhooksJob(to, NOW)),
        NOW,
      ),
    );
    const leased = (await world.lease()) as readonly LeasedJob<WebhookWork>[];
    for (const event of events) {
      const own = leased.find(({ work }) => work.endpoint === event.endpoint);
      job = own as LeasedJob<WebhookWork>;
      await record(BROKEN, event);
    }
    expect(world.logger.count('webhook_attempt_failed')).toBe(1);
  });

  it('RecordDeliveries opens no circuit for a failure that is not that of the receiver', async () => {
    const events = Array.from({ length: 10 }, (_, number) => anEvent(number));
    await store(...events);
    expect(await record(UNREADABLE, ...events)).toEqual(events.map(() => false));
    expect((await breaker())?.failuresInRow ?? 0).toBe(0);
  });

  it('RecordDeliveries does not count failed inbound events while the circuit is closed', async () => {
    const events = Array.from({ length: 10 }, (_, number) => anEvent(number, { kind: 'inbound' }));
    await store(...events);
    expect(await record(BROKEN, ...events)).toEqual(events.map(() => false));
    expect((await breaker())?.failuresInRow ?? 0).toBe(0);
  });

  it('RecordDeliveries schedules the first of the events that wait for each attempted one', async () => {
    const waiting = (number: number, orderingKey: string) =>
      anEvent(number, { orderingKey, nextAttemptAt: null });
    const events = [anEvent(1), anEvent(2), anEvent(3)];
    await store(
      ...events,
      waiting(4, 'message 1'),
      waiting(5, 'message 1'),
      waiting(6, 'message 3'),
      waiting(7, 'message 3'),
    );
    await record(OK, ...events);
    expect(await rows()).toEqual([
      [1, 'delivered', null],
      [2, 'delivered', null],
      [3, 'delivered', null],
      [4, 'pending', NOW],
      [5, 'pending', null],
      [6, 'pending', NOW],
      [7, 'pending', null],
    ]);
  });

  it('RecordDeliveries changes nothing for an event that changed meanwhile', async () => {
    const event = anEvent(1);
    await store(event);
    await record(BROKEN, event);
    const after = await rows();
    await record(OK, event);
    expect(await rows()).toEqual(after);
    expect((await breaker())?.failuresInRow).toBe(1);
  });
});
