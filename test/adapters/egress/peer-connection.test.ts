import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nameLookup } from '../../../src/adapters/egress/name-lookup.ts';
import { connectPeer } from '../../../src/adapters/egress/peer-connection.ts';
import { UndiciProviderHttp } from '../../../src/adapters/egress/providers/undici-provider-http.ts';
import { NameServer } from '../../support/name-server.ts';
import { portOf } from '../../support/port-of.ts';

/** More than the system's own lookup has threads. */
const SILENT = Array.from({ length: 20 }, (_, number) => `silent-${number}.example.com`);

let names: NameServer;
let peer: Server;

beforeAll(async () => {
  names = await NameServer.open({
    ...Object.fromEntries(SILENT.map((name) => [name, 'silent'] as const)),
    'gateway.example.com': { a: ['127.0.0.1'] },
  });
  peer = createServer((socket) =>
    socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'),
  ).listen(0);
  await once(peer, 'listening');
});
afterAll(() => {
  names.close();
  peer.close();
});

const lookup = () => nameLookup({ servers: [names.address], families: [4] });

it('peers whose name servers are silent keep no other peer waiting', async () => {
  const shared = lookup();
  const waiting = SILENT.map((host) => connectPeer({ host, port: 1 }, shared).on('error', () => {}));
  const socket = connectPeer({ host: 'gateway.example.com', port: portOf(peer) }, shared);
  await once(socket, 'connect');
  expect(socket.remoteAddress).toBe('127.0.0.1');
  expect(waiting.every(({ connecting }) => connecting)).toBe(true);
  for (const each of [socket, ...waiting]) each.destroy();
});

it('an address is connected to without a lookup, and a name without an address is an error', async () => {
  const none = async () => [];
  const socket = connectPeer({ host: '127.0.0.1', port: portOf(peer) }, none);
  await once(socket, 'connect');
  socket.destroy();
  const [error] = await once(connectPeer({ host: 'nowhere.example.com', port: 1 }, none), 'error');
  expect(error).toMatchObject({ message: 'nowhere.example.com has no address' });
});

it('a provider is found by that lookup', async () => {
  const http = new UndiciProviderHttp({ lookup: lookup() });
  const url = `http://gateway.example.com:${portOf(peer)}/`;
  expect(await http.send({ url, method: 'GET', headers: {} })).toMatchObject({
    kind: 'responded',
    status: 200,
  });
  await http.close();
});

it('of a name with many addresses the first four are tried', async () => {
  const many = async () => Array.from({ length: 100 }, (_, n) => ({ address: `127.0.1.${n}`, family: 4 }));
  const tried: string[] = [];
  const socket = connectPeer({ host: 'many.example.com', port: 1 }, many);
  socket.on('connectionAttempt', (address: string) => tried.push(address));
  await once(socket, 'error');
  expect(tried).toEqual(['127.0.1.0', '127.0.1.1', '127.0.1.2', '127.0.1.3']);
});
