import { createHmac } from 'node:crypto';
import type { KeyHasher } from '../../application/ports/key-hasher.ts';

/** HMAC-SHA-256 under the service's secret key: a stolen database holds no usable API key. */
export class HmacKeyHasher implements KeyHasher {
  readonly digest: (apiKey: string) => string;
  readonly checksum: (text: string) => string;

  constructor({ secretKey }: { readonly secretKey: Buffer }) {
    const digestOf = (text: string): string => createHmac('sha256', secretKey).update(text).digest('hex');
    this.digest = (apiKey) => digestOf(`api-key:${apiKey}`);
    this.checksum = (text) => digestOf(`api-key-checksum:${text}`);
  }
}
