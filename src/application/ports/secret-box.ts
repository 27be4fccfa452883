/** Keeps secrets that have to be used again, so that the database alone does not give them away. */
export interface SecretBox {
  seal(secret: string): string;
  /** Throws when the text was not sealed by this box's key. */
  open(sealed: string): string;
}
