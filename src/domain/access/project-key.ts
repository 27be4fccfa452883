/** What is known of an API key beside the project it belongs to. */
export interface ProjectKey {
  /** The keyed digest of the key. */
  readonly digest: string;
  readonly projectId: string;
  readonly createdAt: number;
  /** The last characters of the key; null for a key of an older version. */
  readonly lastFour: string | null;
  /** The key is rejected from this instant on; null for a key without an end. Milliseconds since 1970. */
  readonly endsAt: number | null;
  /** When an operator revoked it; it is rejected whatever the time is. */
  readonly revokedAt: number | null;
  /** When a request was accepted with it last, exact to a minute; null when it was never used. */
  readonly lastUsedAt: number | null;
}

/** `ending`: it works, and has an end. */
export const KEY_STATUSES = ['active', 'ending', 'ended', 'revoked'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

/** The most keys of a project that work at a time: each is a way in. */
export const WORKING_KEYS_MAX = 100;

const KEY_ID_CHARACTERS = 24;
const LAST_CHARACTERS = 4;

/** The public name of a key: the beginning of its digest, of which nobody learns anything about the key. */
export function keyIdOf(digest: string): string {
  return digest.slice(0, KEY_ID_CHARACTERS);
}

/** The characters of a key that a list may show. */
export function lastFourOf(apiKey: string): string {
  return apiKey.slice(-LAST_CHARACTERS);
}

export function keyStatus(
  { endsAt, revokedAt }: Pick<ProjectKey, 'endsAt' | 'revokedAt'>,
  now: number,
): KeyStatus {
  if (revokedAt !== null) return 'revoked';
  if (endsAt === null) return 'active';
  return endsAt > now ? 'ending' : 'ended';
}

/** Whether requests with the key are accepted. */
export function isWorking(key: Pick<ProjectKey, 'endsAt' | 'revokedAt'>, now: number): boolean {
  const status = keyStatus(key, now);
  return status === 'active' || status === 'ending';
}

/**
 * The key with an end in `overlapMs`; an earlier end stays. Without an overlap it is revoked, which holds whatever a clock says.
 */
export function replacedKey(key: ProjectKey, now: number, overlapMs: number): ProjectKey {
  if (overlapMs === 0) return { ...key, revokedAt: now };
  const endsAt = now + overlapMs;
  return { ...key, endsAt: key.endsAt === null ? endsAt : Math.min(key.endsAt, endsAt) };
}
