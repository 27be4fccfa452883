import type { LookupAddress } from 'node:dns';
import { isIPv6 } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { LookupAll } from '../../../../src/adapters/egress/name-lookup.ts';
import { PeerTime, RECEIVER_SHARES } from '../../../../src/adapters/egress/tls/peer-time.ts';
import { guardedConnectors } from '../../../../src/adapters/egress/webhooks/egress-guard.ts';
import { egressRules } from '../../../../src/adapters/egress/webhooks/egress-rules.ts';
import { UndiciWebhookTransport } from '../../../../src/adapters/egress/webhooks/undici-webhook-transport.ts';
import { withCertificateAuthority } from '../../../support/certificates.ts';
import { LoopbackSink } from '../../../support/loopback-sink.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../../support/openssl.ts';
import { specialIpv4, specialIpv6, specialUrls } from '../../../support/special-addresses.ts';
import { TlsReceiver } from '../../../support/tls-receiver.ts';

/** An address of the public internet; every test ends before it would be connected to. */
const PUBLIC: LookupAddress = { address: '93.184.216.34', family: 4 };
const PUBLIC_6: LookupAddress = { address: '2606:4700:4700::1111', family: 6 };
const LOOPBACK: LookupAddress = { address: '127.0.0.1', family: 4 };
const NEIGHBOUR: LookupAddress = { address: '127.0.0.2', family: 4 };

let sink: LoopbackSink;
beforeAll(async () => {
  sink = await LoopbackSink.open();
});
afterAll(async () => {
  await sink.close();
});

const resolvingTo =
  (...addresses: LookupAddress[]): LookupAll =>
  async () =>
    addresses;

const entry = (address: string): LookupAddress => ({ address, family: isIPv6(address) ? 6 : 4 });

async function sendTo(lookup: LookupAll, url = `https://receiver.example.com:${sink.port}/hook`) {
  const transport = new UndiciWebhookTransport({ allowedPorts: [sink.port], timeoutMs: 2_000, lookup });
  const result = await transport.send({ projectId: 'p', url, headers: {}, body: '{}' });
  await transport.close();
  return result;
}

const REJECTED = { kind: 'failed', reason: 'name-refused' };

describe('the addresses of a name', () => {
  const specials = [...specialIpv4(), ...specialIpv6()].filter((_, at) => at % 6 === 0);
  const cases: [string, LookupAll][] = [
    ...specials.map((address): [string, LookupAll] => [address, resolvingTo(entry(address))]),
    ['loopback', resolvingTo(LOOPBACK)],
    ['loopback in IPv6', resolvingTo(entry('::1'))],
    ['public first, loopback second', resolvingTo(PUBLIC, LOOPBACK)],
    ['loopback first, public second', resolvingTo(LOOPBACK, PUBLIC)],
    ['one special among many', resolvingTo(PUBLIC, PUBLIC, PUBLIC_6, LOOPBACK, PUBLIC)],
    ['A public, AAAA loopback', resolvingTo(PUBLIC, entry('::1'))],
    ['A public, AAAA unique local', resolvingTo(PUBLIC, entry('fd00::1'))],
    ['AAAA public, A private', resolvingTo(PUBLIC_6, entry('10.0.0.1'))],
    ['mapped', resolvingTo({ address: '::ffff:127.0.0.1', family: 6 })],
    ['mapped in hex', resolvingTo({ address: '::ffff:7f00:1', family: 6 })],
    ['compatible', resolvingTo({ address: '::7f00:1', family: 6 })],
    ['NAT64', resolvingTo({ address: '64:ff9b::7f00:1', family: 6 })],
    ['with a zone', resolvingTo({ address: 'fe80::1%lo', family: 6 })],
    ['of the wrong family', resolvingTo({ address: '127.0.0.1', family: 6 })],
    ['in decimal', resolvingTo({ address: '2130706433', family: 4 })],
    ['in octal', resolvingTo({ address: '0177.0.0.1', family: 4 })],
    ['no address at all', resolvingTo({ address: 'localhost', family: 4 })],
  ];

  it('the corpus of names has at least forty cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(40);
  });

  test.each(cases)('a name is rejected without a connection to its addresses: %s', async (_, lookup) => {
    expect(await sendTo(lookup)).toEqual(REJECTED);
    expect(sink.connections).toBe(0);
  });

  it('an address cannot change after the guard has checked it', async () => {
    let reads = 0;
    const changing = {
      family: 4,
      get address(): string {
        reads += 1;
        return reads === 1 ? '240.0.0.1' : '127.0.0.1';
      },
    };
    // 240.0.0.1 cannot be routed, so that the test does not reach out to a public machine.
    const rules = { allows: (address: string) => address === '240.0.0.1' };
    const error = await connectError({ rules, lookup: resolvingTo(changing) });
    expect(error.name).not.toBe('NameBlocked');
    expect(sink.connections).toBe(0);
  });

  it('the guard checks at most four addresses of each family', async () => {
    const checked: string[] = [];
    const rules = { allows: (address: string) => checked.push(address) > 0 };
    // None of them can be routed.
    const many = Array.from({ length: 1_000 }, (_, number) => [
      entry(`240.0.${number % 256}.1`),
      entry(`100::${number}`),
    ]);
    await connectError({ rules, lookup: resolvingTo(...many.flat()) });
    expect(checked).toHaveLength(8);
  });

  it('a name without an address ends as a connection that failed', async () => {
    expect(await sendTo(resolvingTo())).toEqual({ kind: 'failed', reason: 'connection' });
    const unknown: LookupAll = async () => {
      throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
    };
    expect(await sendTo(unknown)).toEqual({ kind: 'failed', reason: 'connection' });
  });
});

