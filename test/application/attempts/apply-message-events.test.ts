import { expect, it, vi } from 'vitest';
import {
  type AdvanceMessages,
  type MessageBatch,
  NO_WORK,
  type PendingRevocation,
} from '../../../src/application/attempts/advance-messages.ts';
import { ApplyMessageEvents } from '../../../src/application/attempts/apply-message-events.ts';
import type { CorrelateReceipts } from '../../../src/application/attempts/correlate-receipts.ts';
import type { RevokeAttempts } from '../../../src/application/attempts/revoke-attempts.ts';
import { BATCH_ITEMS_MAX } from '../../../src/application/batching/batch-queue.ts';
import { StorageLocked } from '../../../src/application/errors/storage-locked.ts';
import { StorageUnavailable } from '../../../src/application/errors/storage-unavailable.ts';
import type { SubmissionReceipt } from '../../../src/application/ports/provider-events.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { NOW } from '../../support/builders.ts';
import { Gate } from '../../support/job-collector.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { uncancelled } from '../../support/uncancelled.ts';

const receipts: readonly SubmissionReceipt[] = ['a:one', 'a:two', 'b:three'].map((providerMessageId) => ({
  channel: 'sms',
  providerMessageId,
  receipt: { kind: 'delivered' },
}));

const revocationOf = (smsId: string): PendingRevocation => ({ channel: 'sms', providerMessageIds: [smsId] });

type Dropped = ReadonlyMap<string, number>;

/**
 * Each event that is applied revokes what its message has submitted. All receipts but `known` come early. The ids of the first
 * `found` of those are recorded meanwhile, and `dropped` is what the others drive out.
 */
function world({ known, found, dropped }: { known: number; found: number; dropped?: Dropped }) {
  const parked: number[] = [];
  /** How many submit results each batch has. */
  const recorded: number[] = [];
  const revoked: PendingRevocation[] = [];
  const logger = new RecordingLogger();
  const correlateReceipts: Pick<CorrelateReceipts, 'recordIds' | 'find' | 'park'> = {
    async recordIds(_stores, attempts) {
      recorded.push(attempts.length);
      return [];
    },
    find: async (_stores, given) => ({ events: [], unmatched: given.slice(known) }),
    async park(_stores, early) {
      parked.push(early.length);
      const events = early.slice(0, found).map(({ providerMessageId }) => ({
        smsId: `sms-${providerMessageId}`,
        event: {
          kind: 'receipt',
          attemptNumber: 0,
          providerMessageId,
          receipt: { kind: 'delivered' },
        } as const,
      }));
      return { events, dropped: dropped ?? new Map() };
    },
  };
  const unitOfWork: Pick<UnitOfWork, 'run'> = { run: (work) => work({} as Stores) };
  const applyMessageEvents = new ApplyMessageEvents({
    unitOfWork: unitOfWork as UnitOfWork,
    correlateReceipts: correlateReceipts as CorrelateReceipts,
    advanceMessages: {
      execute: async (_stores: Stores, { events = [] }: MessageBatch) => ({
        ...NO_WORK,
        revocations: events.map(({ smsId }) => revocationOf(smsId)),
      }),
    } as unknown as AdvanceMessages,
    revokeAttempts: {
      start: (revocations: readonly PendingRevocation[]) => revoked.push(...revocations),
    } as unknown as RevokeAttempts,
    wakeSignal: { wake() {} },
    resultRetryDelay: uncancelled(setImmediate),
    clock: { now: () => NOW },
    logger,
  });
  return { applyMessageEvents, parked, recorded, revoked, logger };
}

it('receipts that come early are parked together, and those dropped are logged once a minute for each provider', async () => {
  const { applyMessageEvents, parked, logger } = world({
    known: 1,
    found: 0,
    dropped: new Map([
      ['a', 1_001],
      ['b', 1],
    ]),
  });
  await applyMessageEvents.received(receipts);
  await applyMessageEvents.received(receipts);
  expect(parked).toEqual([2, 2]);
  expect(logger.entries).toEqual([
    { level: 'warn', event: 'provider_receipts_dropped', fields: { provider: 'a', count: 1_001 } },
    { level: 'warn', event: 'provider_receipts_dropped', fields: { provider: 'b', count: 1 } },
  ]);
});

