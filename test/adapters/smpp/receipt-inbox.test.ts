import { describe, expect, it } from 'vitest';
import {
  RECEIPTS_BATCH_MAX,
  RECEIPTS_WAITING_MAX,
  ReceiptInbox,
} from '../../../src/adapters/smpp/receipt-inbox.ts';
import type { SubmissionReceipt } from '../../../src/application/ports/provider-events.ts';
import { wholeSink } from '../../support/whole-sink.ts';
import { ManualTimeouts } from './manual-timeouts.ts';

const receiptOf = (providerMessageId: string): SubmissionReceipt => ({
  channel: 'sms',
  providerMessageId,
  receipt: { kind: 'delivered' },
});

/** An inbox, what it responded by the id of each receipt, and how many failures it told of. */
function anInbox() {
  const timers = new ManualTimeouts();
  const told: number[] = [];
  const inbox = new ReceiptInbox({
    onFailures: ({ length }) => told.push(length),
    lockedResponse: timers.timeouts(1),
  });
  const responses: [id: string, isRecorded: boolean][] = [];
  const add = (id: string): Promise<void> =>
    new Promise((resolve) =>
      inbox.add(receiptOf(id), (isRecorded) => {
        responses.push([id, isRecorded]);
        resolve();
      }),
    );
  return { inbox, timers, told, responses, add };
}

describe('the inbox of deliveries', () => {
  it('the inbox takes a bounded number of receipts while the sink is busy, and hands them on in bounded calls', async () => {
    const { inbox, responses, add } = anInbox();
    const calls: number[] = [];
    let release: () => void = () => {};
    const isCalled = new Promise<void>((called) =>
      inbox.open(
        wholeSink(async (events) => {
          calls.push(events.length);
          called();
          if (calls.length === 1) await new Promise<void>((resolve) => (release = resolve));
        }),
      ),
    );
    const first = add('first');
    await isCalled;
    const waiting = Array.from({ length: RECEIPTS_WAITING_MAX }, (_, index) => add(`${index}`));
    await add('surplus');
    expect(responses).toEqual([['surplus', false]]);
    release();
    await Promise.all([first, ...waiting]);
    expect(responses.filter(([, isRecorded]) => isRecorded)).toHaveLength(1 + RECEIPTS_WAITING_MAX);
    expect(calls).toEqual([1, ...Array(RECEIPTS_WAITING_MAX / RECEIPTS_BATCH_MAX).fill(RECEIPTS_BATCH_MAX)]);
  });

  it('the inbox takes nothing before it is opened', async () => {
    const { responses, add } = anInbox();
    await add('early');
    expect(responses).toEqual([['early', false]]);
  });

  it('the inbox responds to a receipt once, when its lock ends or when it has waited for it long enough', async () => {
    const { inbox, timers, told, responses, add } = anInbox();
    const settle = new Map<string, (failure: unknown) => void>();
    inbox.open(async (events, settled) => {
      for (const [index, event] of events.entries()) {
        const id = event.kind === 'receipt' ? event.receipt.providerMessageId : '';
        if (id === 'free') settled?.(index, null);
        else settle.set(id, (failure) => settled?.(index, failure));
      }
    });
    const locked = [add('brief'), add('long')];
    await add('free');
    await timers.begun(1);
    settle.get('brief')?.(null);
    timers.expire(1);
    settle.get('long')?.(null);
    await Promise.all(locked);
    expect(responses).toEqual([
      ['free', true],
      ['brief', true],
      ['long', false],
    ]);
    expect(told).toEqual([1]);
  });
});
