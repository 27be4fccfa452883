import type { SealedSecret } from '../shared/sealed-secret.ts';

/** The specification leaves the fixed prefix open; this one follows the pattern of the header names. */
export const INBOUND_SECRET_PREFIX = 'svc_live_sk';
export const INBOUND_SECRET_HEX_CHARACTERS = 64;
export const INBOUND_SECRET_PATTERN = new RegExp(
  `^${INBOUND_SECRET_PREFIX}[a-f0-9]{${INBOUND_SECRET_HEX_CHARACTERS}}$`,
);

/** A new secret from a source of hex characters of chance. */
export function newInboundSecret(randomHex: () => string): string {
  let hex = '';
  while (hex.length < INBOUND_SECRET_HEX_CHARACTERS) hex += randomHex();
  return INBOUND_SECRET_PREFIX + hex.slice(0, INBOUND_SECRET_HEX_CHARACTERS);
}

/** The secrets of an inbound webhook. A rotation has an overlap in which both are in use. */
export interface InboundSecrets {
  /** Signs until `nextSecretFrom`; without a rotation it signs without an end. */
  readonly secret: SealedSecret;
  /** The new secret of a rotation; null without one. */
  readonly nextSecret: SealedSecret | null;
  /** When the new secret replaces the old one, in milliseconds since 1970; null without a rotation. */
  readonly nextSecretFrom: number | null;
}

/** A webhook with one secret. */
export function onlySecret(secret: SealedSecret): InboundSecrets {
  return { secret, nextSecret: null, nextSecretFrom: null };
}

/**
 * The secrets that sign an attempt at `now`. The first one makes the signature of specification 6.2, which has one value: in
 * an overlap that is the old secret, which each receiver still has. All of them make the Standard Webhooks signatures.
 */
export function signingSecrets(
  secrets: InboundSecrets,
  now: number,
): readonly [SealedSecret, ...SealedSecret[]] {
  const { secret, nextSecret } = secretsInUse(secrets, now);
  return nextSecret === null ? [secret] : [secret, nextSecret];
}

/** Until when the old secret signs too; null when no overlap goes on. Milliseconds since 1970. */
export function overlapEndsAt(secrets: InboundSecrets, now: number): number | null {
  return secretsInUse(secrets, now).nextSecretFrom;
}

/**
 * The secrets after a rotation to `nextSecret`, with an overlap in milliseconds. Null when an overlap goes on: a receiver may
 * still have the oldest secret only. Without an overlap the new secret replaces all others at once.
 */
export function rotated(
  secrets: InboundSecrets,
  nextSecret: SealedSecret,
  now: number,
  overlapMs: number,
): InboundSecrets | null {
  if (overlapMs === 0) return onlySecret(nextSecret);
  const before = secretsInUse(secrets, now);
  if (before.nextSecret !== null) return null;
  return { secret: before.secret, nextSecret, nextSecretFrom: now + overlapMs };
}

/** The secrets without an old one whose overlap is over. */
export function secretsInUse(secrets: InboundSecrets, now: number): InboundSecrets {
  const { nextSecret, nextSecretFrom } = secrets;
  if (nextSecret === null || nextSecretFrom === null || nextSecretFrom > now) return secrets;
  return onlySecret(nextSecret);
}
