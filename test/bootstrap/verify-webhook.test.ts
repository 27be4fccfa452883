import { createHmac } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { verifyWebhook, type WebhookHeaders } from '../../src/bootstrap/verify-webhook.ts';
import { signatureVectors } from '../support/signature-vectors.ts';

const vectors = signatureVectors();
const [vector] = vectors;
if (vector === undefined) throw new Error('there are no vectors');
const { body, inbound, standard } = vector;
const now = Number(inbound.timestamp);

const inboundHeaders = {
  'x-svc-webhook-signature': inbound.signature,
  'x-svc-webhook-timestamp': inbound.timestamp,
};
const standardHeaders = {
  'webhook-id': standard.id,
  'webhook-timestamp': standard.timestamp,
  'webhook-signature': standard.signature,
};

/** What anybody can sign for a receiver whose secret is missing. */
const emptyKeyDigest = createHmac('sha256', '')
  .update(`${standard.id}.${standard.timestamp}.${body}`)
  .digest('base64');
const signedWithEmptyKey = { ...standardHeaders, 'webhook-signature': `v1,${emptyKeyDigest}` };

describe('genuine requests', () => {
  it('accepts the request of every vector, as text and as bytes, in both forms', () => {
    for (const { body, inbound, standard } of vectors) {
      const headers = {
        'X-SVC-Webhook-Signature': inbound.signature,
        'X-SVC-Webhook-Timestamp': inbound.timestamp,
      };
      const options = { now: Number(inbound.timestamp) };
      expect(verifyWebhook(body, headers, inbound.secret, options)).toBe(true);
      expect(verifyWebhook(Buffer.from(body, 'utf8'), headers, inbound.secret, options)).toBe(true);
      const others = new Headers({
        'webhook-id': standard.id,
        'webhook-timestamp': standard.timestamp,
        'webhook-signature': standard.signature,
      });
      expect(verifyWebhook(body, others, standard.secret, options)).toBe(true);
    }
  });

  it('accepts each header as a list of one', () => {
    const headers = Object.fromEntries(
      Object.entries(inboundHeaders).map(([name, value]) => [name, [value]]),
    );
    expect(verifyWebhook(body, headers, inbound.secret, { now })).toBe(true);
  });
});

describe('the timestamp', () => {
  test.each<[string, WebhookHeaders, string, number]>([
    ['inbound', inboundHeaders, inbound.secret, now],
    ['standard', standardHeaders, standard.secret, Number(standard.timestamp) * 1_000],
  ])('accepts the timestamp of an %s request up to five minutes off', (_, headers, secret, at) => {
    for (const [offset, accepted] of [
      [300_000, true],
      [-300_000, true],
      [300_001, false],
      [-300_001, false],
    ] as const) {
      expect(verifyWebhook(body, headers, secret, { now: at + offset })).toBe(accepted);
    }
    expect(verifyWebhook(body, headers, secret)).toBe(false);
    expect(verifyWebhook(body, headers, secret, { toleranceMs: Number.POSITIVE_INFINITY })).toBe(true);
  });
});

describe('forged requests', () => {
  test.each<[string, () => boolean]>([
    ['another body', () => verifyWebhook(`${body}x`, inboundHeaders, inbound.secret, { now })],
    ['another secret', () => verifyWebhook(body, inboundHeaders, `${inbound.secret}0`, { now })],
    ['an empty secret', () => verifyWebhook(body, signedWithEmptyKey, '', { now })],
    ['an empty key', () => verifyWebhook(body, signedWithEmptyKey, 'whsec_', { now })],
    ['a key that is no base64', () => verifyWebhook(body, signedWithEmptyKey, 'whsec_!!', { now })],
    [
      'another timestamp',
      () =>
        verifyWebhook(
          body,
          { ...inboundHeaders, 'x-svc-webhook-timestamp': String(now + 1) },
          inbound.secret,
          {
            now,
          },
        ),
    ],
    [
      'another id',
      () => verifyWebhook(body, { ...standardHeaders, 'webhook-id': 'other' }, standard.secret, { now }),
    ],
  ])('rejects a forged request with %s', (_, verified) => {
    expect(verified()).toBe(false);
  });
});

describe('hostile headers', () => {
  const throwing = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('no keys for you');
      },
    },
  );
  const signature = inbound.signature;
  test.each<[string, unknown]>([
    ['none', {}],
    ['null', null],
    ['undefined', undefined],
    ['text', 'x-svc-webhook-signature'],
    ['throwing', throwing],
    ['two signatures', { ...inboundHeaders, 'x-svc-webhook-signature': [signature, signature] }],
    ['one name in two cases', { ...inboundHeaders, 'X-Svc-Webhook-Signature': signature }],
    ['a number', { ...inboundHeaders, 'x-svc-webhook-timestamp': now }],
    ['an object', { ...inboundHeaders, 'x-svc-webhook-signature': { toString: () => signature } }],
    ['overlong', { ...inboundHeaders, 'x-svc-webhook-signature': 'sha256='.padEnd(1_000_000, 'a') }],
    ['not ASCII', { ...inboundHeaders, 'x-svc-webhook-signature': 'sha256=😀'.padEnd(71, 'é') }],
    ['an inherited header', Object.create(inboundHeaders)],
    ['no timestamp', { 'x-svc-webhook-signature': signature }],
    ['half of the standard ones', { 'webhook-signature': standard.signature }],
    ['endless signatures', { ...standardHeaders, 'webhook-signature': 'v1,x '.repeat(100_000) }],
  ])('rejects hostile headers without throwing: %s', (_, headers) => {
    expect(verifyWebhook(body, headers as WebhookHeaders, inbound.secret, { now })).toBe(false);
  });

  it('rejects a body that was parsed already', () => {
    expect(verifyWebhook({ a: 1 } as unknown as string, inboundHeaders, inbound.secret, { now })).toBe(false);
  });
});
