import { type KeyedDigest, withChecksum } from '../shared/checksum.ts';
import type { Environment } from './project.ts';

/**
 * A key is its environment and 40 lower-case hex characters (specification 5.1); upper case is another text. A new key
 * is 128 random bits and a checksum. An older key has random bits in its place.
 */
export const API_KEY_PATTERN = /^sk_(live|dev)_[0-9a-f]{40}$/;

/** The bytes of chance in a new key. */
export const API_KEY_RANDOM_BYTES = 16;

/** A new key of `random`, which is `API_KEY_RANDOM_BYTES` in lower-case hex. */
export function newApiKey(environment: Environment, random: string, digest: KeyedDigest): string {
  return withChecksum(`sk_${environment}_${random}`, digest);
}

/** The environment in the prefix of a key, which must be of the form above (specification 5.1). */
export function environmentOfKey(key: string): Environment {
  return key.startsWith('sk_live_') ? 'live' : 'dev';
}
