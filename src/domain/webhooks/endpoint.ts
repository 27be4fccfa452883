/**
 * How much of an address tells its endpoint from others. Jobs, circuits and indexes have it as their key: with 2,000
 * characters each message cost up to a half more.
 */
export const ENDPOINT_CHARACTERS_MAX = 300;

/** The endpoint of a parsed https url: host, port and path, without the query, as far as `ENDPOINT_CHARACTERS_MAX`. */
export function endpointOf(parsedUrl: string): string {
  return parsedUrl
    .replace(/^https:\/\//, '')
    .replace(/[?#].*$/s, '')
    .slice(0, ENDPOINT_CHARACTERS_MAX);
}

/** The host and port of an endpoint. They may be logged; the path may be a secret of its owner. */
export function hostOf(endpoint: string): string {
  return endpoint.replace(/\/.*/s, '');
}
