import type { PlainSecret, SealedSecret } from '../../domain/shared/sealed-secret.ts';

/** Keeps secrets that have to be used again, so that the database alone does not give them away. */
export interface SecretBox {
  /** A text that only a box with the same key opens; sealed again, the same secret may come out differently. */
  seal(secret: PlainSecret): SealedSecret;
  /** Throws when the text was not sealed by this box's key. */
  open(sealed: SealedSecret): PlainSecret;
}
