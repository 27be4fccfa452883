/** Keeps secrets that have to be used again, so that the database alone does not give them away. */
export interface SecretBox {
  /** A text that only a box with the same key opens; sealed again, the same secret may come out differently. */
  seal(secret: string): string;
  /** Throws when the text was not sealed by this box's key. */
  open(sealed: string): string;
}
