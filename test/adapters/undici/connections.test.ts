import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { Client } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connections } from '../../../src/adapters/undici/connections.ts';
import { Exchange } from '../../../src/adapters/undici/exchange.ts';
import type { WebhookAnswer } from '../../../src/application/ports/webhook-transport.ts';

let server: Server;
let origin: string;
let sockets: Socket[];
let connections: Connections;

beforeEach(async () => {
  sockets = [];
  server = createServer((_, response) => response.end());
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  connections = new Connections((to) => new Client(to, { pipelining: 1 }));
});
afterEach(async () => {
  await connections.destroy();
  server.closeAllConnections();
  server.close();
});

async function used(client: Client): Promise<Client> {
  const { body } = await client.request({ path: '/', method: 'POST' });
  await body.dump();
  return client;
}

describe('a connection that was given back', () => {
  it('is the first to be taken again, and its origin has no other', async () => {
    const [first, second] = [connections.take(origin), connections.take(origin)];
    expect(first).not.toBe(second);
    await Promise.all([used(first), used(second)]);
    connections.give(origin, first);
    connections.give(origin, second);
    expect(connections.take('http://127.0.0.1:1')).not.toBe(second);
    expect([connections.take(origin), connections.take(origin)]).toEqual([second, first]);
    expect(sockets).toHaveLength(2);
  });

  it('is not taken again once the other side has closed it', async () => {
    const client = await used(connections.take(origin));
    connections.give(origin, client);
    const gone = once(client, 'disconnect');
    sockets[0]?.destroy();
    await gone;
    expect(client.destroyed).toBe(true);
    expect(connections.take(origin)).not.toBe(client);
  });
});

describe('a receiver that closes its connections without a word', () => {
  it.each([
    ['with its answer', (socket: Socket, answer: string) => socket.end(answer)],
    ['right after it', (socket: Socket, answer: string) => socket.write(answer, () => socket.end())],
  ])('%s, gets every post that was in line', async (_, behave) => {
    const closing = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => behave(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    });
    closing.listen(0, '127.0.0.1');
    await once(closing, 'listening');
    const to = `http://127.0.0.1:${(closing.address() as AddressInfo).port}`;
    const answers: WebhookAnswer[] = [];
    await new Promise<void>((resolve) => {
      // The next one begins in the moment in which the one before ends.
      const post = (): void => {
        if (answers.length === 20) {
          resolve();
          return;
        }
        const client = connections.take(to);
        const exchange = new Exchange(5_000, (answer, isInOrder) => {
          answers.push(answer);
          if (isInOrder) connections.give(to, client);
          else connections.drop(client);
          post();
        });
        client.dispatch({ origin: to, path: '/', method: 'POST', body: '{}' }, exchange);
      };
      post();
    });
    expect(answers.map(({ kind }) => kind)).toEqual(Array(20).fill('answered'));
    closing.close();
  });
});

it('a connection that was dropped is closed, and not taken again', async () => {
  const client = await used(connections.take(origin));
  const closed = once(sockets[0] as Socket, 'close');
  connections.drop(client);
  await closed;
  expect(connections.take(origin)).not.toBe(client);
});

it('all connections are closed in the end, those in use as well', async () => {
  const clients = [connections.take(origin), connections.take(origin)];
  for (const client of clients) await used(client);
  connections.give(origin, clients[0] as Client);
  await connections.destroy();
  expect(clients.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});