it('what a receipt revokes is revoked, also when its submit result was recorded while it was parked', async () => {
  const { applyMessageEvents, revoked } = world({ known: 0, found: 2 });
  await applyMessageEvents.received(receipts);
  expect(revoked).toEqual([revocationOf('sms-a:one'), revocationOf('sms-a:two')]);
});

it('nothing is parked when every receipt is known, and nothing is logged when none is dropped', async () => {
  const all = world({ known: 3, found: 0 });
  await all.applyMessageEvents.received(receipts);
  const none = world({ known: 0, found: 3 });
  await none.applyMessageEvents.received(receipts);
  expect([all.parked, none.parked]).toEqual([[], [3]]);
  expect([...all.logger.entries, ...none.logger.entries]).toEqual([]);
});

it('receipts of a project that meets a lock are committed once it is released, and those of no other wait for them', async () => {
  const committed: string[] = [];
  const unlock = new Gate();
  let isLocked = true;
  const stores = { messages: { projectIdsOf: async () => new Map([['sms-a:one', 'locked']]) } };
  const applyMessageEvents = new ApplyMessageEvents({
    unitOfWork: {
      run: (work, _durability, lockWait) => work({ ...stores, lockWait } as unknown as Stores),
      read: (work) => work(stores as unknown as Stores),
    } as UnitOfWork,
    correlateReceipts: {
      recordIds: async () => [],
      find: async (_stores: Stores, found: readonly SubmissionReceipt[]) => ({
        events: found.map(({ providerMessageId }) => ({ smsId: `sms-${providerMessageId}` })),
        unmatched: [],
      }),
      smsIdsOf: async (_stores: Stores, found: readonly SubmissionReceipt[]) =>
        found.map(({ providerMessageId }) =>
          providerMessageId === 'b:three' ? null : `sms-${providerMessageId}`,
        ),
    } as unknown as CorrelateReceipts,
    advanceMessages: {
      async execute(given: { lockWait: string }, { events = [] }: MessageBatch) {
        const smsIds = events.map(({ smsId }) => smsId);
        if (isLocked && smsIds.includes('sms-a:one')) {
          if (given.lockWait === 'brief') throw new StorageLocked(new Error('lock timeout'));
          await unlock.opened;
        }
        committed.push(...smsIds);
        return NO_WORK;
      },
    } as unknown as AdvanceMessages,
    revokeAttempts: { start() {} } as unknown as RevokeAttempts,
    wakeSignal: { wake() {} },
    resultRetryDelay: uncancelled(setImmediate),
    clock: { now: () => NOW },
    logger: new RecordingLogger(),
  });
  const [one, ...others] = receipts.map((receipt) => applyMessageEvents.received([receipt]));
  await Promise.all(others);
  expect(committed.toSorted()).toEqual(['sms-a:two', 'sms-b:three']);
  expect(applyMessageEvents.isLocked('locked')).toBe(true);
  const later = applyMessageEvents.received(receipts.slice(0, 1));
  await applyMessageEvents.received(receipts.slice(1));
  isLocked = false;
  unlock.open();
  await Promise.all([one, later]);
  expect(committed).toHaveLength(6);
});

/** What `unitOfWork.run` does, one function after the other, and then nothing. */
function storing(...outcomes: readonly (() => Promise<void> | void)[]) {
  const left = [...outcomes];
  const retries: (() => void)[] = [];
  const applyMessageEvents = new ApplyMessageEvents({
    unitOfWork: {
      run: async () => {
        await left.shift()?.();
        return { unmatched: [], revocations: [] };
      },
      read: async () => [''],
    } as unknown as UnitOfWork,
    correlateReceipts: {} as unknown as CorrelateReceipts,
    advanceMessages: {} as unknown as AdvanceMessages,
    revokeAttempts: { start() {} } as unknown as RevokeAttempts,
    wakeSignal: { wake() {} },
    resultRetryDelay: uncancelled((over) => retries.push(over)),
    clock: { now: () => NOW },
    logger: new RecordingLogger(),
  });
  return {
    applyMessageEvents,
    left,
    retries,
    submitted: () =>
      applyMessageEvents.submitted({
        smsId: 'sms-1',
        attemptNumber: 0,
        channel: 'sms',
        result: { kind: 'accepted', providerMessageIds: ['a:1'] },
      }),
  };
}

