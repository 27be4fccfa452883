/** Turns a request into what is stored of it, so that the database alone does not give the request away. */
export interface RequestHasher {
  /** A keyed digest in lower-case hex: equal texts give equal digests. Without the key no guess can be checked. */
  digest(text: string): string;
}
