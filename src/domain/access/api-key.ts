import { type KeyedDigest, withChecksum } from '../shared/checksum.ts';
import type { Environment } from './project.ts';

/**
 * A key is its environment and 40 lower-case hex characters (specification 5.1); upper case is another text. A new key
 * is 128 random bits and a checksum. An older key has random bits in its place.
 */
export const API_KEY_PATTERN = /^sk_(live|dev)_[0-9a-f]{40}$/;

/** The bytes of chance in a new key. */
export const API_KEY_RANDOM_BYTES = 16;

const BEARER_PATTERN = /^Bearer +(\S+)$/i;

/** A new key of `random`, which is `API_KEY_RANDOM_BYTES` in lower-case hex. */
export function newApiKey(environment: Environment, random: string, digest: KeyedDigest): string {
  return withChecksum(`sk_${environment}_${random}`, digest);
}

/** The bearer token in an Authorization header, or null. */
export function bearerFromHeader(header: string | undefined): string | null {
  return BEARER_PATTERN.exec(header ?? '')?.[1] ?? null;
}

/** The key in an Authorization header, or null when the header holds nothing of its shape. */
export function apiKeyFromHeader(header: string | undefined): string | null {
  const key = bearerFromHeader(header);
  return key !== null && API_KEY_PATTERN.test(key) ? key : null;
}

/** The environment in the prefix of a key, which must be of the form above (specification 5.1). */
export function environmentOfKey(key: string): Environment {
  return key.startsWith('sk_live_') ? 'live' : 'dev';
}
