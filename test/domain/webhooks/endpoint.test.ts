import { expect, test } from 'vitest';
import { ENDPOINT_CHARACTERS_MAX, endpointOf, hostOf } from '../../../src/domain/webhooks/endpoint.ts';

test.each([
  ['https://example.com/hook?key=1', 'example.com/hook'],
  ['https://example.com:8443/a/b', 'example.com:8443/a/b'],
  ['https://example.com/', 'example.com/'],
])('the endpoint of %s is its host, port and path', (url, endpoint) => {
  expect(endpointOf(url)).toBe(endpoint);
  expect(hostOf(endpoint)).toBe(new URL(url).host);
});

test('two long addresses that begin alike have one endpoint', () => {
  const [first, second] = ['a', 'b'].map((end) =>
    endpointOf(`https://example.com/${'x'.repeat(288)}${end}?key=1`),
  );
  expect(first).toBe(`example.com/${'x'.repeat(288)}`);
  expect(second).toBe(first);
  expect(first).toHaveLength(ENDPOINT_CHARACTERS_MAX);
});
