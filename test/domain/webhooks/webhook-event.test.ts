import { describe, expect, it, test } from 'vitest';
import { deliveryEvent } from '../../../src/domain/webhooks/delivery-event.ts';
import type { DeliveryFailure } from '../../../src/domain/webhooks/delivery-result.ts';
import { inboundEvent } from '../../../src/domain/webhooks/inbound-event.ts';
import { onlySecret } from '../../../src/domain/webhooks/inbound-secrets.ts';
import {
  afterAttempt,
  enqueueInOrder,
  type FinishedAttempt,
  isOpen,
  promoteNext,
  scheduled,
  supersede,
  type WebhookEvent,
} from '../../../src/domain/webhooks/webhook-event.ts';
import { aDeliveryReport, aMessage, aSealedSecret, HOUR_MS, NOW, SECOND_MS } from '../../support/builders.ts';

const EVENT_ID = '0000000000000000000000e1';

const delivery = (given: Partial<WebhookEvent> = {}): WebhookEvent => ({
  ...deliveryEvent(
    EVENT_ID,
    aMessage(),
    aDeliveryReport({ webhookUrl: 'https://customer.example/status?of=1', webhookSecret: aSealedSecret() }),
    { kind: 'status-changed', status: 'delivered', channel: 'sms', isFinal: true, reason: null },
    NOW,
  ),
  nextAttemptAt: NOW,
  version: 1,
  ...given,
});
const INBOUND = {
  eventId: EVENT_ID,
  timestamp: '2026-01-15T12:00:00.000Z',
  projectId: '664abc000000000000000001',
  phoneNumber: { id: '664def000000000000000001', phoneNumberId: '1055', displayPhoneNumber: '+964 770' },
  contact: { phoneNumber: '9647712345678', name: '' },
  message: {
    id: 'wamid.1',
    timestamp: '2026-01-15T11:59:58.000Z',
    type: 'text',
    content: { text: 'سلاو' },
  },
} as const;
const inbound = (given: Partial<WebhookEvent> = {}): WebhookEvent => ({
  ...inboundEvent(
    INBOUND,
    { url: 'https://customer.example/in?of=1', ...onlySecret(aSealedSecret('sealed')) },
    NOW,
  ),
  nextAttemptAt: NOW,
  version: 1,
  ...given,
});
const at = (instant: number, result: FinishedAttempt['result']): FinishedAttempt => ({
  result,
  startedAt: instant,
  endedAt: instant + 2 * SECOND_MS,
  jitter: 0.5,
});
const responded = (status: number, retryAfterMs: number | null = null) =>
  at(NOW, { kind: 'responded', status, retryAfterMs });
const failed = (reason: DeliveryFailure) => at(NOW, { kind: 'failed', reason });

