import { expect, it } from 'vitest';
import { nodeHmac } from '../../../src/adapters/node/node-hmac.ts';
import type { WebhookRequest } from '../../../src/application/ports/webhook-transport.ts';
import { AttemptDelivery } from '../../../src/application/webhooks/attempt-delivery.ts';
import type { SealedSecret } from '../../../src/domain/shared/sealed-secret.ts';
import { deliveryEvent } from '../../../src/domain/webhooks/delivery-event.ts';
import type { DeliveryResult } from '../../../src/domain/webhooks/delivery-result.ts';
import { inboundEvent } from '../../../src/domain/webhooks/inbound-event.ts';
import { onlySecret } from '../../../src/domain/webhooks/inbound-secrets.ts';
import type { InboundWebhook } from '../../../src/domain/webhooks/inbound-webhook.ts';
import { verifyInbound, verifyStandard } from '../../../src/domain/webhooks/signer.ts';
import type { WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { aDeliveryReport, aMessage, aSealedSecret, NOW } from '../../support/builders.ts';

const EVENT_ID = '0000000000000000000000e1';
const SECRET = 'svc_live_skab';
const SENT = { kind: 'failed', reason: 'timeout' } as const;

const delivery = (webhookSecret: SealedSecret | null): WebhookEvent => {
  const change = {
    kind: 'status-changed',
    status: 'sent',
    channel: 'sms',
    isFinal: false,
    reason: null,
  } as const;
  return deliveryEvent(EVENT_ID, aMessage(), aDeliveryReport({ webhookSecret }), change, NOW);
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
    ...inboundEvent(
      content,
      { url: 'https://customer.example/in', ...onlySecret(aSealedSecret(`sealed ${SECRET}`)) },
      NOW,
    ),
    attempts,
  };
};

/** Attempts an event with secrets that are sealed as `sealed TEXT`. */
async function attempt(
  event: WebhookEvent,
  sent: DeliveryResult = SENT,
  webhook: () => Promise<InboundWebhook | null> = async () => null,
) {
  const requests: WebhookRequest[] = [];
  const attemptDelivery = new AttemptDelivery({
    hmac: nodeHmac,
    secretBox: {
      seal: (text) => aSealedSecret(`sealed ${text}`),
      open(sealed) {
        if (!sealed.startsWith('sealed ')) throw new Error('sealed under another key');
        return sealed.slice('sealed '.length);
      },
    },
    currentInboundWebhooks: { of: webhook },
    webhookTransport: {
      acceptUrl: (url) => url,
      close: async () => {},
      async send(request) {
        requests.push(request);
        return sent;
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
  const { request } = await attempt(delivery(aSealedSecret(`sealed ${SECRET}`)));
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

it('AttemptDelivery masks the secret in a response that echoes it', async () => {
  const echo = (responseStart: string) =>
    ({ kind: 'responded', status: 200, retryAfterMs: null, responseStart }) as const;
  const { result } = await attempt(delivery(aSealedSecret(`sealed ${SECRET}`)), echo(`secret: ${SECRET}`));
  expect(result).toEqual(echo('secret: ***'));
  const escaped = await attempt(
    delivery(aSealedSecret(`sealed ${SECRET}&<x>`)),
    echo(
      `{"json":"${SECRET}\\u0026\\u003Cx\\u003e","html":"${SECRET}&amp;&lt;x&#x3E;","cut":"${SECRET.slice(0, 8)}`,
    ),
  );
  expect(escaped.result).toEqual(echo('{"json":"***","html":"***","cut":"***'));
  expect((await attempt(delivery(null), echo('thanks'))).result).toEqual(echo('thanks'));
});

const webhookWith = (secrets: Partial<InboundWebhook>) => async (): Promise<InboundWebhook> => ({
  whatsappPhoneId: '664def000000000000000001',
  projectId: '664abc000000000000000001',
  url: 'https://customer.example/in',
  secret: aSealedSecret('sealed old'),
  nextSecret: null,
  nextSecretFrom: null,
  ...secrets,
});
const wasSignedBy = (request: WebhookRequest | undefined, secret: string) => {
  const headers = request?.headers ?? {};
  const body = request?.body ?? '';
  const timestamp = headers['X-SVC-Webhook-Timestamp'] ?? '';
  const specified = { timestamp, signature: headers['X-SVC-Webhook-Signature'] ?? '' };
  const standard = {
    id: headers['webhook-id'] ?? '',
    timestamp: headers['webhook-timestamp'] ?? '',
    signature: headers['webhook-signature'] ?? '',
  };
  return [verifyInbound(nodeHmac, secret, specified, body), verifyStandard(nodeHmac, secret, standard, body)];
};

it('AttemptDelivery signs an inbound event with the secret that its number has at the attempt', async () => {
  const { request } = await attempt(inbound(0), SENT, webhookWith({}));
  expect([wasSignedBy(request, 'old'), wasSignedBy(request, SECRET)]).toEqual([
    [true, true],
    [false, false],
  ]);
});

it('AttemptDelivery signs with both secrets during a rotation, and with the new one from its instant on', async () => {
  const rotating = await attempt(
    inbound(0),
    SENT,
    webhookWith({ nextSecret: aSealedSecret('sealed new'), nextSecretFrom: NOW + 1 }),
  );
  expect([wasSignedBy(rotating.request, 'old'), wasSignedBy(rotating.request, 'new')]).toEqual([
    [true, true],
    [false, true],
  ]);
  const over = await attempt(
    inbound(0),
    SENT,
    webhookWith({ nextSecret: aSealedSecret('sealed new'), nextSecretFrom: NOW }),
  );
  expect([wasSignedBy(over.request, 'old'), wasSignedBy(over.request, 'new')]).toEqual([
    [false, false],
    [true, true],
  ]);
});

it('AttemptDelivery signs with the secret of the event when its webhook cannot be read', async () => {
  const { request } = await attempt(inbound(0), SENT, () => Promise.reject(new Error('away')));
  expect(wasSignedBy(request, SECRET)).toEqual([true, true]);
});

it('AttemptDelivery sends nothing when one secret of a rotation cannot be opened', async () => {
  const webhook = webhookWith({ nextSecret: aSealedSecret('under another key'), nextSecretFrom: NOW + 1 });
  const { result, request } = await attempt(inbound(0), SENT, webhook);
  expect([result, request]).toEqual([{ kind: 'failed', reason: 'secret-unreadable' }, undefined]);
});

it('AttemptDelivery sends nothing when the secret cannot be opened', async () => {
  const { result, request } = await attempt(delivery(aSealedSecret('under another key')));
  expect(result).toEqual({ kind: 'failed', reason: 'secret-unreadable' });
  expect(request).toBeUndefined();
});

it.each([
  ['goes to another address', { url: 'https://customer.example/new' }],
  ['is of another project', { projectId: '664abc000000000000000002' }],
])(
  'AttemptDelivery signs with the secret of the event when the webhook of its number %s',
  async (_, given) => {
    const { request } = await attempt(inbound(0), SENT, webhookWith(given));
    expect(request?.url).toBe('https://customer.example/in');
    expect([wasSignedBy(request, SECRET), wasSignedBy(request, 'old')]).toEqual([
      [true, true],
      [false, false],
    ]);
  },
);
