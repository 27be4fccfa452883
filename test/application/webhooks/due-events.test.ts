import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliverWebhooksJob, type WebhookWork } from '../../../src/application/jobs/webhook-jobs.ts';
import { FetchDueEvents } from '../../../src/application/webhooks/fetch-due-events.ts';
import { ReleaseJobs } from '../../../src/application/webhooks/release-jobs.ts';
import { LEASE_LEFT_MS, LEASE_MS, type LeasedJob } from '../../../src/domain/jobs/job.ts';
import { type CircuitBreaker, CLOSED_CIRCUIT } from '../../../src/domain/shared/circuit-breaker.ts';
import { deliveryEvent } from '../../../src/domain/webhooks/delivery-event.ts';
import { destinationKey } from '../../../src/domain/webhooks/destination.ts';
import type { WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { type ApplicationWorld, openApplication } from '../../support/application-world.ts';
import { aDeliveryReport, aMessage, MINUTE_MS, NOW, PROJECT_ID, SECOND_MS } from '../../support/builders.ts';

const DESTINATION = { projectId: PROJECT_ID, endpoint: 'customer.example/status' };
const OPEN: CircuitBreaker = {
  ...CLOSED_CIRCUIT,
  failuresInRow: 10,
  openUntil: NOW + MINUTE_MS,
  consecutiveOpens: 1,
};

/** An event of a message of its own, due `afterMs` later than NOW. */
function anEvent(number: number, afterMs = 0): WebhookEvent {
  const id = `${number}`.padStart(24, '0');
  const change = {
    kind: 'status-changed',
    status: 'delivered',
    channel: 'sms',
    isFinal: true,
    reason: null,
  } as const;
  const event = deliveryEvent(id, aMessage({ smsId: `sms-${id}` }), aDeliveryReport(), change, NOW);
  return { ...event, nextAttemptAt: NOW + afterMs };
}

describe('the job of a destination', () => {
  let world: ApplicationWorld;
  let job: LeasedJob<WebhookWork>;

  beforeEach(async () => {
    world = await openApplication();
    await world.unitOfWork.run(async ({ jobs, webhookEvents }) => {
      await webhookEvents.insert([anEvent(2, -1), anEvent(1), anEvent(3, 5 * SECOND_MS)]);
      await jobs.add([deliverWebhooksJob(DESTINATION, NOW)], NOW);
    });
    job = await leaseJob();
  });

  afterEach(() => world.close());

  async function leaseJob(): Promise<LeasedJob<WebhookWork>> {
    const [leased] = await world.lease();
    if (leased === undefined) throw new Error('The job of the destination is due');
    return leased as LeasedJob<WebhookWork>;
  }

  const saveBreaker = (breaker: CircuitBreaker) =>
    world.unitOfWork.run(async ({ circuitBreakers }) => {
      await circuitBreakers.lock([destinationKey(DESTINATION)], NOW);
      await circuitBreakers.save(new Map([[destinationKey(DESTINATION), breaker]]), NOW);
    });
  const breaker = async () => {
    const found = await world.unitOfWork.read(({ circuitBreakers }) =>
      circuitBreakers.read([destinationKey(DESTINATION)]),
    );
    return found.get(destinationKey(DESTINATION));
  };
  const fetch = async (limit = 10) => {
    const { events, ...rest } = await world.container
      .get(FetchDueEvents)
      .execute({ job, after: null, limit });
    return { ...rest, ids: events.map(({ id }) => Number(id)) };
  };

  it('FetchDueEvents gives what is due by now, the longest due first, up to the limit', async () => {
    const leasedUntil = NOW + LEASE_LEFT_MS;
    expect(await fetch()).toEqual({ leasedUntil, notBefore: 0, ids: [2, 1] });
    expect(await fetch(1)).toEqual({ leasedUntil, notBefore: 0, ids: [2] });
  });

  it('FetchDueEvents says when the lease ends too soon for an attempt', async () => {
    world.clock.at = NOW + LEASE_MS - LEASE_LEFT_MS;
    expect(await fetch()).toMatchObject({ leasedUntil: NOW + LEASE_MS });
    world.clock.at += 1;
    expect(await fetch()).toMatchObject({ leasedUntil: null });
  });

  it('FetchDueEvents gives nothing while the circuit is open, and says until when', async () => {
    await saveBreaker(OPEN);
    expect(await fetch()).toEqual({ leasedUntil: NOW + LEASE_LEFT_MS, notBefore: NOW + MINUTE_MS, ids: [] });
    expect(await breaker()).toEqual(OPEN);
  });

  it('FetchDueEvents gives one event when the circuit may close again, and none of the others from then on', async () => {
    await saveBreaker({ ...OPEN, openUntil: NOW });
    expect(await fetch()).toMatchObject({ ids: [2], notBefore: 0 });
    expect(await breaker()).toMatchObject({ isHalfOpen: true, openUntil: NOW + 30 * SECOND_MS });
    expect(await fetch()).toMatchObject({ ids: [], notBefore: NOW + 30 * SECOND_MS });
  });

  it('FetchDueEvents leaves a circuit that may close as it is when nothing is due, or the lease is nearly over', async () => {
    const mayClose = { ...OPEN, openUntil: NOW };
    await saveBreaker(mayClose);
    world.clock.at = NOW + LEASE_MS - LEASE_LEFT_MS + 1;
    await fetch();
    expect(await breaker()).toEqual(mayClose);
    world.clock.at = NOW;
    await world.database.knex('webhook_events').delete();
    expect(await fetch()).toMatchObject({ ids: [] });
    expect(await breaker()).toEqual(mayClose);
  });

  describe('once it is released', () => {
    const release = (released: LeasedJob<WebhookWork>, notBefore = 0) =>
      world.container.get(ReleaseJobs).execute({ job: released, notBefore });
    const dueAt = async () => (await world.database.knex('jobs').pluck('due_at'))[0] as number | undefined;

    it('a released job is due again when the next event of its destination is', async () => {
      await world.database.knex('webhook_events').where('next_attempt_at', '<=', NOW).delete();
      await release(job);
      expect(await dueAt()).toBe(NOW + 5 * SECOND_MS);
    });

    it('a released job is due again no sooner than it may be', async () => {
      await release(job, NOW + 7 * SECOND_MS);
      expect(await dueAt()).toBe(NOW + 7 * SECOND_MS);
    });

    it('a released job is done when its destination has no more events', async () => {
      await world.database.knex('webhook_events').delete();
      await release(job);
      expect(await dueAt()).toBeUndefined();
    });

    it('a released job is left to the process that has it by now', async () => {
      world.clock.at = NOW + LEASE_MS;
      const newer = await leaseJob();
      await release(job);
      const held = await world.unitOfWork.read(({ jobs }) => jobs.stillLeased([newer]));
      expect(held).toEqual([newer]);
      expect(await dueAt()).toBe(world.clock.at + LEASE_MS);
    });
  });
});
