import { describe, expect, it } from 'vitest';
import { onlySecret } from '../../../src/domain/webhooks/inbound-secrets.ts';
import { type ResendContext, resend } from '../../../src/domain/webhooks/resend.ts';
import { afterAttempt, type WebhookEvent } from '../../../src/domain/webhooks/webhook-event.ts';
import { anId, aSealedSecret, aWebhookEvent, HOUR_MS, NOW, PROJECT_ID } from '../../support/builders.ts';

const LOG_MS = 15 * 24 * HOUR_MS;
const NUMBER_ID = anId(7);

const event = (id: string, given: Partial<WebhookEvent> = {}): WebhookEvent =>
  aWebhookEvent({
    id,
    orderingKey: `message ${id}`,
    kind: 'delivery',
    state: 'discarded',
    attempts: 11,
    nextAttemptAt: null,
    createdAt: NOW,
    body: '{"isFinal":true}',
    ...given,
  });
const sent = (id: string) => event(id, { body: '{"isFinal":false}' });
const inbound = (id: string, given: Partial<WebhookEvent> = {}) =>
  event(id, {
    kind: 'inbound',
    whatsappPhoneId: NUMBER_ID,
    secret: aSealedSecret('old'),
    body: '{}',
    ...given,
  });
const notice = (id: string) => event(id, { kind: 'credit', orderingKey: 'credit', body: '{}' });

const WEBHOOK = {
  whatsappPhoneId: NUMBER_ID,
  projectId: PROJECT_ID,
  url: 'https://new.example/in?token=1',
  ...onlySecret(aSealedSecret('new')),
};
const ADDRESS = { url: WEBHOOK.url, endpoint: 'new.example/in', secret: aSealedSecret('new') };
const knowing = (given: Partial<ResendContext> = {}): ResendContext => ({
  openMessages: new Set(),
  newestNotices: new Map(),
  inboundWebhooks: new Map([[NUMBER_ID, WEBHOOK]]),
  ...given,
});
const NOTHING = { resent: [], superseded: [], withoutWebhook: [] };

describe('sending webhook events again', () => {
  it('a discarded event is due at once, with the attempts and the address that it had', () => {
    const discarded = event('a');
    expect(resend([discarded], knowing(), NOW + 5)).toEqual({
      ...NOTHING,
      resent: [{ ...discarded, state: 'pending', nextAttemptAt: NOW + 5 }],
    });
  });

  it('an event that waits for its retry is due at once in its present state', () => {
    const waiting = event('a', { state: 'queued_retry', nextAttemptAt: NOW + 1 });
    expect(resend([waiting], knowing(), NOW).resent).toEqual([{ ...waiting, nextAttemptAt: NOW }]);
  });

  it.each([
    ['is due', { state: 'pending', nextAttemptAt: NOW }],
    ['waits for an earlier one', { state: 'pending', nextAttemptAt: null }],
    ['was delivered', { state: 'delivered' }],
    ['was superseded', { state: 'superseded' }],
    ['has left the log', { createdAt: NOW - LOG_MS }],
  ] as const)('an event that %s is left as it is', (_, given) => {
    expect(resend([event('a', given)], knowing(), NOW)).toEqual(NOTHING);
    expect(resend([inbound('a', given)], knowing({ inboundWebhooks: new Map() }), NOW)).toEqual(NOTHING);
  });

  it('an event is in the log for 15 days to the millisecond', () => {
    expect(resend([event('a', { createdAt: NOW - LOG_MS + 1 })], knowing(), NOW).resent).toHaveLength(1);
  });
});

describe('the newest webhook event of an ordering key', () => {
  it('an event that tells of no end is sent while its message is not final, and superseded later', () => {
    const open = knowing({ openMessages: new Set(['message a']) });
    expect(resend([sent('a')], open, NOW).resent).toMatchObject([{ id: 'a', state: 'pending' }]);
    expect(resend([sent('a')], knowing(), NOW)).toEqual({
      ...NOTHING,
      superseded: [{ ...sent('a'), state: 'superseded' }],
    });
  });

  it('the event that tells of the end of a message is sent, whatever the ids of its events are', () => {
    const [first, second] = [
      { ...event('a'), orderingKey: 'm' },
      { ...sent('b'), orderingKey: 'm' },
    ];
    const { resent, superseded } = resend([first, second], knowing(), NOW);
    expect([resent.map(({ id }) => id), superseded.map(({ id }) => id)]).toEqual([['a'], ['b']]);
  });

  it('an outdated event that waits for its retry is neither sent nor superseded', () => {
    const waiting = { ...sent('a'), state: 'pending' as const, nextAttemptAt: NOW + 1 };
    expect(resend([waiting], knowing(), NOW)).toEqual(NOTHING);
  });

  it('of low credit only the newest notice is sent', () => {
    const known = knowing({ newestNotices: new Map([['credit', 'b']]) });
    const { resent, superseded } = resend([notice('a'), notice('b')], known, NOW);
    expect([resent.map(({ id }) => id), superseded.map(({ id }) => id)]).toEqual([['b'], ['a']]);
  });
});

describe('sending inbound events again', () => {
  it('a discarded inbound event goes to the webhook of its number, with the secret of that webhook', () => {
    expect(resend([inbound('a')], knowing(), NOW)).toEqual({
      ...NOTHING,
      resent: [{ ...inbound('a'), ...ADDRESS, state: 'queued_retry', nextAttemptAt: NOW }],
    });
  });

  it('a discarded inbound event gets one more attempt, and no second two days', () => {
    const [again] = resend([inbound('a', { firstAttemptAt: NOW })], knowing(), NOW + 72 * HOUR_MS).resent;
    const at = NOW + 72 * HOUR_MS;
    const ended = {
      result: { kind: 'failed', reason: 'timeout' },
      startedAt: at,
      endedAt: at,
      jitter: 0,
    } as const;
    expect(afterAttempt(again as WebhookEvent, ended)).toMatchObject({ state: 'discarded', attempts: 12 });
  });

  it('an inbound event has the newer secret once the overlap of a rotation is over', () => {
    const rotating = {
      ...WEBHOOK,
      secret: aSealedSecret('older'),
      nextSecret: aSealedSecret('newer'),
      nextSecretFrom: NOW + 5,
    };
    const secretAt = (now: number) =>
      resend([inbound('a')], knowing({ inboundWebhooks: new Map([[NUMBER_ID, rotating]]) }), now).resent[0]
        ?.secret;
    expect([secretAt(NOW + 4), secretAt(NOW + 5)]).toEqual(['older', 'newer']);
  });

  it.each([
    ['no inbound webhook', []],
    ['one of another project', [[NUMBER_ID, { ...WEBHOOK, projectId: anId(8) }]]],
  ] as const)('an inbound event whose number has %s stays as it is', (_, webhooks) => {
    const events = [inbound('a'), inbound('b', { state: 'queued_retry', nextAttemptAt: NOW + 1 })];
    expect(resend(events, knowing({ inboundWebhooks: new Map(webhooks) }), NOW)).toEqual({
      ...NOTHING,
      withoutWebhook: events,
    });
  });
});
