import { afterEach, expect, it, test } from 'vitest';
import { networkOf } from '../../../../src/adapters/http/routing/client-address.ts';
import { HttpWorld } from '../http-world.ts';

let world: HttpWorld | undefined;

afterEach(async () => {
  await world?.close();
  world = undefined;
});

test.each<[address: string | undefined, network: string]>([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '20010db800010002/64'],
  ['2001:db8:1:2::ffff', '20010db800010002/64'],
  ['2001:0DB8:0001:0002:0:0:0:1', '20010db800010002/64'],
  ['2001:db8:1:3::1', '20010db800010003/64'],
  ['::1', '0000000000000000/64'],
  ['fe80::1%eth0', 'fe80000000000000/64'],
  ['no:address', 'no:address'],
  [undefined, ''],
])('the address %s counts as %s in limits by address', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

it('authentication is told where a request comes from', async () => {
  world = await new HttpWorld().open();
  await world.call('GET', '/info');
  expect(world.api.networks).toEqual(['127.0.0.1']);
});
