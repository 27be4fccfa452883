import { expect, it } from 'vitest';
import {
  CorrelateReceipts,
  type SubmittedAttempt,
} from '../../../src/application/attempts/correlate-receipts.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { DeliveryReceipt } from '../../../src/domain/providers/delivery-receipt.ts';
import { anSmsId, NOW } from '../../support/builders.ts';

const attempts = (count: number): readonly SubmittedAttempt[] =>
  Array.from({ length: count }, (_, index) => ({
    smsId: anSmsId(index),
    attemptNumber: 0,
    channel: 'sms',
    result: { kind: 'accepted', providerMessageIds: [`id-${index}`] },
  }));

it('recording provider message ids sweeps two expired ids for each, at most once a second', async () => {
  const clock = { at: NOW, now: () => clock.at };
  const correlateReceipts = new CorrelateReceipts({ clock });
  const sweeps: number[][] = [];
  const submissions: Pick<Stores['submissions'], 'record' | 'sweep'> = {
    record: async () => [],
    sweep: async (now, limit) => {
      sweeps.push([now - NOW, limit]);
      return 0;
    },
  };
  const recordAt = async (afterMs: number, count: number) => {
    clock.at = NOW + afterMs;
    await correlateReceipts.recordIds({ submissions } as Stores, attempts(count));
  };
  await recordAt(0, 3);
  await recordAt(1, 4);
  await recordAt(999, 2);
  expect(sweeps).toEqual([[0, 6]]);
  await recordAt(1_000, 1);
  await recordAt(1_999, 5);
  // The clock was set back.
  await recordAt(0, 2);
  expect(sweeps).toEqual([
    [0, 6],
    [1_000, 14],
    [0, 14],
  ]);
});

/** A store that may not be asked. */
const untouched = { submissions: {} } as Stores;
const receiptOf = (providerMessageId: string, receipt: DeliveryReceipt = { kind: 'delivered' }) => ({
  channel: 'sms' as const,
  providerMessageId,
  receipt,
});
const eventOf = (number: number, providerMessageId: string) => ({
  smsId: anSmsId(number),
  event: { kind: 'receipt', attemptNumber: 0, providerMessageId, receipt: { kind: 'delivered' } },
});
const attemptOf = (number: number) => ({ smsId: anSmsId(number), attemptNumber: 0 });
const open = () => new CorrelateReceipts({ clock: { now: () => NOW } });

it('a rejected submission has no provider message id to record', async () => {
  const rejected: SubmittedAttempt = {
    ...attemptOf(1),
    channel: 'sms',
    result: { kind: 'rejected', reason: 'No such number', endsChain: false },
  };
  expect(await open().recordIds(untouched, [rejected])).toEqual([]);
  expect(await open().recordIds(untouched, [])).toEqual([]);
});

it('receipts are told apart by whether their attempt is known, and their texts are made storable', async () => {
  const asked: unknown[] = [];
  const submissions: Pick<Stores['submissions'], 'find'> = {
    async find(receipts) {
      asked.push(...receipts);
      return receipts.map(({ providerMessageId }) => (providerMessageId === 'known' ? attemptOf(1) : null));
    },
  };
  const failed = receiptOf('early', { kind: 'failed', reason: 'absent\u0000subscriber' });
  const stored = receiptOf('early', { kind: 'failed', reason: 'absent subscriber' });
  expect(await open().find({ submissions } as Stores, [failed, receiptOf('known')])).toEqual({
    events: [eventOf(1, 'known')],
    unmatched: [stored],
  });
  expect(asked).toEqual([stored, receiptOf('known')]);
  expect(await open().find(untouched, [])).toEqual({ events: [], unmatched: [] });
});

/** The same receipt under an id of ours, which names an attempt. */
const named = (receipt: ReturnType<typeof receiptOf>, number: number) => ({
  ...receipt,
  attempt: attemptOf(number),
});

