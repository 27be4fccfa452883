import { describe, expect, it, test } from 'vitest';
import { nodeHmac } from '../../../src/adapters/node/node-hmac.ts';
import {
  deliveryHeaders,
  deliveryPayload,
  type StatusChange,
  wantsStatusChange,
} from '../../../src/domain/webhooks/delivery-event.ts';
import { NOW } from '../../support/builders.ts';

const SMS_ID = 'sms-000000000000000000000001';

const change = (given: Partial<StatusChange> = {}): StatusChange => ({
  kind: 'status-changed',
  status: 'delivered',
  channel: 'whatsapp',
  isFinal: true,
  reason: null,
  ...given,
});

describe('which changes a subscription wants', () => {
  test.each<[string, StatusChange, all: boolean, final: boolean]>([
    ['sent', change({ status: 'sent', isFinal: false }), true, false],
    ['sent as the last word', change({ status: 'sent', isFinal: true }), true, false],
    ['delivered', change(), true, true],
    ['failed', change({ status: 'failed', reason: 'no' }), true, true],
  ])('selects the changes that a subscription gets: %s', (_, given, all, final) => {
    expect(wantsStatusChange('all', given)).toBe(all);
    expect(wantsStatusChange('final', given)).toBe(final);
  });
});

describe('the payload', () => {
  it('writes the payload of a delivered message without a sender ID', () => {
    expect(
      deliveryPayload({ smsId: SMS_ID, senderId: null }, { deliveryReportType: 'all' }, change()),
    ).toEqual({
      smsId: SMS_ID,
      deliveryReportType: 'all',
      isFinal: true,
      channel: 'whatsapp',
      status: 'delivered',
    });
  });

  it('writes the payload of a failed message with a sender ID', () => {
    const failed = change({ status: 'failed', channel: 'sms', reason: 'Provider rejected the message' });
    expect(
      deliveryPayload({ smsId: SMS_ID, senderId: 'Barid' }, { deliveryReportType: 'final' }, failed),
    ).toEqual({
      smsId: SMS_ID,
      deliveryReportType: 'final',
      isFinal: true,
      channel: 'sms',
      status: 'failed',
      reason: 'Provider rejected the message',
      senderId: 'Barid',
    });
  });

  it('writes a reason if the message failed, and only then', () => {
    const message = { smsId: SMS_ID, senderId: null };
    const report = { deliveryReportType: 'all' } as const;
    const sent = deliveryPayload(message, report, change({ status: 'sent', isFinal: false, reason: 'x' }));
    expect(sent).not.toHaveProperty('reason');
    expect(sent.isFinal).toBe(false);
    expect(deliveryPayload(message, report, change({ status: 'failed' })).reason).toBe(
      'The message could not be delivered',
    );
  });
});

describe('the headers', () => {
  const attempt = { eventId: 'event1', now: NOW + 999, body: '{}', secret: null };

  it('writes headers with the event and the instant, without a signature when there is no secret', () => {
    expect(deliveryHeaders(nodeHmac, attempt)).toEqual({
      'Content-Type': 'application/json',
      'webhook-id': 'event1',
      'webhook-timestamp': '1768478400',
    });
  });

  it('writes headers with the secret and a signature', () => {
    const both = { ...attempt, secret: 'whsec_a2V5' };
    expect(deliveryHeaders((key, parts) => `${key.text}|${parts.join('')}`, both)).toEqual({
      'Content-Type': 'application/json',
      'webhook-id': 'event1',
      'webhook-timestamp': '1768478400',
      'webhook-signature': 'v1,a2V5|event1.1768478400.{}',
      'X-SVC-Webhook-Secret': 'whsec_a2V5',
    });
  });
});
