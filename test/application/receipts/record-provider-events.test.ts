import { expect, it } from 'vitest';
import type { ApplyMessageEvents } from '../../../src/application/attempts/apply-message-events.ts';
import type { ProviderEvent } from '../../../src/application/ports/provider-events.ts';
import { RecordProviderEvents } from '../../../src/application/receipts/record-provider-events.ts';
import type { AcceptInbound } from '../../../src/application/webhooks/accept-inbound.ts';

const NO_BACKGROUND = { start() {} };

it('the receipts of a provider go to their messages, and what people wrote to the inbound webhooks', async () => {
  const receipts: unknown[] = [];
  const arrivals: unknown[] = [];
  const recordProviderEvents = new RecordProviderEvents({
    applyMessageEvents: {
      async received(given) {
        receipts.push(...given);
      },
    } as ApplyMessageEvents,
    acceptInbound: {
      async execute(given) {
        arrivals.push(...given);
      },
    } as AcceptInbound,
    background: NO_BACKGROUND,
  });
  const receipt = {
    kind: 'receipt',
    receipt: { channel: 'sms', providerMessageId: 'one', receipt: { kind: 'delivered' } },
  } as const satisfies ProviderEvent;
  const inbound = { kind: 'inbound', arrival: { whatsappPhoneId: 'number' } } as unknown as Extract<
    ProviderEvent,
    { kind: 'inbound' }
  >;
  await recordProviderEvents.execute([inbound, receipt]);
  expect([receipts, arrivals]).toEqual([[receipt.receipt], [inbound.arrival]]);
});

it('each event of a provider that asks for it is settled by itself, under its own place', async () => {
  const settled: (readonly [number, unknown])[] = [];
  const poisoned = new Error('poisoned');
  const away = new Error('away');
  const recordProviderEvents = new RecordProviderEvents({
    applyMessageEvents: {
      async receivedEach(receipts, settle) {
        for (const index of receipts.keys()) settle(index, index === 1 ? poisoned : null);
      },
    } as ApplyMessageEvents,
    acceptInbound: {
      async execute() {
        throw away;
      },
    } as unknown as AcceptInbound,
    background: NO_BACKGROUND,
  });
  const kinds = ['receipt', 'inbound', 'accepted', 'receipt'] as const;
  const events = kinds.map((kind) => ({ kind }) as unknown as ProviderEvent);
  await recordProviderEvents.execute(events, (index, failure) => settled.push([index, failure]));
  expect(settled.toSorted(([one], [other]) => one - other)).toEqual([
    [0, null],
    [1, away],
    [2, null],
    [3, poisoned],
  ]);
});

it('an acceptance that comes late is recorded in the background, and no receipt waits for it', async () => {
  const submitted: unknown[] = [];
  const started: (() => Promise<void>)[] = [];
  const recordProviderEvents = new RecordProviderEvents({
    applyMessageEvents: {
      async received() {},
      async submitted(attempt: unknown) {
        submitted.push(attempt);
      },
    } as unknown as ApplyMessageEvents,
    acceptInbound: { async execute() {} } as unknown as AcceptInbound,
    background: { start: (work) => started.push(work) },
  });
  const attempt = { smsId: 'sms-1', attemptNumber: 1, channel: 'sms' } as const;
  await recordProviderEvents.execute([
    { kind: 'accepted', acceptance: { ...attempt, providerMessageIds: ['one'] } },
  ]);
  expect(submitted).toEqual([]);
  await Promise.all(started.map((work) => work()));
  expect(submitted).toEqual([{ ...attempt, result: { kind: 'accepted', providerMessageIds: ['one'] } }]);
});
