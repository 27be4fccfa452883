import { createHmac } from 'node:crypto';
import type { KeyHasher } from '../../application/ports/key-hasher.ts';

/** HMAC-SHA-256 under the service's secret key: a stolen database holds no usable API key. */
export class HmacKeyHasher implements KeyHasher {
  readonly #secretKey: Buffer;

  constructor({ secretKey }: { readonly secretKey: Buffer }) {
    this.#secretKey = secretKey;
  }

  digest(apiKey: string): string {
    return createHmac('sha256', this.#secretKey).update(`api-key:${apiKey}`).digest('hex');
  }
}
