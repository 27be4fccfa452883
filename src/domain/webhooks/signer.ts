import type { PlainSecret } from '../shared/sealed-secret.ts';

/** `base64` keys are written in base64 and hold any bytes; `utf8` keys are the bytes of their own text. */
export interface HmacKey {
  readonly text: string;
  readonly encoding: 'utf8' | 'base64';
}

/** HMAC-SHA256 over the parts in order, written as lower-case hex or padded base64. */
export type Hmac = (
  key: HmacKey,
  parts: readonly (string | Uint8Array)[],
  encoding: 'hex' | 'base64',
) => string;

/** What the inbound signature covers and says (specification 6.2). */
export interface InboundSigned {
  /** Milliseconds since 1970 as decimal digits, exactly as they stand in the header. */
  readonly timestamp: string;
  /** The value of X-SVC-Webhook-Signature. */
  readonly signature: string;
}

/** What a Standard Webhooks signature covers and says; `timestamp` is in whole seconds since 1970. */
export interface StandardSigned {
  readonly id: string;
  readonly timestamp: string;
  /** The value of webhook-signature: one or more signatures, separated by spaces. */
  readonly signature: string;
}

/** The prefix of a secret whose rest is the key in base64, as Standard Webhooks libraries expect. */
export const STANDARD_SECRET_PREFIX = 'whsec_';

const INBOUND_SCHEME = 'sha256=';
const STANDARD_SCHEME = 'v1,';
const INBOUND_SIGNATURE_PATTERN = /^sha256=([0-9a-fA-F]{64})$/;
const STANDARD_SIGNATURE_PATTERN = /^v1,([0-9A-Za-z+/]{43}=)$/;
const TIMESTAMP_PATTERN = /^[0-9]{1,16}$/;
/** Two characters of either alphabet hold the first byte; decoders pass over what is no base64. */
const BASE64_BYTE_PATTERN = /[\w+/-].*[\w+/-]/;
/** A dot inside the id would let one signed text be read as two different ids and timestamps. */
const EVENT_ID_PATTERN = /^[^.\s]{1,255}$/;
/** Two secrets are valid while one replaces the other; more signatures than this are an attack. */
const SIGNATURES_PER_HEADER_MAX = 8;

/** `sha256=<hex>` over `timestamp.rawBody` (specification 6.2). The whole secret, prefix included, is the key. */
export function signInbound(
  hmac: Hmac,
  secret: PlainSecret,
  timestamp: string,
  rawBody: string | Uint8Array,
): string {
  return INBOUND_SCHEME + hmac({ text: secret, encoding: 'utf8' }, [`${timestamp}.`, rawBody], 'hex');
}

/** Whether the inbound header was made with this secret for this timestamp and body; false on any other form. */
export function verifyInbound(
  hmac: Hmac,
  secret: PlainSecret,
  signed: InboundSigned,
  rawBody: string | Uint8Array,
): boolean {
  const given = parseInboundSignature(signed.signature);
  if (given === null || !TIMESTAMP_PATTERN.test(signed.timestamp)) return false;
  const expected = signInbound(hmac, secret, signed.timestamp, rawBody).slice(INBOUND_SCHEME.length);
  return equalDigests(expected, given);
}

/** `v1,<base64>` over `id.timestamp.rawBody`, as in Standard Webhooks. */
export function signStandard(
  hmac: Hmac,
  secret: PlainSecret,
  id: string,
  timestampSeconds: string,
  rawBody: string | Uint8Array,
): string {
  return STANDARD_SCHEME + hmac(standardKey(secret), [`${id}.${timestampSeconds}.`, rawBody], 'base64');
}

/** Whether the key of a Standard Webhooks signature has at least one byte: anybody can sign with an empty one. */
export function hasStandardKey(secret: PlainSecret): boolean {
  const { text, encoding } = standardKey(secret);
  return encoding === 'base64' ? BASE64_BYTE_PATTERN.test(text) : text !== '';
}

/** Whether one of the header's `v1` signatures was made with this secret; other versions are passed over. */
export function verifyStandard(
  hmac: Hmac,
  secret: PlainSecret,
  signed: StandardSigned,
  rawBody: string | Uint8Array,
): boolean {
  const given = parseStandardSignatures(signed.signature);
  if (given.length === 0 || !EVENT_ID_PATTERN.test(signed.id) || !TIMESTAMP_PATTERN.test(signed.timestamp)) {
    return false;
  }
  const expected = signStandard(hmac, secret, signed.id, signed.timestamp, rawBody).slice(
    STANDARD_SCHEME.length,
  );
  return given.filter((digest) => equalDigests(expected, digest)).length > 0;
}

/** The lower-case hex digest of an X-SVC-Webhook-Signature header, or null when it has another form. */
export function parseInboundSignature(header: string): string | null {
  return INBOUND_SIGNATURE_PATTERN.exec(header)?.[1]?.toLowerCase() ?? null;
}

/** The base64 digests of the well-formed `v1` signatures in a webhook-signature header. */
export function parseStandardSignatures(header: string): readonly string[] {
  const entries = header.split(' ', SIGNATURES_PER_HEADER_MAX + 1);
  if (entries.length > SIGNATURES_PER_HEADER_MAX) return [];
  return entries.flatMap((entry) => STANDARD_SIGNATURE_PATTERN.exec(entry)?.[1] ?? []);
}

/**
 * Compares two digests of one kind in a time that does not depend on where they differ. Their length is no
 * secret: it is the same for every digest of the kind.
 */
export function equalDigests(expected: string, given: string): boolean {
  if (expected.length !== given.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at += 1)
    difference |= expected.charCodeAt(at) ^ given.charCodeAt(at);
  return difference === 0;
}

function standardKey(secret: PlainSecret): HmacKey {
  return secret.startsWith(STANDARD_SECRET_PREFIX)
    ? { text: secret.slice(STANDARD_SECRET_PREFIX.length), encoding: 'base64' }
    : { text: secret, encoding: 'utf8' };
}
