import { expect, test } from 'vitest';
import { endpointOf, hostOf } from '../../../src/domain/webhooks/endpoint.ts';

test.each([
  ['https://example.com/hook?key=1', 'example.com/hook'],
  ['https://example.com:8443/a/b', 'example.com:8443/a/b'],
  ['https://example.com/', 'example.com/'],
])('the endpoint of %s is its host, port and path', (url, endpoint) => {
  expect(endpointOf(url)).toBe(endpoint);
  expect(hostOf(endpoint)).toBe(new URL(url).host);
});
