import type { KeyedDigest } from '../../domain/access/api-key.ts';

/** Turns an API key into what is stored of it. */
export interface KeyHasher {
  /** A keyed digest in lower-case hex: equal keys give equal digests, and nothing else can be learned. */
  digest(apiKey: string): string;
  /** The same of the beginning of a key, for its checksum. No stored digest tells it. */
  readonly checksum: KeyedDigest;
}
