import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { SecretBox } from '../../application/ports/secret-box.ts';
import { remembered } from '../../application/remembered.ts';
import type { PlainSecret, SealedSecret } from '../../domain/shared/sealed-secret.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Secrets in use: most messages of a project come with the same one. */
const REMEMBERED_MAX = 1_000;
/** Names the form and the key, so that both can change later. */
const PREFIX = 'v1:';

/**
 * AES-256-GCM under a key derived from the service's secret key. What was sealed or opened last is remembered,
 * so that a secret that comes with every message is not worked on for each.
 */
export class AesSecretBox implements SecretBox {
  readonly #key: Buffer;
  readonly #sealed = remembered(REMEMBERED_MAX, (secret: PlainSecret) => this.#seal(secret));
  readonly #opened = remembered(REMEMBERED_MAX, (sealed: SealedSecret) => this.#open(sealed));

  constructor({ secretKey }: { readonly secretKey: Buffer }) {
    this.#key = Buffer.from(hkdfSync('sha256', secretKey, '', 'barid secret box', KEY_BYTES));
  }

  seal(secret: PlainSecret): SealedSecret {
    return this.#sealed(secret);
  }

  open(sealed: SealedSecret): PlainSecret {
    return this.#opened(sealed);
  }

  #seal(secret: PlainSecret): SealedSecret {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce);
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return (PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')) as SealedSecret;
  }

  #open(sealed: SealedSecret): PlainSecret {
    if (!sealed.startsWith(PREFIX)) throw new Error('Not a sealed secret');
    const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64');
    const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const secret = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([secret, decipher.final()]).toString('utf8');
  }
}
