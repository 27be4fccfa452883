import { describe, expect, it } from 'vitest';
import { webhookAttempt } from '../../../src/domain/webhooks/webhook-attempt.ts';
import { aWebhookEvent, NOW } from '../../support/builders.ts';

const event = aWebhookEvent({ id: '0000000000000000000000e1', orderingKey: 'sms-1', attempts: 3 });
const times = { startedAt: NOW, endedAt: NOW + 40 };
const stored = { orderingKey: 'sms-1', eventId: event.id, attemptNumber: 3, startedAt: NOW, durationMs: 40 };

describe('a stored delivery attempt', () => {
  it('an attempt that succeeded has its status and response, and no error', () => {
    const result = { kind: 'responded', status: 201, retryAfterMs: null, responseStart: 'ok' } as const;
    expect(webhookAttempt(event, { result, ...times })).toEqual({
      ...stored,
      status: 201,
      error: null,
      response: 'ok',
    });
  });

  it('an attempt with another status has that as its error', () => {
    const result = { kind: 'responded', status: 503, retryAfterMs: 5 } as const;
    expect(webhookAttempt(event, { result, ...times })).toEqual({
      ...stored,
      status: 503,
      error: 'HTTP 503',
      response: null,
    });
  });

  it('an attempt without a response has its reason, and takes no negative time', () => {
    const result = { kind: 'failed', reason: 'tls' } as const;
    expect(webhookAttempt(event, { result, startedAt: NOW, endedAt: NOW - 1 })).toEqual({
      ...stored,
      durationMs: 0,
      status: null,
      error: 'tls',
      response: null,
    });
  });
});
