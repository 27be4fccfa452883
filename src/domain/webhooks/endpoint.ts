/** The endpoint of a parsed https url: host, port and path, without the query. */
export function endpointOf(parsedUrl: string): string {
  return parsedUrl.replace(/^https:\/\//, '').replace(/[?#].*$/s, '');
}

/** The host and port of an endpoint. They may be logged; the path may be a secret of its owner. */
export function hostOf(endpoint: string): string {
  return endpoint.replace(/\/.*/s, '');
}
