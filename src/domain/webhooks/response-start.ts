import type { PlainSecret } from '../shared/sealed-secret.ts';
import { toStorableLines } from '../shared/storable-text.ts';
/** How many bytes of the body of a response are stored with its attempt. */
export const RESPONSE_START_BYTES_MAX = 1_024;

/** A shorter beginning of a secret at the end of a cut text tells nothing. */
const SECRET_BEGINNING_MIN = 4;
const MASK = '***';
const utf8 = new TextDecoder();
const toUtf8 = new TextEncoder();

/**
 * The first bytes of a response as text that every database can store: lines and tabs stay, other control characters become
 * spaces.
 */
export function responseStart(bytes: Uint8Array): string {
  return toStorableLines(utf8.decode(bytes.subarray(0, RESPONSE_START_BYTES_MAX)));
}

/**
 * The text with the secret masked: receivers echo headers, some of them percent-encoded or in JSON. So is the beginning of a
 * secret at the end of a text that was cut.
 */
export function withoutSecret(text: string, secret: PlainSecret): string {
  return formsOf(secret).reduce(withoutForm, text);
}

/** The secret as it is, in percent-encoding with either case of digits, and in JSON that escapes slashes. */
function formsOf(secret: string): readonly string[] {
  const encoded = encodeURIComponent(utf8.decode(toUtf8.encode(secret)));
  const lowerCase = encoded.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase());
  return [...new Set([secret, encoded, lowerCase, secret.replaceAll('/', '\\/')])];
}

function withoutForm(text: string, form: string): string {
  const masked = text.replaceAll(form, MASK);
  for (let length = form.length - 1; length >= SECRET_BEGINNING_MIN; length -= 1) {
    if (masked.endsWith(form.slice(0, length))) return masked.slice(0, -length) + MASK;
  }
  return masked;
}