describe('address literals', () => {
  it('every address literal of the corpus is rejected without a lookup or a connection', async () => {
    let lookups = 0;
    const transport = new UndiciWebhookTransport({
      allowedPorts: [sink.port],
      lookup: async () => {
        lookups += 1;
        return [LOOPBACK];
      },
    });
    const results = await Promise.all(
      specialUrls(sink.port).map((url) => transport.send({ projectId: 'p', url, headers: {}, body: '{}' })),
    );
    await transport.close();
    expect(results.length).toBeGreaterThanOrEqual(1_300);
    expect(
      results.filter((result) => result.kind !== 'failed' || result.reason !== 'address-refused'),
    ).toEqual([]);
    expect([lookups, sink.connections]).toEqual([0, 0]);
  });

  test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254', '0.0.0.0', '::'])(
    'the connector rejects the address literal %s as well',
    async (hostname) => {
      const error = await connectError({ rules: egressRules([]), lookup: resolvingTo(LOOPBACK) }, hostname);
      expect(error.name).toBe('AddressBlocked');
      expect(sink.connections).toBe(0);
    },
  );
});

describe('the connector', () => {
  it('the connector speaks HTTPS only', async () => {
    const error = await connectError(
      { rules: egressRules(['127.0.0.1/32']), lookup: resolvingTo(LOOPBACK) },
      'receiver.example.com',
      'http:',
    );
    expect(error.name).toBe('AddressBlocked');
    expect(sink.connections).toBe(0);
  });

  it('the connector checks the address of the socket before it sends a byte', async () => {
    const other = await LoopbackSink.open();
    let checks = 0;
    const rules = {
      allows: (): boolean => {
        checks += 1;
        return checks === 1;
      },
    };
    const error = await connectError(
      { rules, lookup: resolvingTo(LOOPBACK) },
      'receiver.example.com',
      'https:',
      other.port,
    );
    expect(error.name).toBe('NameBlocked');
    expect([checks, other.bytes]).toEqual([2, 0]);
    await other.close();
  });
});

describe.skipIf(!hasOpenssl)(`rebinding (skipped when ${OPENSSL_MISSING})`, () => {
  const HOST = 'receiver.example.com';

  it('a new connection notices a rebound name, and an open connection stays at its checked address', async () => {
    const { ca, pair } = withCertificateAuthority((authority) => ({
      ca: authority.ca,
      pair: authority.issue(HOST, 2),
    }));
    // Other connections may have any port of the loopback address, and hardly one of its neighbour.
    const trap = await LoopbackSink.open();
    const receiver = await TlsReceiver.open(
      pair,
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
      NEIGHBOUR.address,
      trap.port,
    );
    let current = NEIGHBOUR;
    const transport = new UndiciWebhookTransport({
      allowedNetworks: ['127.0.0.2/32'],
      allowedPorts: [receiver.port],
      ca,
      lookup: async () => [current],
    });
    const send = () =>
      transport.send({
        projectId: 'p',
        url: `https://${HOST}:${receiver.port}/hook`,
        headers: {},
        body: '{}',
      });

    expect(await send()).toMatchObject({ kind: 'responded', status: 200 });
    current = LOOPBACK;
    expect(await send()).toMatchObject({ kind: 'responded', status: 200 });
    expect(receiver.connections).toBe(1);
    const [, other] = await Promise.all([send(), send()]);
    expect(other).toMatchObject(REJECTED);
    await transport.close();
    expect(trap.connections).toBe(0);
    await Promise.all([receiver.close(), trap.close()]);
  });

  it('a connection of one host is never used for another', async () => {
    const { ca, pair } = withCertificateAuthority((authority) => ({
      ca: authority.ca,
      pair: authority.issue(HOST, 2),
    }));
    const receiver = await TlsReceiver.open(pair, (socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    );
    const transport = new UndiciWebhookTransport({
      allowedNetworks: ['127.0.0.1/32'],
      allowedPorts: [receiver.port],
      ca,
      lookup: resolvingTo(LOOPBACK),
    });
    const send = (host: string) =>
      transport.send({ projectId: 'p', url: `https://${host}:${receiver.port}/`, headers: {}, body: '{}' });
    expect(await send(HOST)).toMatchObject({ kind: 'responded' });
    expect(await send('other.example.com')).toMatchObject({ kind: 'failed', reason: 'tls' });
    expect(receiver.connections).toBe(2);
    expect(receiver.requests).toHaveLength(1);
    await transport.close();
    await receiver.close();
  });
});

/** Connects to the port of the sink through a new connector, and resolves with the error of the connection. */
function connectError(
  options: Pick<Parameters<typeof guardedConnectors>[0], 'rules' | 'lookup'>,
  hostname = 'receiver.example.com',
  protocol = 'https:',
  port = sink.port,
): Promise<Error> {
  const connect = guardedConnectors({
    ...options,
    peerTime: new PeerTime(RECEIVER_SHARES),
    timeoutMs: 300,
    ca: null,
  })('p');
  return new Promise((resolve, reject) => {
    connect({ hostname, protocol, port: String(port) }, (error, socket) => {
      socket?.destroy();
      if (error === null) reject(new Error('connected'));
      else resolve(error);
    });
  });
}
