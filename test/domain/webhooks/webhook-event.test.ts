import { describe, expect, it, test } from 'vitest';
import {
  afterAttempt,
  type EndedAttempt,
  isOpen,
  moveLine,
  scheduled,
  statusEvent,
  supersede,
  type WebhookEvent,
} from '../../../src/domain/webhooks/webhook-event.ts';
import { aDeliveryReport, aMessage, HOUR_MS, NOW, SECOND_MS } from '../../support/builders.ts';

const EVENT_ID = '0000000000000000000000e1';

const delivery = (given: Partial<WebhookEvent> = {}): WebhookEvent => ({
  ...statusEvent(
    EVENT_ID,
    aMessage(),
    aDeliveryReport({ webhookUrl: 'https://customer.example/status?of=1', webhookSecret: 'sealed' }),
    { kind: 'status-changed', status: 'delivered', channel: 'sms', isFinal: true, reason: null },
    NOW,
  ),
  nextAttemptAt: NOW,
  version: 1,
  ...given,
});
const inbound = (given: Partial<WebhookEvent> = {}) => delivery({ kind: 'inbound', ...given });
const answered = (status: number, retryAfterMs: number | null = null): EndedAttempt => ({
  result: { kind: 'answered', status, retryAfterMs },
  startedAt: NOW,
  endedAt: NOW + 2 * SECOND_MS,
  jitter: 0.5,
});
const failed = (reason: 'timeout' | 'address-refused' | 'busy'): EndedAttempt => ({
  ...answered(0),
  result: { kind: 'failed', reason },
});

describe('a new status event', () => {
  it('tells of the change, is counted by host and path, and is not scheduled yet', () => {
    const message = aMessage();
    const event = statusEvent(
      EVENT_ID,
      message,
      aDeliveryReport({ webhookUrl: 'https://customer.example/status?of=1', webhookSecret: 'sealed' }),
      { kind: 'status-changed', status: 'failed', channel: 'sms', isFinal: true, reason: 'No route' },
      NOW,
    );
    expect(event).toEqual({
      id: EVENT_ID,
      kind: 'delivery',
      projectId: message.projectId,
      subject: message.smsId,
      phoneNumberId: null,
      url: 'https://customer.example/status?of=1',
      endpoint: 'customer.example/status',
      secret: 'sealed',
      body: `{"smsId":"${message.smsId}","deliveryReportType":"all","isFinal":true,"channel":"sms","status":"failed","reason":"No route"}`,
      state: 'pending',
      attempts: 0,
      firstAttemptAt: null,
      nextAttemptAt: null,
      lastError: null,
      createdAt: NOW,
      version: 0,
    });
  });
});

describe('scheduling', () => {
  it('makes an event due', () => {
    expect(scheduled(delivery({ nextAttemptAt: null }), NOW + 5)).toEqual(
      delivery({ nextAttemptAt: NOW + 5 }),
    );
  });

  it('ends with an event that gave way', () => {
    expect(supersede(delivery({ attempts: 2 }))).toEqual(
      delivery({ attempts: 2, state: 'superseded', nextAttemptAt: null }),
    );
  });

  test.each([
    ['pending', true],
    ['queued_retry', true],
    ['delivered', false],
    ['discarded', false],
    ['superseded', false],
  ] as const)('%s is open: %s', (state, open) => {
    expect(isOpen(delivery({ state }))).toBe(open);
  });
});

describe('a delivery event after an attempt', () => {
  it('is delivered by a 2xx', () => {
    expect(afterAttempt(delivery({ lastError: 'HTTP 500' }), answered(204))).toEqual(
      delivery({ state: 'delivered', attempts: 1, firstAttemptAt: NOW, nextAttemptAt: null }),
    );
  });

  it('is tried again after a failure, counted from its end', () => {
    expect(afterAttempt(delivery(), answered(500))).toEqual(
      delivery({
        attempts: 1,
        firstAttemptAt: NOW,
        lastError: 'HTTP 500',
        nextAttemptAt: NOW + 7 * SECOND_MS,
      }),
    );
  });

  it('keeps the instant of its first attempt, and waits as long as it is asked within reason', () => {
    const before = delivery({ attempts: 1, firstAttemptAt: NOW - HOUR_MS });
    expect(afterAttempt(before, answered(429, 20 * SECOND_MS))).toMatchObject({
      attempts: 2,
      firstAttemptAt: NOW - HOUR_MS,
      nextAttemptAt: NOW + 22 * SECOND_MS,
    });
  });

  test.each([
    ['gone', answered(410), 1, 'HTTP 410'],
    ['an address that is refused', failed('address-refused'), 1, 'address-refused'],
    ['the eleventh failure', failed('timeout'), 11, 'timeout'],
  ])('is discarded after %s', (_, ended, attempts, lastError) => {
    expect(afterAttempt(delivery({ attempts: attempts - 1, firstAttemptAt: NOW }), ended)).toEqual(
      delivery({ state: 'discarded', attempts, firstAttemptAt: NOW, nextAttemptAt: null, lastError }),
    );
  });

  it('was not tried when nothing was sent', () => {
    expect(afterAttempt(delivery(), failed('busy'))).toEqual(
      delivery({ nextAttemptAt: NOW + 7 * SECOND_MS }),
    );
  });
});

describe('an inbound event after an attempt', () => {
  it('follows its own schedule, counted from the beginning of the attempt', () => {
    expect(afterAttempt(inbound(), answered(500, HOUR_MS))).toEqual(
      inbound({
        attempts: 1,
        firstAttemptAt: NOW,
        lastError: 'HTTP 500',
        nextAttemptAt: NOW + 10 * SECOND_MS,
      }),
    );
  });

  it('is not stopped by 410', () => {
    expect(isOpen(afterAttempt(inbound(), answered(410)))).toBe(true);
  });
});

describe('an event that is not open any more', () => {
  test.each(['delivered', 'discarded', 'superseded'] as const)('stays %s whatever comes later', (state) => {
    for (const event of [delivery({ state }), inbound({ state })]) {
      expect(afterAttempt(event, answered(200))).toBe(event);
      expect(afterAttempt(event, answered(500))).toBe(event);
    }
  });
});

describe('the line of one subject', () => {
  const waiting = delivery({ id: 'f'.repeat(24), nextAttemptAt: null });

  it('moves on once its head is delivered', () => {
    const head = delivery({ state: 'delivered', attempts: 1, nextAttemptAt: null });
    expect(moveLine(head, [waiting], NOW)).toEqual({ head, next: { ...waiting, nextAttemptAt: NOW } });
  });

  it('passes over a head that failed, which gives way', () => {
    const head = delivery({ attempts: 1, nextAttemptAt: NOW + SECOND_MS });
    expect(moveLine(head, [head, waiting], NOW)).toEqual({
      head: supersede(head),
      next: { ...waiting, nextAttemptAt: NOW },
    });
  });

  test.each([
    ['was not tried', delivery({ attempts: 0 }), [waiting]],
    ['is followed by nothing', delivery({ attempts: 1 }), []],
    ['is followed by what is over', delivery({ attempts: 1 }), [delivery({ id: 'f', state: 'delivered' })]],
  ])('stands still while its head %s', (_, head, followers) => {
    expect(moveLine(head, followers, NOW)).toEqual({ head, next: null });
  });
});
