import { createHmac } from 'node:crypto';
import type { KeyHasher } from '../../application/ports/key-hasher.ts';

/** Digests kept in memory; a digest costs more than everything else that is done to recognise a key. */
const REMEMBERED_DIGESTS_MAX = 1_000;

/** HMAC-SHA-256 under the service's secret key: a stolen database holds no usable API key. */
export class HmacKeyHasher implements KeyHasher {
  readonly #secretKey: Buffer;
  readonly #remembered = new Map<string, string>();

  constructor({ secretKey }: { readonly secretKey: Buffer }) {
    this.#secretKey = secretKey;
  }

  digest(apiKey: string): string {
    const known = this.#remembered.get(apiKey);
    if (known !== undefined) return known;
    const digest = createHmac('sha256', this.#secretKey).update(`api-key:${apiKey}`).digest('hex');
    if (this.#remembered.size >= REMEMBERED_DIGESTS_MAX) this.#remembered.clear();
    this.#remembered.set(apiKey, digest);
    return digest;
  }
}
