import { beforeEach, describe, expect, it } from 'vitest';
import { DeliveryCapacity } from '../../../src/application/webhooks/delivery-capacity.ts';
import { DeliveryLimiter } from '../../../src/application/webhooks/delivery-limiter.ts';
import { DELIVERY_LIMITS } from '../../../src/application/webhooks/delivery-limits.ts';
import { LeasedDestination } from '../../../src/application/webhooks/leased-destination.ts';
import type { ConfirmedLease } from '../../../src/domain/jobs/job.ts';
import type { WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { NOW } from '../../support/builders.ts';

const events = (...ids: readonly string[]) => ids.map((id) => ({ id }) as WebhookEvent);
const JOB = {
  id: 'webhooks/p1/a.example/1',
  fencingToken: 1,
  work: { kind: 'deliver-webhooks', projectId: 'p1', endpoint: 'a.example/1' },
} as const;
const LEASE = { at: NOW, until: NOW + 6_000 };

describe('LeasedDestination', () => {
  let isValid: (lease: ConfirmedLease) => boolean;
  /** How many events of the project are in hand. */
  let inHand: () => number;
  let begun: string[];
  let destination: LeasedDestination;

  beforeEach(() => {
    isValid = () => true;
    begun = [];
    const limiter = new DeliveryLimiter({ ...DELIVERY_LIMITS, attemptsPerEndpoint: 2 });
    const capacity = new DeliveryCapacity(DELIVERY_LIMITS).open('p1');
    if (capacity === null) throw new Error('The first destination is within the limits');
    inHand = () => capacity.project.fetched;
    destination = new LeasedDestination(
      JOB,
      capacity,
      limiter,
      (lease) => isValid(lease),
      (_, { id }) => begun.push(id),
    );
  });

  it('a destination attempts events while the lease that was found last is valid', () => {
    isValid = (lease) => lease === LEASE;
    destination.take(events('1'), LEASE);
    expect(begun).toEqual(['1']);
    destination.take(events('2'), { ...LEASE });
    expect(begun).toEqual(['1']);
  });

  it('a destination goes on with what waits when its lease is renewed', () => {
    isValid = (lease) => lease === LEASE;
    destination.take(events('1'), { ...LEASE });
    destination.renewed(LEASE);
    expect(begun).toEqual(['1']);
  });

  it('a destination keeps the lease of a renewal that a fetch from before ends after', () => {
    isValid = ({ at }) => at === NOW + 1;
    destination.renewed({ ...LEASE, at: NOW + 1 });
    destination.take(events('1'), LEASE);
    expect(begun).toEqual(['1']);
  });

  it('a destination counts what it has fetched until the results are recorded', () => {
    destination.take(events('1', '2', '3'), LEASE);
    expect([inHand(), [...destination.fetched]]).toEqual([3, ['1', '2', '3']]);
    destination.forget(['1']);
    destination.forget([]);
    expect([inHand(), [...destination.fetched], destination.isIdle]).toEqual([2, ['2', '3'], false]);
  });

  it('a destination wants a fetch when the last of its events is recorded, and is idle after it', async () => {
    destination.take(events('1', '2'), LEASE);
    destination.forget(['1']);
    destination.forget(['2']);
    expect(destination.isIdle).toBe(false);
    await destination.fetchWanted();
    expect(destination.isIdle).toBe(true);
  });

  it('a destination lets a fetch wait until one is wanted', async () => {
    let isWanted = false;
    const wanted = destination.fetchWanted().then(() => {
      isWanted = true;
    });
    await Promise.resolve();
    expect(isWanted).toBe(false);
    destination.wantFetch();
    await wanted;
    expect(isWanted).toBe(true);
  });

  it('a destination wants a fetch for a poll only while it waits for one', async () => {
    destination.poll();
    expect(destination.isIdle).toBe(true);
    const wanted = destination.fetchWanted();
    destination.poll();
    await expect(wanted).resolves.toBeUndefined();
  });

  it('a destination reads all that is due again once it has dropped events', () => {
    destination.cursor.begin();
    destination.cursor.advance([{ id: '3', nextAttemptAt: NOW } as WebhookEvent], true);
    destination.drop();
    expect(destination.cursor.begin()).toBeNull();
  });

  it('a destination forgets what it has not begun when it drops, and keeps what is in flight', () => {
    destination.take(events('1', '2', '3'), LEASE);
    destination.drop();
    expect([begun, [...destination.fetched], inHand()]).toEqual([['1', '2'], ['1', '2'], 2]);
  });

  it('a destination begins nothing once it is lost', async () => {
    destination.take(events('1', '2', '3'), LEASE);
    destination.lose();
    destination.queue.ended();
    destination.take(events('4'), LEASE);
    expect([begun, destination.isLost]).toEqual([['1', '2'], true]);
    await destination.fetchWanted();
  });
});
