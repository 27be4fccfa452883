import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { SERVER_LIMITS, SHARED_BODY_PIECE_BYTES } from '../../../../src/adapters/http/server-limits.ts';
import { DEMO_API_KEY } from '../../../../src/bootstrap/config/demo-seed.ts';
import { until } from '../../../support/until.ts';
import { HttpWorld } from '../http-world.ts';
import { RawConnection } from '../raw-connection.ts';

const BODY = '{"phoneNumber":"9647701234567","smsType":"verification","verificationCode":"123456"}';
const KEY = `Authorization: Bearer ${DEMO_API_KEY}`;
const POST = `POST /sms HTTP/1.1\r\nHost: x\r\n${KEY}\r\nContent-Type: application/json\r\n`;
const SEND = `${POST}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
const GET = `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`;
const UPGRADE = 'Connection: upgrade\r\nUpgrade: websocket\r\n';
const MEGABYTE = 1024 * 1024;
const OPEN_MAX = SERVER_LIMITS.connectionOpenRequestsMax;

let world: HttpWorld;
beforeEach(async () => {
  world = await new HttpWorld({
    limits: { headersTimeoutMs: 200, requestTimeoutMs: 200, connectionsCheckingIntervalMs: 50 },
  }).open();
});
afterEach(() => world.close());

const open = () => RawConnection.open(world.port);

/** Writes, waits for the end, and takes the one reply apart. */
async function only(text: string | Buffer): Promise<{ status: number; head: string; body: unknown }> {
  const connection = await open();
  connection.write(text);
  const received = await connection.untilClosed();
  const [head = '', body = ''] = received.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) };
}

describe('a client that sends no valid request', () => {
  test.each<[string, string | Buffer]>([
    ['garbage', 'hello\r\n\r\n'],
    ['no version', 'GET /healthz\r\n\r\n'],
    ['a version from the future', 'GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a TLS greeting', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00])],
    ['a NUL in the path', 'GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n'],
    ['a header without a name', 'GET /healthz HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
    ['white space before the colon', 'GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['an unknown method', 'FETCH /healthz HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['two lengths', `${POST}Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345`],
    ['length and chunks', `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a negative length', `${POST}Content-Length: -1\r\n\r\n`],
    ['a broken chunk', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
    ['the same host twice', 'GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\r\nhOST: x\r\n\r\n'],
    ['two hosts of old', 'GET /healthz HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n'],
    ['a chunked body of old', 'POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    [
      'a body in two codings',
      'POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'a body chunked twice',
      `POST /x HTTP/1.1\r\nHost: x\r\n${'Transfer-Encoding: chunked\r\n'.repeat(2)}\r\n0\r\n\r\n`,
    ],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'],
  ])('a malformed request gets 400 in JSON and is disconnected: %s', async (_name, text) => {
    const { status, head, body } = await only(text);
    expect(status).toBe(400);
    expect(body).toEqual({ error: 'The request is malformed' });
    expect(head).toMatch(/content-type: application\/json; charset=utf-8/i);
    expect(head).toMatch(/connection: close/i);
    expect(head).toMatch(/x-error-code: malformed-request/i);
    expect(head).toMatch(/x-request-id: request-[12]/i);
    expect(world.api.sent).toEqual([]);
  });

  it('a chunked body of HTTP/1.1 is read, in capital letters too', async () => {
    const request = (coding: string) =>
      `POST /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: ${coding}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
    expect((await only(request('chunked'))).status).toBe(404);
    expect((await only(request('Chunked'))).status).toBe(404);
  });

  it.each([
    ['20 kB', `A: ${'a'.repeat(20_000)}`],
    ['101 lines', Array.from({ length: 100 }, (_, n) => `A${n}: a`).join('\r\n')],
    ['thousands of lines, and a second Host', `${'a:\r\n'.repeat(2_000)}Host: y`],
    ['101 lines that ask for another protocol', `${UPGRADE}${'a: b\r\n'.repeat(98)}A: a`],
  ])('a request whose headers are too large gets 431: %s', async (_what, lines) => {
    const { status, body } = await only(`GET /healthz HTTP/1.1\r\nHost: x\r\n${lines}\r\n\r\n`);
    expect(status).toBe(431);
    expect(body).toEqual({ message: 'The request headers are too large' });
  });

  it('a request with 100 header lines is served', async () => {
    const connection = await open();
    const lines = Array.from({ length: 98 }, (_, n) => `A${n}: a`).join('\r\n');
    connection.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n${lines}\r\nConnection: close\r\n\r\n`);
    expect(await connection.untilClosed()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['431', `HEAD / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['400', 'HEAD / HTTP/1.1\r\nHost : x\r\n\r\n'],
  ])('a HEAD request that is no valid request gets %s without a body', async (status, head) => {
    const connection = await open();
    connection.write(head);
    const received = await connection.untilClosed();
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*\r\n\r\n$`));
  });

  it('a request with an expectation other than 100-continue gets 417', async () => {
    const { status, body } = await only(`${POST}Expect: tea\r\nContent-Length: 0\r\n\r\n`);
    expect(status).toBe(417);
    expect(body).toEqual({ message: 'Only the expectation 100-continue is supported' });
  });

  it('a request with such an expectation waits like any other while its connection has as many as are served', async () => {
    const limited = await new HttpWorld({ limits: { connectionRequestsMax: 2 } }).open();
    let openGate = (): void => undefined;
    limited.api.gate = new Promise((resolve) => {
      openGate = resolve;
    });
    const connection = await RawConnection.open(limited.port);
    connection.write(SEND + `${POST}Expect: tea\r\nContent-Length: 0\r\n\r\n`.repeat(5));
    await until(() => limited.api.sent.length === 1);
    await limited.call('GET', '/healthz');
    expect(limited.seen.filter(({ status }) => status === 417)).toHaveLength(1);
    openGate();
    expect(await connection.untilClosed()).toMatch(/^HTTP\/1.1 200 .*HTTP\/1.1 417 /s);
    await limited.close();
  });

  test.each([
    ['an unfinished head', 'POST /sms HTTP/1.1\r\nHost:'],
    ['an unfinished body', `${POST}Content-Length: 100\r\n\r\n{"phone`],
  ])('a request that does not arrive in time gets 408: %s', async (_name, text) => {
    const { status, body } = await only(text);
    expect(status).toBe(408);
    expect(body).toEqual({ message: 'The request did not arrive in time' });
  });

  it('replies nothing to a client that ends the connection inside a request', async () => {
    const connection = await open();
    connection.write('GET /info HTTP/1.1\r\nHost');
    connection.end();
    expect(await connection.untilClosed()).toBe('');
  });

  it('logs no fault when a client leaves in the middle of a body', async () => {
    const connection = await open();
    connection.write(`${POST}Content-Length: 100\r\n\r\n{"phone`);
    connection.destroy();
    await world.call('GET', '/info');
    expect(world.logger.entriesBesideRequests).toEqual([]);
  });
});

