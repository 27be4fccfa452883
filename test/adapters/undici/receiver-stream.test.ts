import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ReceiverStream } from '../../../src/adapters/undici/receiver-stream.ts';
import { until } from '../../support/until.ts';

const HANDSHAKE = 22;
const DATA = 23;

let server: Server;
let receiver: Socket;
let stream: ReceiverStream;
/** What TLS would say: bytes of responses that it has read. */
let secured: { bytesRead: number; bytesWritten: number; destroy: (error: Error) => void };
let taken: number;
let given: number;
let failure: Error | null;

beforeEach(async () => {
  [taken, given, failure] = [0, 0, null];
  server = createServer((socket) => {
    receiver = socket;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
  stream = new ReceiverStream(socket, {
    isLeft: () => true,
    take: () => {
      taken += 1;
    },
    run: (compute) => compute(),
  });
  stream.on('data', (chunk: Buffer) => {
    given += chunk.length;
  });
  secured = {
    bytesRead: 0,
    bytesWritten: 0,
    destroy: (error) => {
      failure = error;
      stream.destroy();
    },
  };
  stream.beginResponses(secured as unknown as TLSSocket);
});
afterEach(() => {
  stream.destroy();
  receiver.destroy();
  server.close();
});

const record = (kind: number, bytes: number): Buffer =>
  Buffer.concat([Buffer.from([kind, 3, 3, bytes >> 8, bytes & 255]), Buffer.alloc(bytes)]);

async function give(bytes: Buffer): Promise<void> {
  const end = given + bytes.length;
  receiver.write(bytes);
  await until(() => given === end);
}

it('what is no response takes the time of the project, beyond what comes with a handshake', async () => {
  await give(record(DATA, 500));
  expect(taken).toBe(0);
  await give(record(DATA, 500));
  expect(taken).toBe(1);
});

it('responses take no time', async () => {
  for (let response = 0; response < 5; response += 1) {
    secured.bytesRead += 500;
    await give(record(DATA, 520));
  }
  expect(taken).toBe(0);
});

it('a second handshake ends the connection, and TLS sees nothing of it', async () => {
  await give(Buffer.concat([record(20, 1), record(HANDSHAKE, 40)]));
  const before = given;
  receiver.write(record(HANDSHAKE, 28));
  await until(() => failure !== null);
  expect([failure?.name, given]).toEqual(['HandshakeFailed', before]);
});
