import type { IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it, test } from 'vitest';
import {
  clientAddressBehind,
  networkOf,
  siteOf,
} from '../../../../src/adapters/http/routing/client-address.ts';
import { aProject } from '../../../support/builders.ts';
import { HttpWorld } from '../http-world.ts';

let world: HttpWorld | undefined;

afterEach(async () => {
  await world?.close();
  world = undefined;
});

test.each<[address: string | undefined, network: string]>([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
  ['0000:0000:0000:0000:0000:FFFF:C000:0207', '192.0.2.7'],
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

test.each<[address: string | undefined, site: string]>([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '20010db80001/48'],
  ['2001:db8:1:3::1', '20010db80001/48'],
  ['2001:db8:2:2::1', '20010db80002/48'],
  [undefined, ''],
])('the address %s counts as %s in the table of connections', (address, site) => {
  expect(siteOf(address)).toBe(site);
});

it('many addresses one after the other count as what each of them is', () => {
  const addresses = Array.from({ length: 3_000 }, (_, index) => (index % 2_500).toString(16));
  expect(addresses.map((digits) => networkOf(`2001:db8:0:${digits}::1`))).toEqual(
    addresses.map((digits) => `20010db80000${digits.padStart(4, '0')}/64`),
  );
});

it('authentication is told where a request comes from', async () => {
  world = await new HttpWorld().open();
  await world.call('GET', '/info');
  expect(world.api.networks).toEqual(['127.0.0.1']);
});

const TRUSTED = ['10.0.0.0/8', 'fd00::/8', '203.0.113.1'];
const requestFrom = (peer: string | undefined, forwarded?: string) =>
  ({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('the address of a client', () => {
  test.each<
    [what: string, peer: string | undefined, forwarded: string | undefined, client: string | undefined]
  >([
    ['a client without a proxy', '192.0.2.7', undefined, '192.0.2.7'],
    ['a client that is no proxy and says it is one', '192.0.2.7', '198.51.100.1', '192.0.2.7'],
    ['a proxy that says nothing', '10.0.0.5', undefined, '10.0.0.5'],
    ['a client behind a proxy', '10.0.0.5', '192.0.2.7', '192.0.2.7'],
    ['a client behind a mapped proxy', '::ffff:10.0.0.5', '192.0.2.7', '192.0.2.7'],
    ['a client behind two proxies', '10.0.0.5', '192.0.2.7, 203.0.113.1', '192.0.2.7'],
    ['a client who makes up others', '10.0.0.5', '198.51.100.1, 10.0.0.9, 192.0.2.7', '192.0.2.7'],
    ['a client who makes up words', '10.0.0.5', 'unknown,,<script>, 192.0.2.7', '192.0.2.7'],
    ['a proxy that says nonsense', '10.0.0.5', '192.0.2.7, unknown', '10.0.0.5'],
    ['nonsense behind two proxies', '10.0.0.5', 'unknown, 203.0.113.1', '203.0.113.1'],
    ['an empty header', '10.0.0.5', '', '10.0.0.5'],
    ['a comma first', '10.0.0.5', ',10.0.0.6', '10.0.0.6'],
    ['only proxies', '10.0.0.5', '10.0.0.7,10.0.0.6', '10.0.0.7'],
    ['an address with a port', '10.0.0.5', '192.0.2.7:41234', '192.0.2.7'],
    ['IPv6 with a port', 'fd00::5', '[2001:db8::1]:41234', '2001:db8::1'],
    ['IPv6 in brackets', 'fd00::5', '[2001:db8::1]', '2001:db8::1'],
    ['IPv6', 'fd00::5', '2001:db8::1', '2001:db8::1'],
    ['a connection that is gone', undefined, '192.0.2.7', undefined],
  ])('the address of a client is found behind trusted proxies: %s', (_, peer, forwarded, client) => {
    expect(clientAddressBehind(TRUSTED)(requestFrom(peer, forwarded))).toBe(client);
  });

  it('the address of a client is that of the connection when no proxy is trusted', () => {
    expect(clientAddressBehind([])(requestFrom('10.0.0.5', '192.0.2.7'))).toBe('10.0.0.5');
  });

  it('the address of a client counts for the allow list and in limits by address, and nobody but a trusted proxy can say it', async () => {
    world = await new HttpWorld({ trustedProxies: ['127.0.0.1'] }).open();
    const settings = { ...aProject().settings, allowedIps: ['192.0.2.7'], ipRuleScope: 'all' as const };
    world.api.project = aProject({ environment: 'dev', settings });
    const statusOf = async (from: string, forwarded: string) =>
      (await world?.call('GET', '/info', { from, headers: { 'x-forwarded-for': forwarded } }))?.status;
    expect(await statusOf('127.0.0.1', '192.0.2.7')).toBe(200);
    expect(await statusOf('127.0.0.1', '192.0.2.7, 198.51.100.9')).toBe(403);
    expect(await statusOf('127.0.0.2', '192.0.2.7')).toBe(403);
    expect(world.api.networks).toEqual(['192.0.2.7', '198.51.100.9', '127.0.0.2']);
  });

  it('the address of a client counts for the requests in flight of an address', async () => {
    world = await new HttpWorld({
      trustedProxies: ['127.0.0.1'],
      limits: { requestsPerAddressMax: 1 },
    }).open();
    let openGate = (): void => undefined;
    world.api.gate = new Promise((resolve) => {
      openGate = resolve;
    });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const body = { phoneNumber: '9647701234567', smsType: 'verification', verificationCode: '123456' };
    const served = world.post('/sms', body, from('192.0.2.7'));
    while (world.api.sent.length < 1) await world.call('GET', '/healthz');
    expect((await world.call('GET', '/info', { headers: from('192.0.2.7') })).status).toBe(503);
    expect((await world.call('GET', '/info', { headers: from('192.0.2.8') })).status).toBe(200);
    openGate();
    expect((await served).status).toBe(200);
  });
});