it('a receipt that names its attempt reaches it before the submit result with what was parked, and waits for that besides', async () => {
  const before: DeliveryReceipt = { kind: 'failed', reason: 'parked before' };
  const submissions: Pick<Stores['submissions'], 'find' | 'parkedUnder'> = {
    find: async (receipts) =>
      receipts.map(({ providerMessageId }) => (providerMessageId === 'known' ? attemptOf(1) : null)),
    parkedUnder: async (receipts) => receipts.map((_, index) => (index === 0 ? [{ receipt: before }] : [])),
  };
  const failure = receiptOf('gateway:early', { kind: 'failed', reason: 'absent' });
  const claim = { channel: 'sms', provider: 'gateway' };
  const claimOf = (number: number, receipt: DeliveryReceipt) => {
    const { smsId, event } = eventOf(number, 'gateway:early');
    return { smsId, event: { ...event, receipt, claim } };
  };
  const receipts = [named(receiptOf('gateway:early'), 2), named(receiptOf('known'), 1), named(failure, 4)];
  expect(await open().find({ submissions } as Stores, receipts)).toEqual({
    // The failures last: they count behind the word that their provider has the message.
    events: [
      eventOf(1, 'known'),
      claimOf(2, { kind: 'delivered' }),
      claimOf(2, before),
      claimOf(4, failure.receipt),
    ],
    unmatched: [named(receiptOf('gateway:early'), 2), named(failure, 4)],
  });
});

it('a receipt that names another attempt than its id is recorded for is of the one that it names', async () => {
  const submissions: Pick<Stores['submissions'], 'find'> = {
    find: async () => [attemptOf(1), { ...attemptOf(2), attemptNumber: 1 }],
  };
  const id = 'gateway:swapped';
  const receipts = [named(receiptOf(id), 2), named(receiptOf(id), 2)];
  const { smsId, event } = eventOf(2, id);
  const claimed = { smsId, event: { ...event, claim: { channel: 'sms', provider: 'gateway' } } };
  expect(await open().find({ submissions } as Stores, receipts)).toEqual({
    events: [claimed, claimed],
    unmatched: [],
  });
});

it('a receipt that waited under an id is of the attempt that it names, whatever attempt the id is recorded for', async () => {
  const id = 'gateway:swapped';
  const { smsId, event } = eventOf(2, id);
  const claimed = { smsId, event: { ...event, claim: { channel: 'sms', provider: 'gateway' } } };
  const submissions: Pick<Stores['submissions'], 'park' | 'record' | 'removeOldestParked' | 'sweep'> = {
    record: async () => [
      { ...named(receiptOf(id), 2), ...attemptOf(1) },
      { ...named(receiptOf(id), 1), ...attemptOf(1) },
    ],
    park: async () => [attemptOf(1)],
    sweep: async () => 0,
    removeOldestParked: async () => new Map(),
  };
  const stores = { submissions } as Stores;
  expect(await open().recordIds(stores, attempts(1))).toEqual([claimed, eventOf(1, id)]);
  expect(await open().park(stores, [named(receiptOf(id), 2)])).toMatchObject({ events: [claimed] });
});

it('the message of a receipt is the one that it names, else that of its recorded id', async () => {
  const submissions: Pick<Stores['submissions'], 'find'> = { find: async () => [attemptOf(1), null, null] };
  const receipts = [named(receiptOf('known'), 3), named(receiptOf('early'), 2), receiptOf('early')];
  expect(await open().smsIdsOf({ submissions } as Stores, receipts)).toEqual([anSmsId(3), anSmsId(2), null]);
});

it('of early receipts those whose attempt is known meanwhile are events, and each provider keeps its newest', async () => {
  const asked: unknown[] = [];
  const submissions: Pick<Stores['submissions'], 'park' | 'removeOldestParked' | 'sweep'> = {
    park: async () => [null, attemptOf(2), null],
    sweep: async () => 0,
    removeOldestParked: async (...given) => {
      asked.push(given);
      return new Map([['gateway', 1_001]]);
    },
  };
  const early = ['gateway:one', 'two', 'gateway:three'].map((id) => receiptOf(id));
  expect(await open().park({ submissions } as Stores, early)).toEqual({
    events: [eventOf(2, 'two')],
    dropped: new Map([['gateway', 1_001]]),
  });
  expect(asked).toEqual([[['gateway', ''], { idsMax: 10_000, idsKept: 9_000 }]]);
});
