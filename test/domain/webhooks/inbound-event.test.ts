import { describe, expect, it, test } from 'vitest';
import { inboundHeaders, inboundPayload } from '../../../src/domain/webhooks/inbound-event.ts';
import { INBOUND_SECRET_PATTERN, newInboundSecret } from '../../../src/domain/webhooks/inbound-secrets.ts';
import { NOW } from '../../support/builders.ts';

describe('the payload and headers', () => {
  it('writes every field of the event, in one order', () => {
    const payload = inboundPayload({
      eventId: '664def456abc789012345601',
      timestamp: '2026-01-15T12:00:00.000Z',
      projectId: '664abc000000000000000001',
      phoneNumber: { id: '664def', phoneNumberId: '1055', displayPhoneNumber: '+964 770 000 0000' },
      contact: { phoneNumber: '9647712345678', name: 'ئاری' },
      message: {
        id: 'wamid.1',
        timestamp: '2026-01-15T11:59:58.000Z',
        type: 'location',
        content: { latitude: 36.19, longitude: 44.01 },
      },
    });
    expect(JSON.stringify(payload)).toBe(
      '{"event":"whatsapp.inbound_message.received","eventId":"664def456abc789012345601",' +
        '"timestamp":"2026-01-15T12:00:00.000Z","project":"664abc000000000000000001",' +
        '"phoneNumber":{"id":"664def","phoneNumberId":"1055","displayPhoneNumber":"+964 770 000 0000"},' +
        '"contact":{"phoneNumber":"9647712345678","name":"ئاری"},' +
        '"message":{"id":"wamid.1","type":"location","timestamp":"2026-01-15T11:59:58.000Z",' +
        '"content":{"latitude":36.19,"longitude":44.01}}}',
    );
  });

  it('an attempt is signed with the first secret in the specified header, and with each in the standard one', () => {
    const event = { eventId: 'e1', body: '{"a":1}', secrets: ['svc_live_sk00', 'svc_live_sk11'] as const };
    expect(inboundHeaders((key, parts) => `${key.text}|${parts.join('')}`, event, 3, NOW)).toEqual({
      'Content-Type': 'application/json',
      'X-SVC-Webhook-Event': 'whatsapp.inbound_message.received',
      'X-SVC-Webhook-Event-Id': 'e1',
      'X-SVC-Webhook-Timestamp': '1768478400000',
      'X-SVC-Webhook-Attempt': '3',
      'X-SVC-Webhook-Signature': 'sha256=svc_live_sk00|1768478400000.{"a":1}',
      'webhook-id': 'e1',
      'webhook-timestamp': '1768478400',
      'webhook-signature': 'v1,svc_live_sk00|e1.1768478400.{"a":1} v1,svc_live_sk11|e1.1768478400.{"a":1}',
    });
  });

  it('a new secret is the prefix and 64 of the given hex characters', () => {
    const given = ['a'.repeat(40), 'b'.repeat(40)];
    const secret = newInboundSecret(() => given.shift() ?? '');
    expect(secret).toBe(`svc_live_sk${'a'.repeat(40)}${'b'.repeat(24)}`);
    expect(INBOUND_SECRET_PATTERN.test(secret)).toBe(true);
  });

  test.each([
    [`svc_live_sk${'0a'.repeat(32)}`, true],
    [`svc_live_sk${'0A'.repeat(32)}`, false],
    [`svc_live_sk${'0a'.repeat(31)}`, false],
    [`otpiq_live_sk${'0a'.repeat(32)}`, false],
  ])('checks the form of a secret: %s', (secret, valid) => {
    expect(INBOUND_SECRET_PATTERN.test(secret)).toBe(valid);
  });
});
