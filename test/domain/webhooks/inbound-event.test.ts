import { describe, expect, it, test } from 'vitest';
import {
  afterInboundAttempt,
  INBOUND_SECRET_PATTERN,
  type InboundEvent,
  inboundHeaders,
  inboundPayload,
  isLogExpired,
  newEventProgress,
  retryByHand,
} from '../../../src/domain/webhooks/inbound-event.ts';
import type { PostResult } from '../../../src/domain/webhooks/post-result.ts';
import { HOUR_MS, NOW } from '../../support/builders.ts';

const DAY_MS = 24 * HOUR_MS;
const OK: PostResult = { kind: 'answered', status: 204, retryAfterMs: null };
const BROKEN: PostResult = { kind: 'answered', status: 500, retryAfterMs: 900_000 };
const GONE: PostResult = { kind: 'answered', status: 410, retryAfterMs: null };
const SILENT: PostResult = { kind: 'failed', reason: 'timeout' };

describe('the payload and headers', () => {
  it('hold every field of the event, in one order', () => {
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

  it('sign the timestamp in milliseconds and the body', () => {
    const event = { eventId: 'e1', body: '{"a":1}', secret: 'svc_live_sk00' };
    expect(inboundHeaders((key, parts) => `${key.text}|${parts.join('')}`, event, 3, NOW)).toEqual({
      'Content-Type': 'application/json',
      'X-SVC-Webhook-Event': 'whatsapp.inbound_message.received',
      'X-SVC-Webhook-Event-Id': 'e1',
      'X-SVC-Webhook-Timestamp': '1768478400000',
      'X-SVC-Webhook-Attempt': '3',
      'X-SVC-Webhook-Signature': 'sha256=svc_live_sk00|1768478400000.{"a":1}',
    });
  });

  test.each([
    [`svc_live_sk${'0a'.repeat(32)}`, true],
    [`svc_live_sk${'0A'.repeat(32)}`, false],
    [`svc_live_sk${'0a'.repeat(31)}`, false],
    [`otpiq_live_sk${'0a'.repeat(32)}`, false],
  ])('the form of a secret: %s', (secret, valid) => {
    expect(INBOUND_SECRET_PATTERN.test(secret)).toBe(valid);
  });
});

describe('the states of an event', () => {
  it('is due at once', () => {
    expect(newEventProgress(NOW)).toEqual({
      state: 'pending',
      attempts: 0,
      firstAttemptAt: null,
      nextAttemptAt: NOW,
      lastError: null,
      createdAt: NOW,
    });
  });

  it('is delivered by a 2xx, and stays so', () => {
    const delivered = afterInboundAttempt(newEventProgress(NOW), OK, NOW + 5);
    expect(delivered).toMatchObject({
      state: 'delivered',
      attempts: 1,
      firstAttemptAt: NOW + 5,
      nextAttemptAt: null,
    });
    expect(afterInboundAttempt(delivered, BROKEN, NOW + 9)).toMatchObject({
      state: 'delivered',
      nextAttemptAt: null,
    });
  });

  it('is pending after two failures, queued after the third, whatever the receiver asks for', () => {
    const first = afterInboundAttempt(newEventProgress(NOW), BROKEN, NOW);
    const second = afterInboundAttempt(first, SILENT, NOW + 10_000);
    const third = afterInboundAttempt(second, GONE, NOW + 25_000);
    expect([first, second, third].map((e) => [e.state, e.nextAttemptAt, e.lastError])).toEqual([
      ['pending', NOW + 10_000, 'HTTP 500'],
      ['pending', NOW + 25_000, 'timeout'],
      ['queued_retry', NOW + 25_000 + HOUR_MS, 'HTTP 410'],
    ]);
  });

  it('does not count a post that never took place', () => {
    const first = afterInboundAttempt(newEventProgress(NOW), BROKEN, NOW);
    expect(afterInboundAttempt(first, { kind: 'failed', reason: 'busy' }, NOW + 10_000)).toEqual({
      ...first,
      nextAttemptAt: NOW + 15_000,
    });
  });

  it('is discarded after fifty attempts in two days', () => {
    const event = runOut();
    expect(event).toMatchObject({ state: 'discarded', attempts: 50, nextAttemptAt: null });
  });

  it('is delivered by a late success, its error forgotten', () => {
    const queued = [NOW, NOW + 10_000, NOW + 25_000].reduce(
      (event, at) => afterInboundAttempt(event, BROKEN, at),
      newEventProgress(NOW),
    );
    expect(afterInboundAttempt(queued, OK, NOW + 25_000 + HOUR_MS)).toMatchObject({
      state: 'delivered',
      attempts: 4,
      lastError: null,
    });
  });
});

describe('retrying by hand', () => {
  it('makes a discarded event due once more, without a second two days', () => {
    const again = retryByHand(runOut(), NOW + 3 * DAY_MS);
    expect(again).toMatchObject({ state: 'queued_retry', nextAttemptAt: NOW + 3 * DAY_MS, attempts: 50 });
    expect(afterInboundAttempt(again as InboundEvent, BROKEN, NOW + 3 * DAY_MS)).toMatchObject({
      state: 'discarded',
      attempts: 51,
    });
  });

  it('has nothing to do for a delivered event, nor after the log has expired', () => {
    const delivered = afterInboundAttempt(newEventProgress(NOW), OK, NOW);
    expect(retryByHand(delivered, NOW + 1)).toBeNull();
    expect(retryByHand(runOut(), NOW + 15 * DAY_MS)).toBeNull();
    expect(retryByHand(runOut(), NOW + 15 * DAY_MS - 1)).not.toBeNull();
  });

  it('keeps the log for 15 days', () => {
    expect(isLogExpired({ createdAt: NOW }, NOW + 15 * DAY_MS - 1)).toBe(false);
    expect(isLogExpired({ createdAt: NOW }, NOW + 15 * DAY_MS)).toBe(true);
  });
});

/** An event whose receiver never answered well. */
function runOut(): InboundEvent {
  let event = newEventProgress(NOW);
  while (event.nextAttemptAt !== null) event = afterInboundAttempt(event, BROKEN, event.nextAttemptAt);
  return event;
}
