/**
 * The receiver's side of a webhook, for programs that get them: `import { verifyWebhook } from 'barid/webhooks'`.
 */

import { millisecondsInSecond } from 'date-fns/constants';
import { nodeHmac } from '../adapters/node/node-hmac.ts';
import { hasStandardKey, verifyInbound, verifyStandard } from '../domain/webhooks/signer.ts';

/** Headers as node:http, express or fetch hand them over; names in any case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the timestamp may lie from now, either way, in milliseconds; `Infinity` allows any. */
  readonly toleranceMs?: number;
  /** Milliseconds since 1970; the system's clock when absent. */
  readonly now?: number;
}

/** Every attempt is stamped anew, so a genuine request is never older than its way and two clocks' difference. */
const VERIFY_TOLERANCE_MS = 300_000;

/** Longer values belong to no signed request. */
const HEADER_CHARACTERS_MAX = 1_024;

/**
 * Whether the service that shares `secret` sent this request within the tolerance. Checks the Standard Webhooks headers,
 * which during a rotation fit the old secret and the new one; without them the signature of specification 6.2. `rawBody` must be
 * the body as it came, before any parsing. Never throws. False means that the request is not genuine: reply with 401 or 403.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyOptions = {},
): boolean {
  try {
    return verify(rawBody, headers, secret, options);
  } catch {
    return false;
  }
}

function verify(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyOptions,
): boolean {
  // Anybody can sign with an empty key.
  if (typeof secret !== 'string' || !hasStandardKey(secret)) return false;
  const isFresh = (timestampMs: number): boolean =>
    Math.abs((options.now ?? Date.now()) - timestampMs) <= (options.toleranceMs ?? VERIFY_TOLERANCE_MS);

  const inbound = headerOf(headers, 'x-svc-webhook-signature');
  const signature = headerOf(headers, 'webhook-signature');
  if (inbound !== null && signature === null) {
    const timestamp = headerOf(headers, 'x-svc-webhook-timestamp') ?? '';
    return (
      verifyInbound(nodeHmac, secret, { timestamp, signature: inbound }, rawBody) &&
      isFresh(Number(timestamp))
    );
  }
  const id = headerOf(headers, 'webhook-id') ?? '';
  const timestamp = headerOf(headers, 'webhook-timestamp') ?? '';
  return (
    verifyStandard(nodeHmac, secret, { id, timestamp, signature: signature ?? '' }, rawBody) &&
    isFresh(Number(timestamp) * millisecondsInSecond)
  );
}

/** The one value of a header; null when it is missing, doubled, not text or overlong. */
function headerOf(headers: WebhookHeaders, name: string): string | null {
  const values = isHeaders(headers)
    ? [headers.get(name)]
    : Object.keys(headers)
        .filter((key) => key.toLowerCase() === name)
        .flatMap((key) => headers[key]);
  const given = values.filter((value) => value !== undefined && value !== null);
  const [only] = given;
  return given.length === 1 && typeof only === 'string' && only.length <= HEADER_CHARACTERS_MAX ? only : null;
}

/** By what it can do: a program may bring another implementation of Headers than the runtime's own. */
function isHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === 'function';
}