describe('ordinary requests over one connection', () => {
  it('replies to the requests of one connection in order', async () => {
    const connection = await open();
    connection.write(`${SEND}${GET}${POST}Transfer-Encoding: chunked\r\n\r\n5\r\n${BODY.slice(0, 5)}\r\n`);
    connection.write(`${(BODY.length - 5).toString(16)}\r\n${BODY.slice(5)}\r\n0\r\n\r\n${GET}`);
    const received = await connection.until(/("status":"ok".*){2}/s);
    expect(received.match(/"smsId"|"status":"ok"/g)).toEqual([
      '"smsId"',
      '"status":"ok"',
      '"smsId"',
      '"status":"ok"',
    ]);
    expect(world.api.sent).toHaveLength(2);
    connection.destroy();
  });

  it('sends the error of a malformed request after the reply to the request before it', async () => {
    let openGate = (): void => undefined;
    world.api.gate = new Promise((resolve) => {
      openGate = resolve;
    });
    const connection = await open();
    connection.write(`${SEND}garbage\r\n\r\n`);
    while (world.api.sent.length === 0) await world.call('GET', '/healthz');
    openGate();
    const received = await connection.untilClosed();
    expect(received.match(/HTTP\/1.1 [0-9]+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  it('sends the error of a malformed request after the replies to many requests before it', async () => {
    const connection = await open();
    connection.write(`${GET.repeat(OPEN_MAX)}garbage\r\n\r\n`);
    const received = await connection.untilClosed();
    expect(received.match(/HTTP\/1.1 [0-9]+/g)).toEqual([
      ...Array.from({ length: OPEN_MAX }, () => 'HTTP/1.1 200'),
      'HTTP/1.1 400',
    ]);
  });

  it('replies to as many requests as a connection may have, rejects one more with 503, and closes', async () => {
    const connection = await open();
    connection.write(GET.repeat(1_000));
    const received = await connection.untilClosed();
    expect(received.match(/HTTP\/1.1 [0-9]+/g)).toEqual([
      ...Array.from({ length: OPEN_MAX }, () => 'HTTP/1.1 200'),
      'HTTP/1.1 503',
    ]);
    expect(received).toMatch(/x-error-code: overloaded/i);
    expect(received).toMatch(/retry-after: 1/i);
  });

  it('replies with 503 to one request too many that asks for another protocol, and closes', async () => {
    const connection = await open();
    connection.write(`${GET.repeat(OPEN_MAX)}GET /healthz HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`);
    const received = await connection.untilClosed();
    expect(received.match(/HTTP\/1.1 [0-9]+/g)).toEqual([
      ...Array.from({ length: OPEN_MAX }, () => 'HTTP/1.1 200'),
      'HTTP/1.1 503',
    ]);
  });

  test.each([
    ['many headers', `GET /healthz HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(40)}\r\n`, '200'],
    ['a body', 'POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}', '404'],
  ])(
    'requests that are parsed in several pieces do not pass the limits of a connection: %s',
    async (_name, request, status) => {
      const connection = await open();
      connection.write(request.repeat(200));
      const received = await connection.untilClosed();
      const statuses = received.match(/(?<=HTTP\/1.1 )[0-9]+/g) ?? [];
      expect(statuses.at(-1)).toBe('503');
      // The reply to the first one may have gone out while the others were parsed.
      expect(statuses.filter((each) => each === status).length).toBeLessThanOrEqual(OPEN_MAX + 1);
    },
  );

  it('sends 100 Continue only when it wants the body', async () => {
    const wanted = await open();
    wanted.write(`${POST}Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`);
    await wanted.until(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
    wanted.write(BODY);
    expect(await wanted.until(/"smsId"/)).toContain('HTTP/1.1 200 OK');
    wanted.destroy();

    const unwanted = await open();
    unwanted.write(`${POST}Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n`);
    expect(await unwanted.until(/too large/)).toMatch(/^HTTP\/1.1 413 /);
    unwanted.destroy();
  });

  it('serves HTTP/1.0 without a host', async () => {
    const connection = await open();
    connection.write('GET /healthz HTTP/1.0\r\n\r\n');
    expect(await connection.untilClosed()).toContain('{"status":"ok"}');
  });

  it('keeps the connection after a small body that it rejects', async () => {
    const connection = await open();
    connection.write(
      `POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}${GET}`,
    );
    const received = await connection.until(/"status":"ok"/);
    expect(received).toMatch(/^HTTP\/1.1 404 /);
    connection.destroy();
  });
});

it('reads up to 1 MB of a rejected body, so that the client sees the reply', async () => {
  // The time for the request would end sooner than the client has written it on a busy machine.
  const patient = await new HttpWorld().open();
  const connection = await RawConnection.open(patient.port);
  const half = Buffer.alloc(MEGABYTE / 4, ' ');
  connection.write(`POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 * half.length}\r\n\r\n`);
  connection.write(half);
  expect(await connection.until(/"Not found"/)).toMatch(/connection: close/i);
  connection.write(half);
  await connection.untilClosed();
  expect(connection.wasReset).toBe(false);
  await patient.close();
});

describe('tunnels', () => {
  const CONNECT = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n';
  const MANY_LINES = 'a: b\r\n'.repeat(150);

  test.each([
    ['at once', CONNECT],
    ['behind other requests', GET.repeat(3) + CONNECT],
    ['with too many lines', CONNECT.replace('\r\n\r\n', `\r\n${MANY_LINES}\r\n`)],
    ['another protocol, with too many lines', `GET / HTTP/1.1\r\nHost: x\r\n${UPGRADE}${MANY_LINES}\r\n`],
    [
      'another protocol, behind too many',
      `${GET.repeat(OPEN_MAX)}GET / HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`,
    ],
  ])(
    'a client that asks for a tunnel may reset the connection, and the server goes on: %s',
    async (_name, asked) => {
      const faults: unknown[] = [];
      world.http.server.on('connection', (socket: Socket) => {
        socket.prependListener('error', () => faults.push(socket.listenerCount('error')));
      });
      for (let index = 0; index < 20; index += 1) {
        const connection = await open();
        connection.write(asked);
        connection.reset();
        expect((await world.call('GET', '/healthz')).status).toBe(200);
      }
      // The listener of the test would hide that the server has none.
      expect(faults).not.toContain(1);
    },
  );

  it('a client that asks for a tunnel gets the replies to its earlier requests first', async () => {
    const connection = await open();
    connection.write(`${SEND}${GET}${CONNECT}`);
    const received = await connection.untilClosed();
    expect(received.match(/HTTP\/1.1 [0-9]+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  it('a client that asks for a tunnel behind a long reply gets the whole reply first', async () => {
    const connection = await open();
    connection.write(`GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n${CONNECT}`);
    const received = await connection.untilClosed();
    const [head = ''] = received.split('\r\n\r\n', 1);
    const length = Number(/Content-Length: ([0-9]+)/.exec(head)?.[1]);
    expect(length).toBeGreaterThan(SHARED_BODY_PIECE_BYTES);
    expect(received.slice(head.length + 4 + length)).toMatch(/^HTTP\/1.1 400/);
  });

  it('a client that asked for a tunnel is disconnected when nothing moves on the connection', async () => {
    const impatient = await new HttpWorld({ limits: { stallTimeoutMs: 50 } }).open();
    let openGate = (): void => undefined;
    impatient.api.gate = new Promise((resolve) => {
      openGate = resolve;
    });
    const connection = await RawConnection.open(impatient.port);
    connection.write(`${SEND}${CONNECT}`);
    expect(await connection.untilClosed()).toBe('');
    openGate();
    await impatient.close();
  });

  it('a client that asked for a tunnel does not keep a server open whose time to close is over', async () => {
    let openGate = (): void => undefined;
    world.api.gate = new Promise((resolve) => {
      openGate = resolve;
    });
    const connection = await open();
    connection.write(`${SEND}${CONNECT}`);
    await until(() => world.api.sent.length === 1);
    expect(await world.http.closeGracefully({ timeoutMs: 50, lingerMs: 0 })).toBe(false);
    openGate();
  });
});

it('a connection that stalls because its client does not read is reset: the system keeps nothing of it', async () => {
  const impatient = await new HttpWorld({ limits: { stallTimeoutMs: 500 } }).open();
  const connected = once(impatient.http.server, 'connection');
  const connection = await RawConnection.open(impatient.port);
  const [socket] = (await connected) as [Socket];
  const closed = once(socket, 'close');
  connection.pause();
  connection.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(30));
  await closed;
  connection.resume();
  const received = await connection.untilClosed();
  // An ordinary close would have sent the megabytes that the system had.
  expect(socket.bytesWritten).toBeGreaterThan(2 * MEGABYTE);
  expect(received.length).toBeLessThan(MEGABYTE);
  await impatient.close();
});

describe('a body of 100 MB', () => {
  const HEADS: readonly [string, string][] = [
    ['with its length', `${POST}Content-Length: ${100 * MEGABYTE}\r\n\r\n`],
    ['in chunks', `${POST}Transfer-Encoding: chunked\r\n\r\n${(100 * MEGABYTE).toString(16)}\r\n`],
    ['without a key', `POST /sms HTTP/1.1\r\nHost: x\r\nContent-Length: ${100 * MEGABYTE}\r\n\r\n`],
    ['to nowhere', `POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: ${100 * MEGABYTE}\r\n\r\n`],
  ];
  const STATUS = [413, 413, 401, 404];

  test.each(HEADS.map(([name, head], index) => [name, head, STATUS[index]] as const))(
    'a body of 100 MB gets a reply at once and is hardly read: %s',
    async (_name, head, status) => {
      let bytesRead = 0;
      world.http.server.once('connection', (socket) => {
        socket.once('close', () => {
          bytesRead = socket.bytesRead;
        });
      });
      const connection = await open();
      connection.write(head);
      const megabyte = Buffer.alloc(MEGABYTE, ' ');
      for (let sent = 0; sent < 100 && !connection.closed; sent += 1) {
        if (!connection.write(megabyte)) await connection.drained();
      }
      const received = await connection.untilClosed();
      expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(received).toMatch(/connection: close/i);
      expect(bytesRead).toBeLessThanOrEqual(4 * MEGABYTE);
      expect(world.api.sent).toEqual([]);
    },
  );
});

it('gives a server the limits of the reference', () => {
  expect(SERVER_LIMITS).toMatchObject({
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 30_000,
    connectionsCheckingIntervalMs: 2_000,
  });
});
