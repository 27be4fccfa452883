import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Hmac, HmacKey } from '../../domain/webhooks/signer.ts';

/** The most customers whose keys are kept ready: making one costs a third of a signature. */
const KEYS_KEPT_MAX = 1_000;

const keys = { utf8: new Map<string, KeyObject>(), base64: new Map<string, KeyObject>() };

/** HMAC-SHA256 by OpenSSL, through Node. */
export const nodeHmac: Hmac = (key, parts, encoding) => {
  const hmac = createHmac('sha256', keyOf(key));
  for (const part of parts) hmac.update(part);
  return hmac.digest(encoding);
};

function keyOf({ text, encoding }: HmacKey): KeyObject {
  const kept = keys[encoding];
  let key = kept.get(text);
  if (key === undefined) {
    if (kept.size >= KEYS_KEPT_MAX) kept.clear();
    key = createSecretKey(Buffer.from(text, encoding));
    kept.set(text, key);
  }
  return key;
}
