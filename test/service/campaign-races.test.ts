import { describe, expect, it } from 'vitest';
import type { Harness, HarnessReply } from '../../src/bootstrap/harness/harness.ts';
import { aTestNumber } from '../support/builders.ts';
import {
  ask,
  attach,
  CREDIT,
  campaign,
  campaignSeed,
  created,
  creditOf,
  dataOf,
  errorOf,
  OFFER_TEMPLATE_ID,
  patch,
  post,
  recipient,
  recipientsOf,
  UTILITY_PRICE,
} from '../support/campaigns.ts';
import { startService } from '../support/running-service.ts';

/** Two days have many instants at which work is due: on PostgreSQL and RabbitMQ they take most of a test's usual time. */
const TWO_DAYS_TIMEOUT_MS = 60_000;
/** Requests at once of one race: more than the database has connections. */
const STARTS = 50;
const APPENDS = 20;
/** How often two requests meet, each of them first in half of the rounds. */
const ROUNDS = 12;
const SECOND = 1_000;
const DAY = 24 * 3_600 * SECOND;
/** Eleven messages of a number do not start at once: the campaign is running until the clock moves. */
const ELEVEN = Array.from({ length: 11 }, (_, n) => aTestNumber('0001', n));
const COST = ELEVEN.length * UTILITY_PRICE;

const start = () => startService({ seed: campaignSeed() });

const startOf = (service: Harness, id: string) => post(service, `/${id}/start`);

const together = <Result>(count: number, request: (n: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, n) => request(n)));

const statusesOf = (replies: readonly HarnessReply[]) => replies.map(({ status }) => status).sort();

describe('requests that meet at one campaign', () => {
  it('fifty starts at once are one start with one reservation', async () => {
    const service = await start();
    const id = await created(service, ELEVEN);
    const replies = await together(STARTS, () => startOf(service, id));
    expect(statusesOf(replies)).toEqual([200, ...Array.from({ length: STARTS - 1 }, () => 400)]);
    for (const reply of replies.filter(({ status }) => status === 400)) {
      expect(errorOf(reply)).toMatchObject({ code: 'campaign-not-draft' });
    }
    expect(await campaign(service, id)).toMatchObject({ status: 'running', reservedAmount: COST });
    expect(await creditOf(service)).toBe(CREDIT - COST);
    await service.advance(2 * SECOND);
    expect(service.inbox.all()).toHaveLength(ELEVEN.length);
    expect(await campaign(service, id)).toMatchObject({ status: 'completed', reconciledAmount: COST });
    await service.assertQuiet();
  });

  it('fifty starts at once under one key all get the reply of the one start', async () => {
    const service = await start();
    const id = await created(service, ELEVEN);
    const key = { 'idempotency-key': 'k-1' };
    const replies = await together(STARTS, () => post(service, `/${id}/start`, undefined, key));
    expect(new Set(statusesOf(replies))).toEqual(new Set([200]));
    expect(replies.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1);
    expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await creditOf(service)).toBe(CREDIT - COST);
    await service.advance(2 * SECOND);
    expect(service.inbox.all()).toHaveLength(ELEVEN.length);
    await service.assertQuiet();
  });

  it('starts of several campaigns at once never reserve more than the credit', async () => {
    const service = await startService({ seed: campaignSeed(3 * COST + 1) });
    const ids = await together(8, () => created(service, ELEVEN));
    const replies = await Promise.all(ids.map((id) => startOf(service, id)));
    expect(statusesOf(replies)).toEqual([200, 200, 200, 400, 400, 400, 400, 400]);
    for (const reply of replies.filter(({ status }) => status === 400)) {
      expect(errorOf(reply)).toMatchObject({ code: 'insufficient-credit', body: { yourCredit: 1 } });
    }
    await service.advance(5 * SECOND);
    expect(await creditOf(service)).toBe(1);
    await service.assertQuiet();
  });

  it('appends at once leave at most 1,000 recipients, no number twice, and counts that agree', async () => {
    const service = await start();
    const id = await created(service);
    // Neighbours share 30 of 100 numbers; all together have 1,430 different ones.
    const replies = await together(APPENDS, (n) =>
      attach(
        service,
        id,
        Array.from({ length: 100 }, (_, index) => recipient(aTestNumber('0001', n * 70 + index))),
      ),
    );
    let added = 0;
    for (const reply of replies) {
      if (reply.status !== 200) {
        expect(errorOf(reply)).toMatchObject({ status: 400, code: 'too-many-recipients' });
        continue;
      }
      const { addedCount, skippedCount } = dataOf<{ addedCount: number; skippedCount: number }>(reply);
      expect(addedCount + skippedCount).toBe(100);
      added += addedCount;
    }
    const rows = await recipientsOf(service, id);
    expect(rows).toHaveLength(added);
    expect(new Set(rows.map(({ phoneNumber }) => phoneNumber)).size).toBe(added);
    // A request only fails when its 100 at most do not fit.
    expect(added).toBeGreaterThan(900);
    expect(added).toBeLessThanOrEqual(1_000);
    expect(await campaign(service, id)).toMatchObject({
      status: 'draft',
      totalRecipients: added,
      estimatedTotalCost: added * UTILITY_PRICE,
    });
  });

  it('equal appends at once under one key attach their numbers once', async () => {
    const service = await start();
    const id = await created(service);
    const numbers = ELEVEN.map((number) => recipient(number));
    const replies = await together(APPENDS, () => attach(service, id, numbers, { 'idempotency-key': 'k-1' }));
    expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(dataOf(replies[0] as HarnessReply)).toMatchObject({ addedCount: 11, skippedCount: 0 });
    expect(await campaign(service, id)).toMatchObject({ totalRecipients: 11 });
  });
});

