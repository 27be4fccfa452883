import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { RequestHasher } from '../../application/ports/request-hasher.ts';

/** HMAC-SHA-256 under the service's secret key: a stolen database does not tell which code a request held. */
export class HmacRequestHasher implements RequestHasher {
  readonly #key: KeyObject;

  constructor({ secretKey }: { readonly secretKey: Buffer }) {
    this.#key = createSecretKey(secretKey);
  }

  digest(text: string): string {
    return createHmac('sha256', this.#key).update(`request:${text}`).digest('hex');
  }
}
