import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { readBytes } from '../../../../src/adapters/http/input/request-body.ts';
import { ClientDisconnected } from '../../../../src/adapters/http/replies/http-error.ts';
import { heldMemory } from '../../../support/held-memory.ts';
import { portOf } from '../../../support/port-of.ts';
import { RawConnection } from '../raw-connection.ts';

const MEGABYTE = 1_048_576;
const BYTES_MAX = 3 * MEGABYTE;
const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

let server: Server;
let connection: RawConnection;
afterEach(() => {
  connection.destroy();
  server.close();
});

/** A server that reads one body, and counts its bytes as they come. */
async function readOne(): Promise<{ body: Promise<Buffer>; arrived: (bytes: number) => Promise<void> }> {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  let received = 0;
  const body = new Promise<Buffer>((resolve, reject) => {
    server.on('request', (request: IncomingMessage, response) => {
      readBytes(request, response, BYTES_MAX).then(resolve, reject);
      request.on('data', (chunk: Buffer) => {
        received += chunk.length;
        server.emit('bytes');
      });
    });
  });
  connection = await RawConnection.open(portOf(server));
  connection.write(HEAD);
  return {
    body,
    async arrived(bytes) {
      while (received < bytes) await once(server, 'bytes');
    },
  };
}

it('a body in chunks of one byte takes little more memory than its bytes', async () => {
  const { body, arrived } = await readOne();
  const count = 300_000;
  connection.write('1\r\na\r\n');
  await arrived(1);
  const chunks = Buffer.from('1\r\nb\r\n'.repeat(count));
  const before = await heldMemory();
  connection.write(chunks);
  await arrived(1 + count);
  expect((await heldMemory()) - before).toBeLessThan(5 * MEGABYTE);
  connection.write(LAST_CHUNK);
  expect((await body).toString()).toBe(`a${'b'.repeat(count)}`);
});

it('a body without bytes is empty', async () => {
  const { body } = await readOne();
  connection.write(LAST_CHUNK);
  expect(await body).toHaveLength(0);
});

it('the body of a caller who has left is not waited for', async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  connection = await RawConnection.open(portOf(server));
  connection.write(HEAD);
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  connection.destroy();
  await new Promise((resolve) => request.on('error', () => undefined).once('close', resolve));
  await expect(readBytes(request, response, BYTES_MAX)).rejects.toThrow(ClientDisconnected);
});
