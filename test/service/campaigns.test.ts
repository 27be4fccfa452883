import { ContainerModule } from 'inversify';
import { describe, expect, it } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';
import { ports } from '../../src/bootstrap/tokens.ts';
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
  IN_AN_HOUR,
  NOT_FOUND,
  NUMBERS,
  OTHER_KEY,
  PLAN,
  patch,
  post,
  REQUESTS,
  type RecipientBody,
  read,
  recipient,
  recipientsOf,
  rejection,
  START,
  started,
  startWithCampaigns,
  UNKNOWN_ID,
  UTILITY_PRICE,
} from '../support/campaigns.ts';
import { startService } from '../support/running-service.ts';
import { LIVE_KEY } from '../support/seeds.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const RECEIPT_WINDOW = 72 * HOUR;
const LIVE = { environment: 'live' as const, apiKeys: [LIVE_KEY] };

const start = (credit = CREDIT) => startWithCampaigns(credit);

describe('a campaign of another project', () => {
  it.each(REQUESTS)('%s %s of it is a 404, and it stays as it was', async (method, path, body) => {
    const service = await start();
    const id = await created(service, [NUMBERS[1]]);
    const before = await read(service, id);
    const request = { method, apiKey: OTHER_KEY, ...(body === undefined ? {} : { body }) };
    expect(errorOf(await ask(service, `/${id}${path}`, request))).toEqual(NOT_FOUND);
    expect(await read(service, id)).toEqual(before);
  });

  it('the list of a project does not show it', async () => {
    const service = await start();
    await created(service);
    expect((await ask(service, '', { apiKey: OTHER_KEY })).body).toEqual({
      success: true,
      data: [],
      pagination: { total: 0, pages: 1, page: 1, limit: 20 },
    });
  });

  it('the payload of its recipients is a 404', async () => {
    const service = await start();
    const id = await created(service);
    const reply = await ask(service, `/recipient-payload?_id=${id}`, { apiKey: OTHER_KEY });
    expect(errorOf(reply)).toEqual(NOT_FOUND);
  });
});

describe('ids, names and numbers of a campaign', () => {
  it.each(REQUESTS)('%s %s of a malformed id is a 400', async (method, path, body) => {
    const service = await start();
    for (const id of ['abc', `${UNKNOWN_ID}0`, 'g'.repeat(24)]) {
      const reply = await ask(service, `/${id}${path}`, { method, ...(body === undefined ? {} : { body }) });
      expect(errorOf(reply)).toMatchObject({
        status: 400,
        code: 'validation-failed',
        body: { success: false, error: expect.stringContaining('24 hex') },
      });
    }
  });

  it('a campaign is found by its id in capitals', async () => {
    const service = await start();
    const id = await created(service);
    expect(await campaign(service, id.toUpperCase())).toMatchObject({ _id: id });
  });

  it('a search finds a number by the spelling of the request and by the international one', async () => {
    const service = await start();
    const id = await created(service, ['07701234561']);
    for (const search of ['0770', '96477']) {
      expect(dataOf(await ask(service, `/${id}?search=${search}`))).toMatchObject({
        recipients: [{ phoneNumber: '07701234561' }],
      });
    }
  });

  it('the name of a sample is at most 80 characters long', async () => {
    const service = await start();
    const id = await created(service, [], { name: 'x'.repeat(80) });
    const sample = dataOf(await post(service, `/${id}/sample`, { recipients: [recipient(NUMBERS[0])] }));
    expect(sample.name).toBe(`${'x'.repeat(71)} (sample)`);
  });
});

describe('starting a campaign', () => {
  it('the message of a recipient is tracked under its smsId', async () => {
    const service = await start();
    const id = await started(service, [aTestNumber('0006')]);
    await service.settle();
    const smsId = (await recipientsOf(service, id))[0]?.smsId;
    expect((await service.request(`/sms/track/${smsId}`)).body).toEqual({
      smsId,
      phoneNumber: aTestNumber('0006'),
      status: 'failed',
      cost: 60,
      isFinalStatus: true,
      lastChannel: 'whatsapp',
      channelFlow: [{ channel: 'whatsapp', tried: true, success: false }],
    });
  });

  it('a campaign of a live project goes out over its provider', async () => {
    const seed = campaignSeed(CREDIT, LIVE);
    const service = await startService({ seed, providers: { whatsapp: 'simulator' } });
    const id = await started(service, [NUMBERS[0]]);
    await service.advance(SECOND);
    expect(await campaign(service, id)).toMatchObject({ status: 'completed', deliveredCount: 1 });
  });

  it('a campaign cannot start without a provider for whatsapp', async () => {
    const service = await startWithCampaigns(CREDIT, LIVE);
    const id = await created(service, [NUMBERS[0]]);
    expect(errorOf(await post(service, `/${id}/start`))).toMatchObject({
      status: 400,
      code: 'channel-not-available',
      body: { success: false },
    });
  });
});

