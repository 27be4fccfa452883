import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { nodeHmac } from '../../../src/adapters/node/node-hmac.ts';
import {
  equalDigests,
  hasStandardKey,
  parseInboundSignature,
  parseStandardSignatures,
  signInbound,
  signStandard,
  verifyInbound,
  verifyStandard,
} from '../../../src/domain/webhooks/signer.ts';
import { hasOpenssl, OPENSSL_MISSING, openssl } from '../../support/openssl.ts';
import { signatureVectors } from '../../support/signature-vectors.ts';

const vectors = signatureVectors();
/** One of each kind that a `webhookSecret` may hold. */
const TOKEN_CHARACTERS = "aZ09_!#$%&'*+-.^`|~";

describe('fixed vectors', () => {
  it('has a hundred vectors, with an empty body, Arabic, Kurdish, emoji and a long one among them', () => {
    expect(vectors).toHaveLength(100);
    const bodies = vectors.map((vector) => vector.body);
    expect(bodies).toContain('');
    expect(bodies.some((body) => body.includes('مرحبا'))).toBe(true);
    expect(bodies.some((body) => body.includes('ۆ'))).toBe(true);
    expect(bodies.some((body) => body.includes('👩‍👩‍👧‍👦'))).toBe(true);
    expect(bodies.some((body) => body.length > 16_000)).toBe(true);
  });

  test.each(vectors.map((vector, at) => [at, vector] as const))(
    'signs and verifies the vector %i',
    (_, { body, ...vector }) => {
      const { inbound, standard } = vector;
      const bytes = Buffer.from(body, 'utf8');
      expect(signInbound(nodeHmac, inbound.secret, inbound.timestamp, body)).toBe(inbound.signature);
      expect(signInbound(nodeHmac, inbound.secret, inbound.timestamp, bytes)).toBe(inbound.signature);
      expect(verifyInbound(nodeHmac, inbound.secret, inbound, body)).toBe(true);
      expect(verifyInbound(nodeHmac, inbound.secret, inbound, `${body} `)).toBe(false);
      expect(signStandard(nodeHmac, standard.secret, standard.id, standard.timestamp, body)).toBe(
        standard.signature,
      );
      expect(verifyStandard(nodeHmac, standard.secret, standard, bytes)).toBe(true);
      expect(verifyStandard(nodeHmac, standard.secret, standard, `${body} `)).toBe(false);
    },
  );

  it.skipIf(!hasOpenssl)(`still agrees with openssl (skipped when ${OPENSSL_MISSING})`, () => {
    for (const { body, inbound } of vectors.filter((_, at) => at % 10 === 0)) {
      const key = Buffer.from(inbound.secret, 'utf8').toString('hex');
      const output = openssl(
        ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`],
        `${inbound.timestamp}.${body}`,
      );
      const digest = output.toString('utf8').trim().split('= ').at(-1);
      expect(signInbound(nodeHmac, inbound.secret, inbound.timestamp, body)).toBe(`sha256=${digest}`);
    }
  });

  it('matches case 2 of RFC 4231', () => {
    expect(nodeHmac({ text: 'Jefe', encoding: 'utf8' }, ['what do ya want ', 'for nothing?'], 'hex')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });
});

describe('what is signed', () => {
  const recorded: unknown[] = [];
  const recordingHmac = (...call: unknown[]): string => {
    recorded.push(call);
    return 'digest';
  };

  it('signs timestamp.body under the whole secret for inbound events', () => {
    recorded.length = 0;
    expect(signInbound(recordingHmac, 'svc_live_skab', '17', '{}')).toBe('sha256=digest');
    expect(recorded).toEqual([[{ text: 'svc_live_skab', encoding: 'utf8' }, ['17.', '{}'], 'hex']]);
  });

  it('signs id.timestamp.body under the decoded secret for Standard Webhooks', () => {
    recorded.length = 0;
    expect(signStandard(recordingHmac, 'whsec_AAEC', 'e1', '17', '{}')).toBe('v1,digest');
    expect(signStandard(recordingHmac, 'plain', 'e1', '17', '{}')).toBe('v1,digest');
    expect(recorded).toEqual([
      [{ text: 'AAEC', encoding: 'base64' }, ['e1.17.', '{}'], 'base64'],
      [{ text: 'plain', encoding: 'utf8' }, ['e1.17.', '{}'], 'base64'],
    ]);
  });
});

describe('the key of a signature', () => {
  test.each([
    ['whsec_', false],
    ['whsec_!!!!', false],
    ['whsec_a', false],
    ['whsec_!a!', false],
    ['whsec_aZ', true],
    ['whsec_!a!Z', true],
    ['whsec_-_', true],
    ['whsec_a2V5', true],
    ['', false],
    ['!', true],
    ['whsec', true],
    ['Whsec_', true],
  ])('says that the key of %j has bytes: %j', (secret, expected) => {
    expect(hasStandardKey(secret)).toBe(expected);
  });

  it('says that there is a key exactly when the HMAC decodes one', () => {
    const rest = fc.string({ unit: fc.constantFrom(...TOKEN_CHARACTERS), maxLength: 6 });
    fc.assert(
      fc.property(rest, (text) => {
        expect(hasStandardKey(`whsec_${text}`)).toBe(Buffer.from(text, 'base64').length > 0);
      }),
    );
  });
});

describe('the form of a header', () => {
  const hex = 'a1'.repeat(32);
  const base64 = `${'A1+/'.repeat(10)}abc=`;

  test.each<[string, string, string | null]>([
    ['as we write it', `sha256=${hex}`, hex],
    ['in capitals', `sha256=${hex.toUpperCase()}`, hex],
    ['without the scheme', hex, null],
    ['with something before the scheme', `xsha256=${hex}`, null],
    ['of another scheme', `sha1=${hex}`, null],
    ['with the scheme in capitals', `SHA256=${hex}`, null],
    ['too short', `sha256=${hex.slice(1)}`, null],
    ['too long', `sha256=${hex}a`, null],
    ['with a line feed', `sha256=${hex}\n`, null],
    ['with another letter', `sha256=${hex.slice(1)}g`, null],
    ['empty', '', null],
  ])('parses the signature header of an inbound event: %s', (_, header, digest) => {
    expect(parseInboundSignature(header)).toBe(digest);
  });

  test.each<[string, string, readonly string[]]>([
    ['one', `v1,${base64}`, [base64]],
    ['two during a change of secrets', `v1,${base64} v1,${base64}`, [base64, base64]],
    ['one among other versions', `v1a,abc= v1,${base64} v2,x`, [base64]],
    ['none', '', []],
    ['eight, the most', Array.from({ length: 8 }, () => `v1,${base64}`).join(' '), Array(8).fill(base64)],
    ['with something before the version', `xv1,${base64}`, []],
    ['with something after the digest', `v1,${base64}x`, []],
    ['too short', `v1,${base64.slice(1)}`, []],
    ['without padding', `v1,${base64.slice(0, -1)}A`, []],
    ['too many', Array.from({ length: 9 }, () => `v1,${base64}`).join(' '), []],
  ])('parses the signature header of Standard Webhooks: %s', (_, header, digests) => {
    expect(parseStandardSignatures(header)).toEqual(digests);
  });

  it('does not verify a signature of another form', () => {
    expect(verifyInbound(nodeHmac, 'plain', { timestamp: '17', signature: hex }, '{}')).toBe(false);
    const standard = { id: 'e1', timestamp: '17', signature: base64 };
    expect(verifyStandard(nodeHmac, 'plain', standard, '{}')).toBe(false);
  });

  it('does not verify an id that could be read in two ways, nor a timestamp that is no number', () => {
    const signature = signStandard(nodeHmac, 'plain', 'e.1', '17', '{}');
    expect(verifyStandard(nodeHmac, 'plain', { id: 'e.1', timestamp: '17', signature }, '{}')).toBe(false);
    const odd = signInbound(nodeHmac, 'plain', '1e3', '{}');
    expect(verifyInbound(nodeHmac, 'plain', { timestamp: '1e3', signature: odd }, '{}')).toBe(false);
  });
});

describe('comparing digests', () => {
  test.each<[string, string, boolean]>([
    ['abcdef', 'abcdef', true],
    ['abcdef', 'abcdeg', false],
    ['abcdef', 'bbcdef', false],
    ['abcdef', 'abcde', false],
    ['abcde', 'abcdef', false],
    ['', '', true],
  ])('compares the digests %s and %s', (a, b, equal) => {
    expect(equalDigests(a, b)).toBe(equal);
  });
});
