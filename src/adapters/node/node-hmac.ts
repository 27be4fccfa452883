import { createHmac } from 'node:crypto';
import type { Hmac } from '../../domain/webhooks/signer.ts';

/** HMAC-SHA256 by OpenSSL, through Node. */
export const nodeHmac: Hmac = (key, parts, encoding) => {
  const hmac = createHmac('sha256', Buffer.from(key.text, key.encoding));
  for (const part of parts) hmac.update(part);
  return hmac.digest(encoding);
};
