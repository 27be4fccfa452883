import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Hmac, HmacKey } from '../../domain/webhooks/signer.ts';

/** The keys of so many customers are kept ready: making one costs a third of a signature. */
const KEYS_KEPT_MAX = 1_000;

const keys = new Map<string, KeyObject>();

/** HMAC-SHA256 by OpenSSL, through Node. */
export const nodeHmac: Hmac = (key, parts, encoding) => {
  const hmac = createHmac('sha256', keyOf(key));
  for (const part of parts) hmac.update(part);
  return hmac.digest(encoding);
};

function keyOf({ text, encoding }: HmacKey): KeyObject {
  const name = `${encoding} ${text}`;
  let key = keys.get(name);
  if (key === undefined) {
    if (keys.size >= KEYS_KEPT_MAX) keys.clear();
    key = createSecretKey(Buffer.from(text, encoding));
    keys.set(name, key);
  }
  return key;
}
