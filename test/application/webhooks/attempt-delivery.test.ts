import { expect, it } from 'vitest';
import { nodeHmac } from '../../../src/adapters/node/node-hmac.ts';
import type { WebhookRequest } from '../../../src/application/ports/webhook-transport.ts';
import { AttemptDelivery } from '../../../src/application/webhooks/attempt-delivery.ts';
import { verifyInbound, verifyStandard } from '../../../src/domain/webhooks/signer.ts';
import { inboundEvent, statusEvent, type WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { aDeliveryReport, aMessage, NOW } from '../../support/builders.ts';

const EVENT_ID = '0000000000000000000000e1';
const SECRET = 'svc_live_skab';
const SENT = { kind: 'failed', reason: 'timeout' } as const;

const delivery = (webhookSecret: string | null): WebhookEvent => {
  const change = {
    kind: 'status-changed',
    status: 'sent',
    channel: 'sms',
    isFinal: false,
    reason: null,
  } as const;
  return statusEvent(EVENT_ID, aMessage(), aDeliveryReport({ webhookSecret }), change, NOW);
};
const inbound = (attempts: number): WebhookEvent => {
  const message = {
    id: 'wamid.1',
    timestamp: '2026-01-15T11:59:58.000Z',
    type: 'text',
    content: { text: 'x' },
  } as const;
  const content = {
    eventId: EVENT_ID,
    timestamp: '2026-01-15T12:00:00.000Z',
    projectId: '664abc000000000000000001',
    phoneNumber: { id: '664def000000000000000001', phoneNumberId: '1', displayPhoneNumber: '+964' },
    contact: { phoneNumber: '9647712345678', name: '' },
    message,
  };
  return {
    ...inboundEvent(content, { url: 'https://customer.example/in', secret: `sealed ${SECRET}` }, NOW),
    attempts,
  };
};

/** Attempts an event with secrets that are sealed as `sealed TEXT`. */
async function attempt(event: WebhookEvent) {
  const requests: WebhookRequest[] = [];
  const attemptDelivery = new AttemptDelivery({
    hmac: nodeHmac,
    secretBox: {
      seal: (text) => `sealed ${text}`,
      open(sealed) {
        if (!sealed.startsWith('sealed ')) throw new Error('sealed under another key');
        return sealed.slice('sealed '.length);
      },
    },
    webhookTransport: {
      acceptUrl: (url) => url,
      close: async () => {},
      async send(request) {
        requests.push(request);
        return SENT;
      },
    },
  });
  const result = await attemptDelivery.execute(event, NOW);
  return { result, request: requests[0] };
}

it('AttemptDelivery sends the body of an event to its url, and returns the result of the transport', async () => {
  const { result, request } = await attempt(delivery(null));
  expect(result).toEqual(SENT);
  expect(request).toMatchObject({ url: 'https://customer.example/status', body: delivery(null).body });
});

it('AttemptDelivery signs the event of a message with the secret that was given with the message', async () => {
  const { request } = await attempt(delivery(`sealed ${SECRET}`));
  const headers = request?.headers ?? {};
  const signed = {
    id: headers['webhook-id'] ?? '',
    timestamp: headers['webhook-timestamp'] ?? '',
    signature: headers['webhook-signature'] ?? '',
  };
  expect(verifyStandard(nodeHmac, SECRET, signed, request?.body ?? '')).toBe(true);
});

it('AttemptDelivery does not sign the event of a message that was sent without a secret', async () => {
  const { request } = await attempt(delivery(null));
  expect(Object.keys(request?.headers ?? {})).not.toContain('webhook-signature');
});

it('AttemptDelivery signs an inbound event with the secret of its number, and counts its attempts from one', async () => {
  const { request } = await attempt(inbound(2));
  const headers = new Map(
    Object.entries(request?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const signed = {
    timestamp: headers.get('x-svc-webhook-timestamp') ?? '',
    signature: headers.get('x-svc-webhook-signature') ?? '',
  };
  expect(verifyInbound(nodeHmac, SECRET, signed, request?.body ?? '')).toBe(true);
  expect([...headers.values()]).toContain('3');
});

it('AttemptDelivery sends nothing when the secret cannot be opened', async () => {
  const { result, request } = await attempt(delivery('under another key'));
  expect(result).toEqual({ kind: 'failed', reason: 'secret-unreadable' });
  expect(request).toBeUndefined();
});
