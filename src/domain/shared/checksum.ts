const CHECKSUM_CHARACTERS = 8;

/** A digest in lower-case hex that only this installation can make. */
export type KeyedDigest = (text: string) => string;

/** The text with its checksum behind it. */
export function withChecksum(text: string, digest: KeyedDigest): string {
  return text + digest(text).slice(0, CHECKSUM_CHARACTERS);
}

/** Whether a text was made by `withChecksum` of this installation. Of 2^32 that somebody makes up one passes. */
export function hasChecksum(text: string, digest: KeyedDigest): boolean {
  return text === withChecksum(text.slice(0, -CHECKSUM_CHARACTERS), digest);
}
