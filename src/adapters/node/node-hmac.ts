import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { remembered } from '../../application/remembered.ts';
import type { Hmac, HmacKey } from '../../domain/webhooks/signer.ts';

/** The most customers whose keys are kept ready: making one costs a third of a signature. */
const KEYS_KEPT_MAX = 1_000;

const keyOf = { utf8: keysFrom('utf8'), base64: keysFrom('base64') };

/** HMAC-SHA256 by OpenSSL, through Node. */
export const nodeHmac: Hmac = (key, parts, encoding) => {
  const hmac = createHmac('sha256', keyOf[key.encoding](key.text));
  for (const part of parts) hmac.update(part);
  return hmac.digest(encoding);
};

function keysFrom(encoding: HmacKey['encoding']): (text: string) => KeyObject {
  return remembered(KEYS_KEPT_MAX, (text: string) => createSecretKey(Buffer.from(text, encoding)));
}
