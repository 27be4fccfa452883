import { z } from 'zod';

/** A program on the same machine that stands in for a provider needs no certificate. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Where the interface of a provider is, without a slash at its end. Every request has the credentials: they may cross a
 * network only encrypted.
 */
export const baseUrl = z
  .string()
  .refine(isBaseUrl, 'must be https, or http to this machine, without credentials, query and fragment')
  .transform((url) => url.replace(/\/+$/, ''));

/** The URL of a text that has no credentials and no blanks; null for any other text. */
export function plainUrl(text: string): URL | null {
  if (!URL.canParse(text) || /\s/.test(text)) return null;
  const url = new URL(text);
  return url.username === '' && url.password === '' ? url : null;
}

function isBaseUrl(text: string): boolean {
  const url = plainUrl(text);
  if (url === null || /[?#]/.test(text)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOSTS.has(url.hostname));
}
