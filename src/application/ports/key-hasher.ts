import type { KeyedDigest } from '../../domain/shared/checksum.ts';

/** Turns an API key into what is stored of it, and makes the checksums of keys and of links. */
export interface KeyHasher {
  /** A keyed digest in lower-case hex: equal keys give equal digests, and nothing else can be learned. */
  digest(apiKey: string): string;
  /** The same of the beginning of a key, or of the id of a file, for its checksum. No stored digest tells it. */
  readonly checksum: KeyedDigest;
}