describe('a scheduled campaign', () => {
  it('a scheduled campaign starts once when the service was down at its time', async () => {
    const skipped = { ms: 0 };
    const clock = { now: (): number => Date.parse(START) + skipped.ms };
    const service = await startService({
      seed: campaignSeed(),
      overrides: [
        new ContainerModule(({ rebind }) => {
          rebind(ports.clock).toConstantValue(clock);
        }),
      ],
    });
    const id = await created(service, NUMBERS, PLAN);
    // Until then a job that is being worked on is due when its lease ends.
    await service.settle();
    const { jobs } = await nextJob(service);
    expect(jobs).toBe(Date.parse(IN_AN_HOUR));
    skipped.ms = 30 * HOUR;
    await service.settle();
    expect(await campaign(service, id)).toMatchObject({
      status: 'completed',
      startedAt: '2030-01-02T06:00:00.000Z',
      reservedAmount: 180,
      sentCount: 3,
    });
    skipped.ms += HOUR;
    await service.settle();
    expect(service.inbox.all()).toHaveLength(3);
    expect(await campaign(service, id)).toMatchObject({ status: 'completed', reconciledAmount: 180 });
    expect(await creditOf(service)).toBe(CREDIT - 180);
  });

  it('a scheduled campaign that was given a later time starts then', async () => {
    const service = await start();
    const id = await created(service, NUMBERS, PLAN);
    dataOf(await patch(service, id, { scheduledFor: '2030-01-01T02:00:00Z' }));
    await service.advance(2 * HOUR - 1);
    expect(await campaign(service, id)).toMatchObject({ status: 'scheduled' });
    await service.advance(1);
    expect(await campaign(service, id)).toMatchObject({
      status: 'completed',
      startedAt: '2030-01-01T02:00:00.000Z',
    });
  });
});

describe('the Idempotency-Key of campaigns', () => {
  const key = { 'idempotency-key': 'k-1' };

  it('a start that is repeated under its key gets the first reply, and money is reserved once', async () => {
    const service = await start();
    const id = await created(service, NUMBERS);
    const first = await post(service, `/${id}/start`, undefined, key);
    await service.advance(SECOND);
    const again = await post(service, `/${id}/start`, undefined, key);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(await creditOf(service)).toBe(CREDIT - 180);
    expect(service.inbox.all()).toHaveLength(3);
    expect((await post(service, `/${id}/start`, undefined, { 'idempotency-key': 'k-2' })).status).toBe(400);
  });

  it('recipients that are attached twice under one key are attached once', async () => {
    const service = await start();
    const id = await created(service);
    const body = [recipient(NUMBERS[0]), recipient(NUMBERS[1])];
    const first = await attach(service, id, body, key);
    const again = await attach(service, id, body, key);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(dataOf(again)).toMatchObject({ addedCount: 2, skippedCount: 0, totalRecipients: 2 });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await campaign(service, id)).toMatchObject({ totalRecipients: 2 });
    expect(errorOf(await attach(service, id, [recipient(NUMBERS[2])], key))).toEqual(
      rejection(409, 'idempotency-conflict', 'This Idempotency-Key was already used with another request'),
    );
  });

  it('a sample that is repeated under its key is sent once', async () => {
    const service = await start();
    const id = await created(service);
    const body = { recipients: [recipient(NUMBERS[0])] };
    const first = await post(service, `/${id}/sample`, body, key);
    await service.advance(SECOND);
    const again = await post(service, `/${id}/sample`, body, key);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(service.inbox.all()).toHaveLength(1);
    const other = await post(service, `/${id}/sample`, { recipients: [recipient(NUMBERS[1])] }, key);
    expect(errorOf(other)).toMatchObject({ status: 409, code: 'idempotency-conflict' });
    expect((await ask(service, '')).body).toMatchObject({ pagination: { total: 2 } });
  });

  it('the same key is free for another campaign and for another endpoint', async () => {
    const service = await start();
    const [one, two] = [await created(service), await created(service)];
    for (const id of [one, two]) {
      const attached = await attach(service, id, [recipient(NUMBERS[0])], key);
      expect(attached.headers.get('idempotency-replayed')).toBeNull();
      const started = await post(service, `/${id}/start`, undefined, key);
      expect(started.headers.get('idempotency-replayed')).toBeNull();
    }
    expect(await creditOf(service)).toBe(CREDIT - 120);
  });

  it('a rejected request leaves its key free', async () => {
    const service = await start();
    const id = await created(service);
    expect((await post(service, `/${id}/start`, undefined, key)).status).toBe(400);
    await attach(service, id, [recipient(NUMBERS[0])]);
    const started = await post(service, `/${id}/start`, undefined, key);
    expect([started.status, started.headers.get('idempotency-replayed')]).toEqual([200, null]);
  });

  it.each(['start', 'sample', 'recipients'])('an unusable key of %s is an error', async (path) => {
    const service = await start();
    const id = await created(service, [NUMBERS[0]]);
    const body = path === 'start' ? undefined : { recipients: [recipient(NUMBERS[1])] };
    const reply = await post(service, `/${id}/${path}`, body, { 'idempotency-key': 'x'.repeat(256) });
    expect(errorOf(reply)).toMatchObject({
      status: 400,
      code: 'invalid-idempotency-key',
      body: { success: false },
    });
  });
});

