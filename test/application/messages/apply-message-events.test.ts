import { expect, it } from 'vitest';
import type { AdvanceMessages } from '../../../src/application/messages/advance-messages.ts';
import { ApplyMessageEvents } from '../../../src/application/messages/apply-message-events.ts';
import type { CorrelateReceipts } from '../../../src/application/messages/correlate-receipts.ts';
import type { SubmissionReceipt } from '../../../src/application/ports/channel-provider.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
import type { UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { NOW } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const receipts: readonly SubmissionReceipt[] = ['one', 'two', 'three'].map((providerMessageId) => ({
  channel: 'sms',
  providerMessageId,
  receipt: { kind: 'delivered' },
}));

/** All receipts but `known` come early, and `dropped` of them are dropped. */
function world({ known, dropped }: { readonly known: number; readonly dropped: number }) {
  const parked: number[] = [];
  const logger = new RecordingLogger();
  const correlateReceipts: Pick<CorrelateReceipts, 'recordIds' | 'find' | 'park'> = {
    recordIds: async () => [],
    find: async (_stores, found) => ({ events: [], early: found.slice(known) }),
    async park(_stores, early) {
      parked.push(early.length);
      return { events: [], dropped };
    },
  };
  const unitOfWork: Pick<UnitOfWork, 'run'> = { run: (work) => work({} as Stores) };
  const applyMessageEvents = new ApplyMessageEvents({
    unitOfWork: unitOfWork as UnitOfWork,
    correlateReceipts: correlateReceipts as CorrelateReceipts,
    advanceMessages: { async execute() {} } as unknown as AdvanceMessages,
    wakeSignal: { wake() {} },
    clock: { now: () => NOW },
    logger,
  });
  return { applyMessageEvents, parked, logger };
}

it('receipts that come early are parked together, and those dropped are logged with their number', async () => {
  const { applyMessageEvents, parked, logger } = world({ known: 1, dropped: 2 });
  await applyMessageEvents.received(receipts);
  expect(parked).toEqual([2]);
  expect(logger.entries).toEqual([
    { level: 'warn', event: 'provider_receipts_dropped', fields: { count: 2 } },
  ]);
});

it('nothing is parked when every receipt is known, and nothing is logged when none is dropped', async () => {
  const all = world({ known: 3, dropped: 0 });
  await all.applyMessageEvents.received(receipts);
  const none = world({ known: 0, dropped: 0 });
  await none.applyMessageEvents.received(receipts);
  expect([all.parked, none.parked]).toEqual([[], [3]]);
  expect([...all.logger.entries, ...none.logger.entries]).toEqual([]);
});