describe('a new status event', () => {
  it('makes a delivery event that names its destination and is not scheduled yet', () => {
    const message = aMessage();
    const event = deliveryEvent(
      EVENT_ID,
      message,
      aDeliveryReport({ webhookUrl: 'https://customer.example/status?of=1', webhookSecret: aSealedSecret() }),
      { kind: 'status-changed', status: 'failed', channel: 'sms', isFinal: true, reason: 'No route' },
      NOW,
    );
    expect(event).toEqual({
      id: EVENT_ID,
      kind: 'delivery',
      projectId: message.projectId,
      orderingKey: message.smsId,
      whatsappPhoneId: null,
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

describe('a new inbound event', () => {
  it('makes an inbound event with an ordering key of its own that is not scheduled yet', () => {
    const event = inboundEvent(
      INBOUND,
      { url: 'https://customer.example/in?of=1', ...onlySecret(aSealedSecret('sealed')) },
      NOW,
    );
    expect(event).toEqual({
      id: EVENT_ID,
      kind: 'inbound',
      projectId: '664abc000000000000000001',
      orderingKey: '664def000000000000000001/wamid.1',
      whatsappPhoneId: '664def000000000000000001',
      url: 'https://customer.example/in?of=1',
      endpoint: 'customer.example/in',
      secret: 'sealed',
      body: expect.stringContaining(`"eventId":"${EVENT_ID}"`),
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
  it('an event is due once it is promoted', () => {
    expect(scheduled(delivery({ nextAttemptAt: null }), NOW + 5)).toEqual(
      delivery({ nextAttemptAt: NOW + 5 }),
    );
  });

  it('an event that is superseded is not scheduled', () => {
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
  test.each([200, 201, 202, 204, 206, 299])('marks a delivery event as delivered after %i', (status) => {
    expect(afterAttempt(delivery({ lastError: 'HTTP 500' }), responded(status))).toEqual(
      delivery({ state: 'delivered', attempts: 1, firstAttemptAt: NOW, nextAttemptAt: null }),
    );
  });

  test.each([100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 409, 411, 429, 500, 503, 600])(
    'plans another attempt of a delivery event after %i',
    (status) => {
      expect(afterAttempt(delivery(), responded(status))).toMatchObject({
        state: 'pending',
        nextAttemptAt: NOW + 7 * SECOND_MS,
        lastError: `HTTP ${status}`,
      });
    },
  );

  test.each(['timeout', 'connection', 'tls', 'protocol', 'name-refused', 'secret-unreadable'] as const)(
    'plans another attempt of a delivery event after %s',
    (reason) => {
      expect(afterAttempt(delivery(), failed(reason))).toMatchObject({
        state: 'pending',
        nextAttemptAt: NOW + 7 * SECOND_MS,
        lastError: reason,
      });
    },
  );

  it('plans another attempt after a failure, counted from its end', () => {
    expect(afterAttempt(delivery(), responded(500))).toEqual(
      delivery({
        attempts: 1,
        firstAttemptAt: NOW,
        lastError: 'HTTP 500',
        nextAttemptAt: NOW + 7 * SECOND_MS,
      }),
    );
  });

  it('stays pending however often it has failed', () => {
    const failedOften = delivery({ attempts: 9, firstAttemptAt: NOW - HOUR_MS });
    expect(afterAttempt(failedOften, responded(500)).state).toBe('pending');
  });

  it('keeps the instant of its first attempt, and waits as long as it is asked within reason', () => {
    const before = delivery({ attempts: 1, firstAttemptAt: NOW - HOUR_MS });
    expect(afterAttempt(before, responded(429, 20 * SECOND_MS))).toMatchObject({
      attempts: 2,
      firstAttemptAt: NOW - HOUR_MS,
      nextAttemptAt: NOW + 22 * SECOND_MS,
    });
  });

  test.each([
    ['gone', responded(410), 1, 'HTTP 410'],
    ['a blocked address', failed('address-refused'), 1, 'address-refused'],
    ['the eleventh failure', failed('timeout'), 11, 'timeout'],
  ])('discards a delivery event after %s', (_, ended, attempts, lastError) => {
    expect(afterAttempt(delivery({ attempts: attempts - 1, firstAttemptAt: NOW }), ended)).toEqual(
      delivery({ state: 'discarded', attempts, firstAttemptAt: NOW, nextAttemptAt: null, lastError }),
    );
  });
});

describe('an inbound event after an attempt', () => {
  const OK = { kind: 'responded', status: 204, retryAfterMs: null } as const;
  const BROKEN = { kind: 'responded', status: 500, retryAfterMs: 900_000 } as const;
  const GONE = { kind: 'responded', status: 410, retryAfterMs: null } as const;
  /** An event whose receiver never responded with success. */
  const runOut = () => {
    let event = inbound();
    while (event.nextAttemptAt !== null) event = afterAttempt(event, at(event.nextAttemptAt, BROKEN));
    return event;
  };

  it('marks an inbound event pending after two failures and queued after the third, whatever the receiver asks for', () => {
    const first = afterAttempt(inbound(), at(NOW, BROKEN));
    const second = afterAttempt(first, at(NOW + 10_000, { kind: 'failed', reason: 'timeout' }));
    const third = afterAttempt(second, at(NOW + 25_000, GONE));
    expect([first, second, third].map((e) => [e.state, e.nextAttemptAt, e.lastError])).toEqual([
      ['pending', NOW + 10_000, 'HTTP 500'],
      ['pending', NOW + 25_000, 'timeout'],
      ['queued_retry', NOW + 25_000 + HOUR_MS, 'HTTP 410'],
    ]);
  });

  it('plans another attempt of an inbound event after every kind of failure', () => {
    expect(afterAttempt(inbound(), failed('address-refused'))).toMatchObject({
      state: 'pending',
      nextAttemptAt: NOW + 10 * SECOND_MS,
    });
  });

  it('discards an inbound event after fifty attempts in two days', () => {
    expect(runOut()).toMatchObject({ state: 'discarded', attempts: 50, nextAttemptAt: null });
  });

  it('marks an inbound event as delivered after a late success, without its error', () => {
    const queued = inbound({
      state: 'queued_retry',
      attempts: 3,
      firstAttemptAt: NOW,
      lastError: 'HTTP 500',
    });
    expect(afterAttempt(queued, at(NOW + HOUR_MS, OK))).toEqual({
      ...queued,
      state: 'delivered',
      attempts: 4,
      nextAttemptAt: null,
      lastError: null,
    });
  });
});

describe('an event that is not open any more', () => {
  test.each(['delivered', 'discarded', 'superseded'] as const)(
    'an event that is %s stays so whatever comes later',
    (state) => {
      for (const event of [delivery({ state }), inbound({ state })]) {
        expect(afterAttempt(event, responded(200))).toBe(event);
        expect(afterAttempt(event, responded(500))).toBe(event);
      }
    },
  );
});

describe('the line of one orderingKey', () => {
  const waiting = delivery({ id: 'f'.repeat(24), nextAttemptAt: null });

  it('begins with an event that is due at once', () => {
    const other = delivery({ id: 'e'.repeat(24), orderingKey: 'another', nextAttemptAt: null });
    expect(enqueueInOrder([], [waiting, other], NOW)).toEqual({
      added: [scheduled(waiting, NOW), scheduled(other, NOW)],
      superseded: [],
    });
  });

  it('lets a new event wait behind one that came with it', () => {
    const second = delivery({ id: 'e'.repeat(24), nextAttemptAt: null });
    expect(enqueueInOrder([], [waiting, second], NOW).added).toEqual([scheduled(waiting, NOW), second]);
  });

  test.each([
    ['was not tried', delivery({ attempts: 0, nextAttemptAt: NOW + 1 })],
    ['is due again, and may be on its way', delivery({ attempts: 1, nextAttemptAt: NOW })],
  ])('lets a new event wait behind one that %s', (_, head) => {
    expect(enqueueInOrder([head], [waiting], NOW)).toEqual({ added: [waiting], superseded: [] });
  });

  it('puts a new event in the place of one that failed and is not due yet', () => {
    const head = delivery({ attempts: 1, nextAttemptAt: NOW + 1 });
    expect(enqueueInOrder([head], [waiting], NOW)).toEqual({
      added: [scheduled(waiting, NOW)],
      superseded: [supersede(head)],
    });
  });

  it('makes an event wait behind one of its ordering key that waits', () => {
    const head = delivery({ attempts: 1, nextAttemptAt: NOW + 1 });
    const third = delivery({ id: 'e'.repeat(24), nextAttemptAt: null });
    expect(enqueueInOrder([head, waiting], [third], NOW)).toEqual({ added: [third], superseded: [] });
  });

  it('moves on once its head is delivered', () => {
    const head = delivery({ state: 'delivered', attempts: 1, nextAttemptAt: null });
    expect(promoteNext(head, [waiting], NOW)).toEqual([scheduled(waiting, NOW)]);
  });

  it('passes over a head that failed, which is superseded', () => {
    const head = delivery({ attempts: 1, nextAttemptAt: NOW + SECOND_MS });
    expect(promoteNext(head, [head, waiting], NOW)).toEqual([supersede(head), scheduled(waiting, NOW)]);
  });

  it('moves on to the first that waits', () => {
    const head = delivery({ state: 'delivered', attempts: 1, nextAttemptAt: null });
    const later = delivery({ id: 'fe'.repeat(12), nextAttemptAt: null });
    expect(promoteNext(head, [waiting, later], NOW)).toEqual([scheduled(waiting, NOW)]);
  });

  test.each([
    ['was not tried', delivery({ attempts: 0 }), [waiting]],
    ['is followed by nothing', delivery({ attempts: 1 }), []],
  ])('does not move on while its head %s', (_, head, followers) => {
    expect(promoteNext(head, followers, NOW)).toEqual([]);
  });
});
