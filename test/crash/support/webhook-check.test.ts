import { describe, expect, it, test } from 'vitest';
import { checkWebhooks, type EventRow, type JobRow, type WebhookCheck } from './webhook-check.ts';

const ENDPOINT = 'localhost:443/hook';
const SENT_AT = 10_000;
const KILLED_AT = 20_000;

function event(id: string, smsId: string, changes: Partial<EventRow> = {}): EventRow {
  return {
    id,
    project_id: 'p',
    endpoint: ENDPOINT,
    ordering_key: smsId,
    body: bodyOf(smsId, true),
    state: 'delivered',
    is_open: 0,
    next_attempt_at: null,
    ...changes,
  };
}

function bodyOf(smsId: string, isFinal: boolean): string {
  return JSON.stringify({ smsId, isFinal });
}

function request(id: string, at: number, body = bodyOf('sms-1', true)) {
  return { id, at, body };
}

function job(changes: Partial<JobRow> = {}): JobRow {
  const work = JSON.stringify({ kind: 'deliver-webhooks', projectId: 'p', endpoint: ENDPOINT });
  return { work, due_at: SENT_AT, leased_by: null, ...changes };
}

/** One message whose final event was delivered. */
const SOUND: WebhookCheck = {
  events: [event('e1', 'sms-1')],
  messages: [{ sms_id: 'sms-1', is_final: 1 }],
  jobs: [],
  requests: [request('e1', SENT_AT)],
  kills: [],
  recorded: new Map(),
};

const PENDING = { state: 'pending', is_open: 1, next_attempt_at: SENT_AT } as const;

describe('the webhook check', () => {
  it('the webhook check finds nothing wrong with a delivered event', () => {
    expect(checkWebhooks(SOUND)).toEqual({
      events: 1,
      states: { delivered: 1 },
      requests: 1,
      repeated: 0,
      problems: [],
    });
  });

  it('the webhook check allows a second request when the service was killed before the first was recorded', () => {
    const requests = [request('e1', SENT_AT), request('e1', KILLED_AT + 1)];
    const { repeated, problems } = checkWebhooks({ ...SOUND, requests, kills: [KILLED_AT] });
    expect({ repeated, problems }).toEqual({ repeated: 1, problems: [] });
  });

  it('the webhook check allows an open event whose job is leased, and one that waits behind it', () => {
    const waiting = event('e0', 'sms-1', { ...PENDING, next_attempt_at: null, body: bodyOf('sms-1', false) });
    const { problems } = checkWebhooks({
      ...SOUND,
      events: [event('e1', 'sms-1', PENDING), waiting],
      jobs: [job({ due_at: SENT_AT + 1, leased_by: 'worker' })],
      requests: [],
    });
    expect(problems).toEqual([]);
  });

  test.each<[string, Partial<WebhookCheck>, problem: string]>([
    [
      'an event recorded as delivered that was never received',
      { requests: [] },
      '1 × delivered, never received: e1',
    ],
    ['a discarded event', { events: [event('e1', 'sms-1', { state: 'discarded' })] }, '1 × discarded: e1'],
    [
      'a request of an event that is not stored',
      { events: [], messages: [] },
      '1 × received, not stored: e1',
    ],
    [
      'a final message without a final event',
      { messages: [...SOUND.messages, { sms_id: 'sms-2', is_final: 1 }] },
      '1 × final message with 0 final events: sms-2',
    ],
    [
      'a final event of a message that is not final',
      { messages: [{ sms_id: 'sms-1', is_final: 0 }] },
      '1 × final event of a message that is not final: sms-1',
    ],
    [
      'an open event that waits behind no other',
      { events: [event('e1', 'sms-1', { ...PENDING, next_attempt_at: null })] },
      '1 × waits behind no other event: e1',
    ],
    [
      'an event to be delivered without a job',
      { events: [event('e1', 'sms-1', PENDING)] },
      '1 × to be delivered, without a job: e1',
    ],
    [
      'an event whose job is due too late',
      { events: [event('e1', 'sms-1', PENDING)], jobs: [job({ due_at: SENT_AT + 1 })] },
      '1 × to be delivered before its job is due: e1',
    ],
    [
      'a second request without a kill between',
      { requests: [request('e1', SENT_AT), request('e1', KILLED_AT - 1)], kills: [KILLED_AT] },
      '1 × received twice without a kill between: e1',
    ],
    [
      'a request after the delivery was recorded',
      {
        requests: [request('e1', SENT_AT), request('e1', KILLED_AT + 1)],
        kills: [KILLED_AT],
        recorded: new Map([['e1', KILLED_AT]]),
      },
      '1 × received after it was recorded as delivered: e1',
    ],
    [
      'an event received after the final event of its message',
      {
        events: [event('e1', 'sms-1'), event('e0', 'sms-1', { body: bodyOf('sms-1', false) })],
        requests: [request('e1', SENT_AT), request('e0', SENT_AT + 1, bodyOf('sms-1', false))],
      },
      '1 × received after the final event: sms-1 e0',
    ],
  ])('the webhook check finds %s', (_, planted, problem) => {
    expect(checkWebhooks({ ...SOUND, ...planted }).problems).toEqual([problem]);
  });
});
