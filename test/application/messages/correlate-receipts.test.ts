import { expect, it } from 'vitest';
import {
  CorrelateReceipts,
  type SubmittedAttempt,
} from '../../../src/application/messages/correlate-receipts.ts';
import type { Stores } from '../../../src/application/ports/stores.ts';
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
