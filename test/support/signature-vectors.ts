import { readFileSync } from 'node:fs';

/** A body and its two signatures, computed by the openssl command line. */
export interface SignatureVector {
  readonly body: string;
  readonly inbound: { readonly secret: string; readonly timestamp: string; readonly signature: string };
  readonly standard: {
    readonly secret: string;
    readonly id: string;
    readonly timestamp: string;
    readonly signature: string;
  };
}

/** The fixed vectors of `signature-vectors.json`. */
export function signatureVectors(): readonly SignatureVector[] {
  const text = readFileSync(new URL('./signature-vectors.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly vectors: readonly SignatureVector[] }).vectors;
}
