import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { KeyedRequest } from '../../../domain/idempotency/idempotency.ts';
import { IDEMPOTENCY_KEY_CHARACTERS_MAX } from '../limits.ts';
import { invalid } from '../replies/http-error.ts';
import type { HttpReply } from '../replies/http-reply.ts';
import type { DocumentedHeader } from './documented.ts';

const KEY_PATTERN = new RegExp(`^[!-~]{1,${IDEMPOTENCY_KEY_CHARACTERS_MAX}}$`);

export const IDEMPOTENCY_KEY_HEADER: DocumentedHeader = {
  name: 'Idempotency-Key',
  description:
    'An equal request with the same key gets the reply of the first one, and nothing happens twice.',
  example: 'order-4711-code',
  pattern: KEY_PATTERN.source,
};

const REPLAYED_HEADER = 'Idempotency-Replayed';

/** The header of a reply that repeats the reply to an earlier request. */
export const REPLAYED = [REPLAYED_HEADER, 'true'];

/** Whether a reply repeats the reply to an earlier request. */
export function isReplay({ headers }: HttpReply): boolean {
  return headers?.includes(REPLAYED_HEADER) ?? false;
}

/**
 * The idempotency key of a request to the route, with the hash of its body; null when it has none, 400 when it is
 * unusable. The name of the route is stored with the key.
 */
export function idempotencyOf(route: string, request: IncomingMessage, body: unknown): KeyedRequest | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !KEY_PATTERN.test(key)) {
    throw invalid(
      `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} visible ASCII characters`,
      'invalid-idempotency-key',
    );
  }
  return { route, key, requestHash: createHash('sha256').update(canonical(body)).digest('hex') };
}

/** The same text for equal JSON values, whatever the order of their keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}
