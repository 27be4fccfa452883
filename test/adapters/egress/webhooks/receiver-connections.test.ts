import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buildConnector, type Client } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  IDLE_CONNECTIONS_MAX,
  ReceiverConnections,
} from '../../../../src/adapters/egress/webhooks/receiver-connections.ts';

let server: Server;
let origin: string;
let sockets: Socket[];
let connections: ReceiverConnections;

beforeEach(async () => {
  sockets = [];
  server = createServer((_, response) => response.end());
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  connections = new ReceiverConnections({ pipelining: 1 }, () => buildConnector({}));
});
afterEach(async () => {
  await connections.close();
  server.closeAllConnections();
  server.close();
});

/** What the transport does: one that was in use before, else a new one. */
const take = (to: string, projectId = 'p'): Client =>
  connections.takeIdle(to, projectId) ?? connections.open(to, projectId);

async function used(client: Client): Promise<Client> {
  const { body } = await client.request({ path: '/', method: 'POST' });
  await body.dump();
  return client;
}

describe('a connection that was kept', () => {
  it('the connection that was kept last is taken first, and only for its origin', async () => {
    const [first, second] = [take(origin), take(origin)];
    expect(first).not.toBe(second);
    await Promise.all([used(first), used(second)]);
    connections.keep(first);
    connections.keep(second);
    expect(take('http://127.0.0.1:1')).not.toBe(second);
    expect([take(origin), take(origin)]).toEqual([second, first]);
    expect(sockets).toHaveLength(2);
  });

  it('a project takes no connection of another', async () => {
    const client = await used(take(origin, 'a'));
    connections.keep(client);
    expect(take(origin, 'b')).not.toBe(client);
    expect(take(origin, 'a')).toBe(client);
  });

  it('a kept connection is not taken again once the other side has closed it', async () => {
    const client = await used(take(origin));
    connections.keep(client);
    const gone = once(client, 'disconnect');
    sockets[0]?.destroy();
    await gone;
    expect(client.destroyed).toBe(true);
    expect(take(origin)).not.toBe(client);
  });
});

it('a connection in use is not idle, and the youngest when it is kept again', async () => {
  const client = await used(take(origin));
  connections.keep(client);
  expect(connections.takeIdle(origin, 'p')).toBe(client);
  const port = (index: number) => `http://127.0.0.1:${index + 1}`;
  const keep = (index: number) => connections.keep(connections.open(port(index), 'p'));
  for (let index = 0; index <= IDLE_CONNECTIONS_MAX; index += 1) keep(index);
  expect(client.destroyed).toBe(false);
  connections.keep(client);
  keep(IDLE_CONNECTIONS_MAX + 1);
  expect(client.destroyed).toBe(false);
});

it('the connection that has been idle longest is closed when too many are idle', async () => {
  const [first, second] = [await used(take(origin)), await used(take(origin))];
  connections.keep(first);
  connections.keep(second);
  const elsewhere = Array.from(
    { length: IDLE_CONNECTIONS_MAX - 2 },
    (_, port) => `http://127.0.0.1:${port + 1}`,
  );
  for (const other of elsewhere) connections.keep(connections.open(other, 'p'));
  expect([first.destroyed, second.destroyed]).toEqual([false, false]);
  connections.keep(connections.open(origin, 'p'));
  expect([first.destroyed, second.destroyed]).toEqual([true, false]);
  expect([take(origin), take(origin)]).not.toContain(first);
});

it('a connection that was dropped is closed, and not taken again', async () => {
  const client = await used(take(origin));
  const closed = once(sockets[0] as Socket, 'close');
  connections.drop(client);
  await closed;
  expect(take(origin)).not.toBe(client);
});

it('a close ends every connection, also those in use', async () => {
  const clients = [take(origin), take(origin)];
  for (const client of clients) await used(client);
  connections.keep(clients[0] as Client);
  await connections.close();
  expect(clients.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});
