import { describe, expect, it } from 'vitest';
import { DELIVERY_WEBHOOK } from '../../../../../src/adapters/http/families/messages/delivery-webhook.ts';
import { INBOUND_WEBHOOK } from '../../../../../src/adapters/http/families/webhooks/inbound-webhook.ts';
import { LOW_CREDIT_WEBHOOK } from '../../../../../src/adapters/http/families/webhooks/low-credit-webhook.ts';
import type { DocumentedWebhook } from '../../../../../src/adapters/http/routing/documented.ts';
import { nodeHmac } from '../../../../../src/adapters/node/node-hmac.ts';
import { iqd } from '../../../../../src/domain/shared/money.ts';
import { lowCreditEvent } from '../../../../../src/domain/webhooks/credit-event.ts';
import { deliveryHeaders, deliveryPayload } from '../../../../../src/domain/webhooks/delivery-event.ts';
import {
  type InboundContent,
  type InboundPayload,
  inboundHeaders,
  inboundPayload,
} from '../../../../../src/domain/webhooks/inbound-event.ts';

const TYPES: Readonly<Record<InboundContent['type'], true>> = {
  text: true,
  location: true,
  image: true,
  video: true,
  audio: true,
  document: true,
  sticker: true,
  button_reply: true,
  list_reply: true,
  unsupported: true,
};
const SMS_ID = 'sms-01b8dac5b7e89cb6ec5c192b';
const EVENT_ID = '01b8dac5b400fd9b941b425b';
const NOW = 1_893_456_018_000;

/** Expects the headers of one attempt to be those that are documented. */
function expectDocumented(webhook: DocumentedWebhook, made: Readonly<Record<string, string>>): void {
  const { 'Content-Type': mediaType, ...own } = made;
  expect(mediaType).toBe('application/json');
  const required = webhook.headers.filter((each) => each.required).map(({ name }) => name);
  expect(Object.keys(own)).toEqual(expect.arrayContaining(required));
  for (const [name, value] of Object.entries(own)) {
    const pattern = webhook.headers.find((each) => each.name === name)?.pattern ?? 'not documented';
    expect([name, value]).toEqual([name, expect.stringMatching(new RegExp(pattern))]);
  }
}

describe('the documented delivery webhook', () => {
  it.each(['sent', 'delivered', 'failed'] as const)('the webhook of %s has the documented body', (status) => {
    const message = { smsId: SMS_ID, senderId: 'Barid' };
    const change = { kind: 'status-changed', status, isFinal: true, channel: 'sms', reason: null } as const;
    const made = deliveryPayload(message, { deliveryReportType: 'all' }, change);
    expect(DELIVERY_WEBHOOK.body.parse(made)).toEqual(made);
  });

  it('each attempt has the documented headers, with and without a secret', () => {
    const attempt = { eventId: EVENT_ID, now: NOW, body: '{}' };
    const signed = deliveryHeaders(nodeHmac, { ...attempt, secret: 'a-secret-of-your-own' });
    expectDocumented(DELIVERY_WEBHOOK, signed);
    expect(Object.keys(signed)).toHaveLength(DELIVERY_WEBHOOK.headers.length + 1);
    expectDocumented(DELIVERY_WEBHOOK, deliveryHeaders(nodeHmac, { ...attempt, secret: null }));
  });
});

describe('the documented webhook of low credit', () => {
  it('the webhook of low credit has the documented body', () => {
    const { body } = lowCreditEvent(EVENT_ID, {
      projectId: '664abc000000000000000001',
      slug: 'souq',
      credit: iqd(4_960),
      lowCredit: {
        amount: iqd(5_000),
        webhookUrl: 'https://customer.example/credit',
        webhookSecret: null,
      },
      at: Date.parse('2030-01-01T00:00:00.000Z'),
    });
    const made = JSON.parse(body);
    expect(LOW_CREDIT_WEBHOOK.body.parse(made)).toEqual(made);
    expect(LOW_CREDIT_WEBHOOK.examples).toEqual({ lowCredit: made });
  });

  it.each([
    ['a delivered message', DELIVERY_WEBHOOK, 'delivered'],
    ['low credit', LOW_CREDIT_WEBHOOK, 'lowCredit'],
  ])('the example of a signature is that of the example of %s', (_, webhook, name) => {
    const example = (header: string) => webhook.headers.find((each) => each.name === header)?.example;
    const made = deliveryHeaders(nodeHmac, {
      eventId: example('webhook-id') ?? '',
      now: Number(example('webhook-timestamp')) * 1_000,
      body: JSON.stringify(webhook.examples[name]),
      secret: example('X-SVC-Webhook-Secret') ?? null,
    });
    expectDocumented(webhook, made);
    expect(made['webhook-signature']).toBe(example('webhook-signature'));
  });
});

describe('the documented inbound webhook', () => {
  it('the document has an example of every type of message', () => {
    expect(Object.keys(INBOUND_WEBHOOK.examples)).toEqual(Object.keys(TYPES));
  });

  it.each(Object.entries(INBOUND_WEBHOOK.examples))(
    'the event of a %s has the documented body',
    (_, example) => {
      const { project: projectId, ...rest } = example as InboundPayload;
      const made = inboundPayload({ ...rest, projectId } as never);
      expect(made).toEqual(example);
      expect(INBOUND_WEBHOOK.body.parse(made)).toEqual(made);
    },
  );

  it('each attempt has the documented headers', () => {
    const event = { eventId: EVENT_ID, body: '{}', secrets: ['svc_live_sk'] as const };
    const made = inboundHeaders(nodeHmac, event, 3, NOW);
    expectDocumented(INBOUND_WEBHOOK, made);
    const rotating = { ...event, secrets: ['svc_live_sk', 'svc_live_sk2'] as const };
    expectDocumented(INBOUND_WEBHOOK, inboundHeaders(nodeHmac, rotating, 3, NOW));
    expect(Object.keys(made)).toHaveLength(INBOUND_WEBHOOK.headers.length + 1);
  });
});
