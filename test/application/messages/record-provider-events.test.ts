import { expect, it } from 'vitest';
import type { ApplyMessageEvents } from '../../../src/application/messages/apply-message-events.ts';
import { RecordProviderEvents } from '../../../src/application/messages/record-provider-events.ts';
import type { ProviderEvent } from '../../../src/application/ports/provider-events.ts';
import type { AcceptInbound } from '../../../src/application/webhooks/accept-inbound.ts';

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