const away = () => {
  throw new StorageUnavailable(new Error('connection lost'));
};
const locked = () => {
  throw new StorageLocked(new Error('lock timeout'));
};
const rounds = () => new Promise((resolve) => setTimeout(resolve));

it('a submit result is tried again until the database takes it', async () => {
  // Each try has one repeat of its own.
  const { left, retries, submitted } = storing(away, away, away, away, () => {});
  const stored = submitted();
  for (let tries = 1; tries <= 2; tries += 1) {
    await vi.waitUntil(() => retries.length > 0);
    retries.shift()?.();
  }
  await stored;
  expect([left, retries]).toEqual([[], []]);
});

it('a submit result that fails by itself is not tried again', async () => {
  const { retries, submitted } = storing(
    ...[1, 2].map(() => () => {
      throw new Error('poison');
    }),
  );
  await expect(submitted()).rejects.toThrow('poison');
  expect(retries).toEqual([]);
});

it('a submit result that the database does not take is tried once more when the service stops', async () => {
  const { applyMessageEvents, left, retries, submitted } = storing(away, away, away, away, () => {});
  const stored = expect(submitted()).rejects.toThrow('connection lost');
  await vi.waitUntil(() => retries.length > 0);
  applyMessageEvents.stop();
  retries.shift()?.();
  await stored;
  expect([left.length, retries]).toEqual([1, []]);
});

it('jobs wait for a submit result that an outage held up, until its next try has ended', async () => {
  const commit = new Gate();
  const { applyMessageEvents, retries, submitted } = storing(away, away, () => commit.opened);
  const stored = submitted();
  await vi.waitUntil(() => retries.length > 0);
  let isKeptUp = false;
  const keptUp = applyMessageEvents.keptUp().then(() => {
    isKeptUp = true;
  });
  retries.shift()?.();
  await rounds();
  expect(isKeptUp).toBe(false);
  commit.open();
  await Promise.all([stored, keptUp]);
});

it('jobs wait for one try of each submit result that an outage holds up, and not until all are stored', async () => {
  const { applyMessageEvents, retries, submitted } = storing(...Array.from({ length: 8 }, () => away));
  const first = submitted();
  await vi.waitUntil(() => retries.length === 1);
  const second = submitted();
  await vi.waitUntil(() => retries.length === 2);
  const keptUp = applyMessageEvents.keptUp();
  retries.shift()?.();
  await vi.waitUntil(() => retries.length === 2);
  retries.shift()?.();
  await keptUp;
  await vi.waitUntil(() => retries.length === 2);
  for (const retry of retries.splice(0)) retry();
  await Promise.all([first, second]);
});

it('jobs do not wait for a submit result that cannot be stored while others are', async () => {
  const { applyMessageEvents, retries, submitted } = storing(
    away,
    away,
    () => {},
    away,
    away,
    () => {},
  );
  const broken = submitted();
  await vi.waitUntil(() => retries.length === 1);
  await submitted();
  retries.shift()?.();
  await vi.waitUntil(() => retries.length === 1);
  await applyMessageEvents.keptUp();
  retries.shift()?.();
  await broken;
});

it('jobs do not wait for a submit result that a lock holds up', async () => {
  const { applyMessageEvents, retries, submitted } = storing(locked, locked, () => {});
  const stored = submitted();
  await vi.waitUntil(() => retries.length > 0);
  await applyMessageEvents.keptUp();
  retries.shift()?.();
  await stored;
});

it('a submit result waits for one batch of the receipts of many callbacks, and not for all of them', async () => {
  const callbacks = Array.from({ length: 4 * BATCH_ITEMS_MAX }, () => receipts);
  const { applyMessageEvents, recorded } = world({ known: callbacks.flat().length, found: 0 });
  const receiving = Promise.all(callbacks.map((some) => applyMessageEvents.received(some)));
  await applyMessageEvents.submitted({
    smsId: 'sms-1',
    attemptNumber: 0,
    channel: 'sms',
    result: { kind: 'accepted', providerMessageIds: ['1'] },
  });
  expect(recorded.length).toBeLessThanOrEqual(3);
  expect(recorded.at(-1)).toBe(1);
  await receiving;
  expect(recorded.length).toBeGreaterThanOrEqual(12);
});
