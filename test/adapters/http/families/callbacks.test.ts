import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { callbackRoutes } from '../../../../src/adapters/http/families/callbacks.ts';
import { createHttpServer, type HttpServer } from '../../../../src/adapters/http/http-server.ts';
import { CALLBACK_FREE_BYTES_MAX, CALLBACKS_PER_ADDRESS_MAX } from '../../../../src/adapters/http/limits.ts';
import { ReceiveCallbacks } from '../../../../src/application/messages/receive-callbacks.ts';
import { NOW } from '../../../support/builders.ts';
import { portOf } from '../../../support/port-of.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';
import { RawConnection } from '../raw-connection.ts';

const CHUNKED = 'Transfer-Encoding: chunked';

let http: HttpServer;
let opened: RawConnection[] = [];

beforeEach(async () => {
  const logger = new RecordingLogger();
  const receiveCallbacks = new ReceiveCallbacks({
    providerCallbacks: {
      of: (name) =>
        name === 'meta' ? { read: async () => ({ kind: 'events', events: [], malformed: 0 }) } : null,
    },
    recordProviderEvents: { execute: async () => {} },
    clock: { now: () => NOW },
    logger,
  });
  let count = 0;
  http = createHttpServer({
    families: [callbackRoutes({ receiveCallbacks })],
    logger,
    requestIds: () => `request-${++count}`,
  });
  http.server.listen(0, '127.0.0.1');
  await once(http.server, 'listening');
});

afterEach(async () => {
  for (const connection of opened) connection.destroy();
  opened = [];
  await http.closeGracefully({ timeoutMs: 1_000, lingerMs: 0 });
});

/** The status of the first reply to the head of a callback: 100 when its body is waited for. */
async function begin(header: string): Promise<number> {
  const connection = await RawConnection.open(portOf(http.server));
  opened.push(connection);
  connection.write(`POST /callbacks/meta HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n${header}\r\n\r\n`);
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(await connection.until(/\r\n\r\n/)) ?? [];
  return Number(status);
}

/** As many callbacks as one address may send at a time, none of which goes on. */
async function fill(header: string): Promise<void> {
  for (let count = 0; count < CALLBACKS_PER_ADDRESS_MAX; count += 1) expect(await begin(header)).toBe(100);
}

it.each([CHUNKED, `Content-Length: ${CALLBACK_FREE_BYTES_MAX + 1}`])(
  'an address that sends too many callbacks with %s gets 503 for the next one',
  async (header) => {
    await fill(header);
    expect(await begin(header)).toBe(503);
    expect(await begin(CHUNKED)).toBe(503);
  },
);

it('a callback of up to 64 KiB is read while as many large ones as allowed are on their way', async () => {
  await fill(CHUNKED);
  expect(await begin(`Content-Length: ${CALLBACK_FREE_BYTES_MAX}`)).toBe(100);
  const small = await RawConnection.open(portOf(http.server));
  opened.push(small);
  small.write('POST /callbacks/meta HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
  expect(await small.until(/\r\n\r\n./)).toMatch(/^HTTP\/1\.1 200/);
});

it('a callback without a body is served while as many large ones as allowed are on their way', async () => {
  await fill(CHUNKED);
  const small = await RawConnection.open(portOf(http.server));
  opened.push(small);
  small.write('GET /callbacks/meta HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await small.until(/\r\n\r\n./)).toMatch(/^HTTP\/1\.1 200/);
});

it('slow callbacks of up to 64 KiB leave the places of large ones free', async () => {
  await fill(`Content-Length: ${CALLBACK_FREE_BYTES_MAX}`);
  await fill(CHUNKED);
});
