import { expect, test } from 'vitest';
import { isListed } from '../../../../src/adapters/http/routing/ip-allow-list.ts';

test.each<[entry: string, address: string, allowed: boolean]>([
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.8', false],
  ['192.0.2.7', '::ffff:192.0.2.7', true],
  ['192.0.2.7', '::ffff:c000:207', true],
  ['192.0.2.7', '::ffff:c000:208', false],
  ['192.0.2.7', '::FFFF:192.0.2.7', true],
  ['::ffff:192.0.2.7', '192.0.2.7', true],
  ['192.0.2.0/24', '192.0.2.255', true],
  ['192.0.2.0/24', '192.0.3.0', false],
  ['::ffff:192.0.2.0/120', '192.0.2.200', true],
  ['::ffff:192.0.2.0/120', '192.0.3.1', false],
  ['0.0.0.0/0', '198.51.100.1', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['2001:db8::1', '2001:db8:0:0::1', true],
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['fe80::1', 'fe80::1%eth0', true],
  ['::/0', '2001:db8::1', true],
  [' 192.0.2.7 ', '192.0.2.7', true],
  ['192.0.2.0/33', '192.0.2.0', false],
  ['192.0.2.0/-1', '192.0.2.0', false],
  ['192.0.2.0/', '192.0.2.0', false],
  ['192.0.2.0/24/24', '192.0.2.0', false],
  ['example.com', '192.0.2.7', false],
  ['', '192.0.2.7', false],
  ['192.0.2.7', 'not an address', false],
])('the entry %j covers the address %s: %s', (entry, address, allowed) => {
  expect(isListed([entry], address)).toBe(allowed);
  expect(isListed(['198.51.100.99', entry], address)).toBe(allowed);
});
