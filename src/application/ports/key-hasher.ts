/** Turns an API key into what is stored of it. */
export interface KeyHasher {
  /** A keyed digest in lower-case hex: equal keys give equal digests, and nothing else can be learned. */
  digest(apiKey: string): string;
}
