import type { HttpError } from './http-error.ts';

export const UNAUTHORIZED = unauthorized('Unauthorized, please use your project api key', 'Bearer');
export const ADDRESS_NOT_ALLOWED: HttpError = {
  status: 403,
  code: 'ip-not-allowed',
  text: 'This IP address is not allowed',
};
export const NOT_FOUND: HttpError = { status: 404, code: 'not-found', text: 'Not found' };
export const REQUEST_TIMEOUT: HttpError = {
  status: 408,
  code: 'request-timeout',
  text: 'The request did not arrive in time',
};
export const BODY_TOO_LARGE: HttpError = {
  status: 413,
  code: 'body-too-large',
  text: 'The request body is too large',
};
export const UNSUPPORTED_MEDIA_TYPE: HttpError = {
  status: 415,
  code: 'unsupported-media-type',
  text: 'The request body must be application/json in UTF-8, without compression',
};
export const EXPECTATION_FAILED: HttpError = {
  status: 417,
  code: 'expectation-failed',
  text: 'Only the expectation 100-continue is supported',
};
export const HEADERS_TOO_LARGE: HttpError = {
  status: 431,
  code: 'headers-too-large',
  text: 'The request headers are too large',
};
export const MALFORMED_REQUEST: HttpError = {
  status: 400,
  code: 'malformed-request',
  text: 'The request is malformed',
};
export const OVERLOADED: HttpError = {
  status: 503,
  code: 'overloaded',
  text: 'Too many requests are being served, try again shortly',
  headers: ['Retry-After', '1'],
};
export const INTERNAL_ERROR: HttpError = {
  status: 500,
  code: 'internal-error',
  text: 'Internal server error',
};

/** The 401 of a route; `challenge` is how to authenticate. */
export function unauthorized(text: string, challenge: 'Bearer' | 'Signature'): HttpError {
  return { status: 401, code: 'unauthorized', text, headers: ['WWW-Authenticate', challenge] };
}

/** Stands for every media type, and for none. */
export const ANY_TYPE = '*/*';

/** The 415 of a route whose body has this media type. */
export function unsupportedMediaType(mediaType: string): HttpError {
  if (mediaType === 'application/json') return UNSUPPORTED_MEDIA_TYPE;
  const text =
    mediaType === ANY_TYPE
      ? 'The request body must come without compression'
      : `The request body must be ${mediaType}, without compression`;
  return { ...UNSUPPORTED_MEDIA_TYPE, text };
}

/** The 405 of a known path. */
export function methodNotAllowed(allow: string): HttpError {
  return {
    status: 405,
    code: 'method-not-allowed',
    text: 'Method not allowed',
    headers: ['Allow', allow],
  };
}