describe('a campaign of 1,000 recipients', () => {
  /** Two hundred of each: delivered, read, rejected, not on whatsapp, silent. */
  const OUTCOMES = ['0001', '0004', '0006', '0007', '0003'];
  const numbers = Array.from({ length: 1_000 }, (_, n) => aTestNumber(OUTCOMES[n % 5] ?? '', n));
  /** 80 a second in groups of eight: the last group starts after 124 more. */
  const LAST_GROUP = 12_400;

  it('every recipient becomes final, and counters, amounts, credit and ledger agree', async () => {
    const service = await start();
    const id = await created(service, numbers);
    expect(dataOf(await post(service, `/${id}/start`))).toMatchObject({
      status: 'running',
      totalRecipients: 1_000,
      reservedAmount: 60_000,
      billingStatus: 'reserved',
    });
    expect(await creditOf(service)).toBe(40_000);
    await service.advance(LAST_GROUP - 1);
    expect(await campaign(service, id)).toMatchObject({ status: 'running' });
    // Two of five never reach a handset.
    expect(service.inbox.all()).toHaveLength(596);
    await service.advance(1);
    const completed = { status: 'completed', completedAt: '2030-01-01T00:00:12.400Z' };
    expect(await campaign(service, id)).toMatchObject({ ...completed, sentCount: 600, failedCount: 400 });
    expect(service.inbox.all()).toHaveLength(600);
    await agrees(service, id);

    await service.advance(2 * SECOND);
    const counts = { sentCount: 600, deliveredCount: 400, failedCount: 400, reconciledAmount: 24_000 };
    expect(await campaign(service, id)).toMatchObject({ ...completed, ...counts, billingStatus: 'reserved' });
    expect(await creditOf(service)).toBe(64_000);
    await agrees(service, id);

    await service.advance(RECEIPT_WINDOW);
    expect(await campaign(service, id)).toMatchObject({
      ...completed,
      ...counts,
      billingStatus: 'reconciled',
    });
    expect(await creditOf(service)).toBe(76_000);
    const rows = await agrees(service, id);
    expect(rows.every(({ finalCost }) => finalCost !== undefined)).toBe(true);
    const expected = {
      '0001': 'delivered',
      '0004': 'read',
      '0006': 'failed',
      '0007': 'failed',
      '0003': 'sent',
    };
    for (const [digits, status] of Object.entries(expected)) {
      const group = rows.filter(({ phoneNumber }) => phoneNumber.endsWith(digits));
      const isCharged = status === 'delivered' || status === 'read';
      expect(group).toHaveLength(200);
      expect(new Set(group.map((row) => row.status))).toEqual(new Set([status]));
      expect(new Set(group.map((row) => row.billingState))).toEqual(
        new Set([isCharged ? 'charged' : 'released']),
      );
    }
    await service.assertQuiet();
  }, 120_000);
});

/** Expects that the counters and amounts of a campaign are the sums of its rows, and returns the rows. */
async function agrees(service: Harness, id: string): Promise<readonly RecipientBody[]> {
  const [shown, rows] = [await campaign(service, id), await recipientsOf(service, id)];
  const count = (...statuses: string[]) => rows.filter(({ status }) => statuses.includes(status)).length;
  expect(new Set(rows.map(({ phoneNumber }) => phoneNumber)).size).toBe(rows.length);
  expect(shown).toMatchObject({
    totalRecipients: rows.length,
    sentCount: count('sent', 'delivered', 'read'),
    deliveredCount: count('delivered', 'read'),
    failedCount: count('failed'),
    reservedAmount: rows.length * UTILITY_PRICE,
    reconciledAmount: rows.reduce((sum, { finalCost = 0 }) => sum + finalCost, 0),
  });
  const of = (state: string) => rows.filter(({ billingState }) => billingState === state).length;
  expect(of('charged') * UTILITY_PRICE).toBe(shown.reconciledAmount);
  expect((of('charged') + of('released') + of('reserved')) * UTILITY_PRICE).toBe(shown.reservedAmount);
  const audit = await service.service.roots.auditLedger.execute();
  expect(audit.differences).toEqual([]);
  expect(audit.openHolds.map(({ held }) => held)).toEqual(
    of('reserved') === 0 ? [] : [of('reserved') * UTILITY_PRICE * 1_000],
  );
  return rows;
}

/** When the next job of the service is due. */
async function nextJob(service: Harness): Promise<{ readonly jobs: number | undefined }> {
  const job = await service.service.roots.unitOfWork.read(({ jobs }) => jobs.nextDue());
  return { jobs: job?.dueAt };
}
