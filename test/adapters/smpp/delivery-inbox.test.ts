import { describe, expect, it } from 'vitest';
import {
  DeliveryInbox,
  RECEIPTS_BATCH_MAX,
  RECEIPTS_WAITING_MAX,
} from '../../../src/adapters/smpp/delivery-inbox.ts';
import type { ProviderEvent } from '../../../src/application/ports/provider-events.ts';

const EVENT: ProviderEvent = {
  kind: 'receipt',
  receipt: { channel: 'sms', providerMessageId: '77', receipt: { kind: 'delivered' } },
};

describe('the inbox of deliveries', () => {
  it('the inbox takes a bounded number of receipts while the sink is busy, and hands them on in bounded calls', async () => {
    const inbox = new DeliveryInbox(() => undefined);
    const calls: number[] = [];
    let release: () => void = () => {};
    const isCalled = new Promise<void>((called) =>
      inbox.open(async (events) => {
        calls.push(events.length);
        called();
        if (calls.length === 1) await new Promise<void>((resolve) => (release = resolve));
      }),
    );
    const responses: boolean[] = [];
    const add = (): Promise<void> =>
      new Promise((resolve) =>
        inbox.add(EVENT, (isRecorded) => {
          responses.push(isRecorded);
          resolve();
        }),
      );
    const first = add();
    await isCalled;
    const waiting = Array.from({ length: RECEIPTS_WAITING_MAX }, add);
    await add();
    expect(responses).toEqual([false]);
    release();
    await Promise.all([first, ...waiting]);
    expect(responses.filter((isRecorded) => isRecorded)).toHaveLength(1 + RECEIPTS_WAITING_MAX);
    expect(calls).toEqual([1, ...Array(RECEIPTS_WAITING_MAX / RECEIPTS_BATCH_MAX).fill(RECEIPTS_BATCH_MAX)]);
  });

  it('the inbox takes nothing before it is opened', () => {
    const responses: boolean[] = [];
    new DeliveryInbox(() => undefined).add(EVENT, (isRecorded) => responses.push(isRecorded));
    expect(responses).toEqual([false]);
  });
});
