import { API_KEY_PATTERN } from '../../../domain/access/api-key.ts';

const BEARER_PATTERN = /^Bearer +(\S+)$/i;

/** The bearer token in an Authorization header, or null. */
export function bearerFromHeader(header: string | undefined): string | null {
  return BEARER_PATTERN.exec(header ?? '')?.[1] ?? null;
}

/** The key in an Authorization header, or null when the header holds nothing of its shape. */
export function apiKeyFromHeader(header: string | undefined): string | null {
  const key = bearerFromHeader(header);
  return key !== null && API_KEY_PATTERN.test(key) ? key : null;
}