/** Lets a start and another request meet at a campaign of eleven, in either order, and tells who was accepted. */
async function race(service: Harness, round: number, other: (id: string) => Promise<HarnessReply>) {
  const id = await created(service, ELEVEN);
  const before = await creditOf(service);
  const requests = [() => startOf(service, id), () => other(id)];
  const order = round % 2 === 0 ? [0, 1] : [1, 0];
  const replies: HarnessReply[] = [];
  await Promise.all(
    order.map(async (index) => {
      replies[index] = await (requests[index] as () => Promise<HarnessReply>)();
    }),
  );
  const [started, others] = replies as [HarnessReply, HarnessReply];
  const held = before - (await creditOf(service));
  return { id, started, others, held, isStarted: started.status === 200, isOther: others.status === 200 };
}

describe('a start and another request at one campaign', () => {
  it('of a start and a delete one wins, and nothing is held for a campaign that is gone', async () => {
    const service = await start();
    for (let round = 0; round < ROUNDS; round += 1) {
      const met = await race(service, round, (id) => ask(service, `/${id}`, { method: 'DELETE' }));
      expect(met.isStarted).toBe(!met.isOther);
      expect(errorOf(met.isStarted ? met.others : met.started)).toMatchObject(
        met.isStarted
          ? { status: 400, code: 'campaign-not-editable' }
          : { status: 404, code: 'campaign-not-found' },
      );
      expect(met.held).toBe(met.isStarted ? COST : 0);
      expect((await ask(service, `/${met.id}`)).status).toBe(met.isStarted ? 200 : 404);
    }
    await service.advance(10 * SECOND);
    await service.assertQuiet();
  });

  it('of a start and an update that schedules the campaign one wins', {
    timeout: TWO_DAYS_TIMEOUT_MS,
  }, async () => {
    const service = await start();
    const plan = { scheduleType: 'schedule', scheduledFor: '2030-01-02T00:00:00Z' };
    let expected = CREDIT;
    for (let round = 0; round < ROUNDS; round += 1) {
      const met = await race(service, round, (id) => patch(service, id, plan));
      expect(met.isStarted).toBe(!met.isOther);
      expect(errorOf(met.isStarted ? met.others : met.started)).toMatchObject({
        status: 400,
        code: met.isStarted ? 'campaign-not-editable' : 'campaign-not-draft',
      });
      expect(met.held).toBe(met.isStarted ? COST : 0);
      expect(await campaign(service, met.id)).toMatchObject({
        status: met.isStarted ? 'running' : 'scheduled',
      });
      expected -= COST;
    }
    await service.advance(2 * DAY);
    expect(await creditOf(service)).toBe(expected);
    expect(service.inbox.all()).toHaveLength(ROUNDS * ELEVEN.length);
    await service.assertQuiet();
  });

  it('a start reserves by the template that the campaign then has, also when an update comes at the same time', async () => {
    const service = await start();
    for (let round = 0; round < ROUNDS; round += 1) {
      const met = await race(service, round, (id) => patch(service, id, { templateId: OFFER_TEMPLATE_ID }));
      expect(met.isStarted).toBe(true);
      if (!met.isOther) expect(errorOf(met.others)).toMatchObject({ code: 'campaign-not-editable' });
      const cost = met.isOther ? 990 : COST;
      expect(met.held).toBe(cost);
      expect(await campaign(service, met.id)).toMatchObject({
        status: 'running',
        category: met.isOther ? 'MARKETING' : 'UTILITY',
        reservedAmount: cost,
        estimatedTotalCost: cost,
      });
    }
    await service.advance(10 * SECOND);
    await service.assertQuiet();
  });

  it('a start takes the recipients of an append along, or the append is an error', async () => {
    const service = await start();
    for (let round = 0; round < ROUNDS; round += 1) {
      const met = await race(service, round, (id) =>
        attach(service, id, [recipient(aTestNumber('0001', 999))]),
      );
      expect(met.isStarted).toBe(true);
      if (!met.isOther) expect(errorOf(met.others)).toMatchObject({ code: 'campaign-not-editable' });
      const count = met.isOther ? 12 : 11;
      expect(met.held).toBe(count * UTILITY_PRICE);
      expect(await campaign(service, met.id)).toMatchObject({
        totalRecipients: count,
        reservedAmount: count * UTILITY_PRICE,
      });
      expect(await recipientsOf(service, met.id)).toHaveLength(count);
    }
    await service.advance(10 * SECOND);
    await service.assertQuiet();
  });

  it('a start is not disturbed by receipts of a running campaign and starts of it that are rejected', async () => {
    const service = await start();
    const ids = await together(4, () => created(service, ELEVEN));
    await Promise.all(ids.map((id) => startOf(service, id)));
    const moves = service.advance(5 * SECOND);
    const replies = await together(STARTS, (n) => startOf(service, ids[n % ids.length] ?? ''));
    await moves;
    expect(new Set(statusesOf(replies))).toEqual(new Set([400]));
    await service.advance(5 * SECOND);
    expect(await creditOf(service)).toBe(CREDIT - 4 * COST);
    await service.assertQuiet();
  });
});
