import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SERVER_LIMITS } from '../../../../src/adapters/http/server-limits.ts';
import { DEMO_API_KEY } from '../../../../src/bootstrap/config/demo-seed.ts';
import { HttpWorld } from '../http-world.ts';
import { RawConnection } from '../raw-connection.ts';

const BODY = '{"phoneNumber":"9647701234567","smsType":"verification","verificationCode":"123456"}';
const KEY = `Authorization: Bearer ${DEMO_API_KEY}`;
const OVERLOADED = { message: 'Too many requests are being served, try again shortly' };
const MEGABYTE = 1024 * 1024;
const FLOOD = 20_000;
const SERVED_AT_A_TIME = 8;
const OPEN_MAX = SERVER_LIMITS.connectionOpenRequestsMax;

let world: HttpWorld;
let openGate: () => void;
let connection: RawConnection;
/** The server's end of the connection. */
let socket: Socket;

async function start(limits: HttpWorldLimits = {}): Promise<void> {
  world = await new HttpWorld({ limits }).open();
  world.api.gate = new Promise((resolve) => {
    openGate = resolve;
  });
  const connected = once(world.http.server, 'connection');
  connection = await RawConnection.open(world.port);
  [socket] = (await connected) as [Socket];
}
type HttpWorldLimits = NonNullable<ConstructorParameters<typeof HttpWorld>[0]>['limits'] & object;

afterEach(async () => {
  openGate();
  connection.destroy();
  await world.close();
});

const send = (index: number, header = '') =>
  `POST /sms HTTP/1.1\r\nHost: x\r\n${header}${KEY}\r\nX-Request-Id: n${index}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const sends = (count: number) => Array.from({ length: count }, (_, index) => send(index)).join('');
const idsOf = (received: string) => received.match(/X-Request-Id: n[0-9]+/g) ?? [];
const idsTo = (count: number) => Array.from({ length: count }, (_, index) => `X-Request-Id: n${index}`);

/** Requests of other callers, each on a new connection. The server reads what came before them. */
async function others(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const startedAt = Date.now();
    const reply = await world.call('GET', '/info');
    expect(reply.status).toBe(200);
    expect(Date.now() - startedAt).toBeLessThan(2_000);
  }
}

async function untilServed(count: number): Promise<void> {
  while (world.api.sent.length < count) await others(1);
}

describe('a flood of one connection', () => {
  beforeEach(async () => {
    await start();
    // A round that a busy machine made long leaves a connection with one request.
    vi.spyOn(performance, 'now').mockReturnValue(0);
  });
  afterEach(() => void vi.restoreAllMocks());

  it('serves as many requests of a flood as a connection may have, a few at a time, in order, and others in between', async () => {
    const rssBefore = process.memoryUsage().rss;
    connection.write(sends(FLOOD));
    await untilServed(SERVED_AT_A_TIME);
    await others(50);
    expect(world.api.sent).toHaveLength(SERVED_AT_A_TIME);
    expect(socket.bytesRead).toBeLessThanOrEqual(MEGABYTE / 4);
    expect(process.memoryUsage().rss - rssBefore).toBeLessThan(50 * MEGABYTE);

    openGate();
    const received = await connection.untilClosed();
    expect(received.match(/HTTP\/1.1 200 OK/g)).toHaveLength(OPEN_MAX);
    expect(idsOf(received)).toEqual(idsTo(OPEN_MAX));
    expect(world.api.sent).toHaveLength(OPEN_MAX);
  });

  it('serves a request whose body came in pieces behind a full connection', async () => {
    const last = OPEN_MAX - 1;
    connection.write(sends(last) + send(last).slice(0, -10));
    await untilServed(SERVED_AT_A_TIME);
    connection.write(send(last).slice(-10));
    openGate();
    const received = await connection.until(new RegExp(`X-Request-Id: n${last}\r\n.*}$`, 's'));
    expect(idsOf(received)).toEqual(idsTo(OPEN_MAX));
    expect(world.api.sent).toHaveLength(OPEN_MAX);
  });

  it('serves no more requests of a connection that is gone', async () => {
    connection.write(sends(100));
    await untilServed(SERVED_AT_A_TIME);
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    openGate();
    await others(20);
    expect(world.api.sent).toHaveLength(SERVED_AT_A_TIME);
  });
});

describe('many connections whose requests wait', () => {
  // Each of those that flood holds some 40 KiB.
  beforeEach(() => start({ unreadBytesMax: MEGABYTE / 10 }));

  it('closes some of the address that has most, though their clients read, and none of another', async () => {
    connection.write(sends(8));
    const flooding = await Promise.all(
      Array.from({ length: 4 }, () => RawConnection.open(world.port, '127.0.0.9')),
    );
    for (const each of flooding) each.write(sends(OPEN_MAX));
    await Promise.race(flooding.map((each) => each.untilClosed()));
    openGate();
    const received = await connection.until(/X-Request-Id: n7\r\n.*}$/s);
    expect(idsOf(received)).toEqual(idsTo(8));
    for (const each of flooding) each.destroy();
  });
});

describe('more requests than the process serves at a time', () => {
  beforeEach(() => start({ requestsMax: 3, connectionRequestsMax: 10 }));

  it('replies 503 before it checks the key when the process is full, and serves /healthz', async () => {
    connection.write(sends(3));
    while (world.api.sent.length < 3) await world.call('GET', '/healthz');
    for (const [method, path] of [
      ['POST', '/sms'],
      ['GET', '/info'],
      ['GET', '/api/sms/track/sms-000000000000000000000001'],
      ['GET', '/sender-ids'],
      ['GET', '/international-sms-pricing'],
      ['GET', '/whatsapp/resources'],
      ['GET', '/readyz'],
      ['GET', '/openapi.json'],
    ] as const) {
      const reply = await world.call(method, path, { keyless: true });
      expect([path, reply.status]).toEqual([path, 503]);
      expect(reply.body).toEqual(OVERLOADED);
      expect(reply.headers['x-error-code']).toBe('overloaded');
      expect(reply.headers['retry-after']).toBe('1');
    }
    expect((await world.call('GET', '/healthz')).status).toBe(200);

    openGate();
    await connection.until(/X-Request-Id: n2\r\n.*}$/s);
    expect((await world.call('GET', '/info')).status).toBe(200);
    expect(world.api.sent).toHaveLength(3);
  });

  it('replies 503 in the order of the requests of a connection', async () => {
    connection.write(sends(5));
    await untilRejected(2);
    openGate();
    const received = await connection.until(/X-Request-Id: n4\r\n.*}$/s);
    expect(idsOf(received)).toEqual(idsTo(5));
    // Which of them find a place is decided when their bodies are complete.
    expect(received.match(/HTTP\/1.1 200/g)).toHaveLength(3);
    expect(received.match(/HTTP\/1.1 503/g)).toHaveLength(2);
  });

  it('frees the capacity of a request in flight when its client has left', async () => {
    connection.write(sends(3));
    while (world.api.sent.length < 3) await world.call('GET', '/healthz');
    const closed = once(socket, 'close');
    connection.destroy();
    await closed;
    expect((await world.call('GET', '/info')).status).toBe(503);
    openGate();
    await world.call('GET', '/healthz');
    expect((await world.call('GET', '/info')).status).toBe(200);
  });
});

async function untilRejected(count: number): Promise<void> {
  while (world.seen.filter(({ status }) => status === 503).length < count) {
    await world.call('GET', '/healthz');
  }
}
