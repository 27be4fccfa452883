import type { TLSSocket, TlsOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LoopbackSink } from '../../../support/loopback-sink.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../../support/openssl.ts';
import type { Behaviour } from '../../../support/tls-receiver.ts';
import {
  certificates,
  closeAll,
  DEADLINE_MS,
  FAR_DEADLINE_MS,
  OK,
  receive,
  requestTo,
  resultOf,
  TIMEOUT_TOLERANCE_MS,
  timed,
  transportTo,
} from './local-receivers.ts';

const DRIP_MS = 20;
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
/** What the system may take over from an endless body into its own buffers before the receiver is stopped. */
const SYSTEM_BUFFER_BYTES = 16 * 1_024 * 1_024;
/** What the process may grow by while the bomb itself would need more. */
const MEMORY_GROWTH_BYTES = 40_000_000;

afterEach(closeAll);

describe.skipIf(!hasOpenssl)(`the receiver zoo (skipped when ${OPENSSL_MISSING})`, () => {
  const responded = (status: number, retryAfterMs: number | null = null) => ({
    kind: 'responded',
    status,
    retryAfterMs,
  });
  const withBody = (status: number, responseStart: unknown) => ({ ...responded(status), responseStart });
  const FIRST_KIB = 'a'.repeat(1_024);
  const failed = (reason: string) => ({ kind: 'failed', reason });
  const writing = (text: string): Behaviour => {
    return (socket) => socket.write(text);
  };
  const status = (line: string, headers = ''): Behaviour =>
    writing(`HTTP/1.1 ${line}\r\n${headers}content-length: 0\r\n\r\n`);

  /** Receivers that never end an exchange themselves. */
  const slow: readonly [string, Behaviour, object][] = [
    ['hangs before the headers', () => undefined, failed('timeout')],
    ['hangs inside the headers', writing('HTTP/1.1 200 OK\r\nx-a: '), failed('timeout')],
    ['drips headers', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'), failed('timeout')],
    [
      'drips a body',
      (socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', 'x'),
      withBody(200, expect.stringMatching(/^x+$/)),
    ],
    [
      'drips a body after an error',
      (socket) => drip(socket, 'HTTP/1.1 503 No\r\ncontent-length: 100000\r\n\r\n', 'x'),
      withBody(503, expect.stringMatching(/^x+$/)),
    ],
    ['drips interim responses', (socket) => drip(socket, '', 'HTTP/1.1 102 Wait\r\n\r\n'), failed('timeout')],
    [
      'hangs inside the body',
      writing('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'),
      withBody(200, 'abc'),
    ],
  ];

  const zoo: readonly [string, Behaviour, object][] = [
    [
      'floods with interim responses',
      writing('HTTP/1.1 103 Hints\r\nlink: a\r\n\r\n'.repeat(5_000)),
      failed('protocol'),
    ],
    ['floods with 100', writing('HTTP/1.1 100 Continue\r\n\r\n'.repeat(5_000)), failed('connection')],
    [
      'sends an interim response, then the real one',
      writing(`HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\n${OK}`),
      withBody(200, 'ok'),
    ],
    [
      'switches protocols',
      writing('HTTP/1.1 101 Switch\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      failed('connection'),
    ],
    ['resets', (socket) => socket.destroy(), failed('connection')],
    [
      'resets inside the headers',
      (socket) => socket.write('HTTP/1.1 200', () => socket.destroy()),
      failed('connection'),
    ],
    ['half-closes', (socket) => socket.end(), failed('connection')],
    [
      'resets inside the body',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc', () => socket.destroy()),
      withBody(200, 'abc'),
    ],
    ['responds with 200', writing(OK), withBody(200, 'ok')],
    ['responds with 204', writing('HTTP/1.1 204 No Content\r\n\r\n'), responded(204)],
    ['responds with 200 without a body', status('200 OK'), responded(200)],
    [
      'responds with 200 until it closes',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nbody'),
      withBody(200, 'body'),
    ],
    ['responds in HTTP/1.0', (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nok'), withBody(200, 'ok')],
    [
      'responds in chunks',
      writing('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'),
      withBody(200, 'a'),
    ],
    ['responds with 401', status('401 Unauthorized'), responded(401)],
    ['responds with 410', status('410 Gone'), responded(410)],
    ['responds with 429 and seconds', status('429 Slow', 'Retry-After: 17\r\n'), responded(429, 17_000)],
    [
      'responds with 503 and a date that has passed',
      status('503 No', 'Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n'),
      responded(503, 0),
    ],
    ['responds with 429 and nonsense', status('429 Slow', 'Retry-After: later\r\n'), responded(429)],
    ['responds with 500', status('500 Broken'), responded(500)],
    ['responds with 502', status('502 Bad'), responded(502)],
    ['responds with 999', status('999 What'), responded(999)],
    ['speaks HTTP/0.9', (socket) => socket.end('<html>ok</html>'), failed('protocol')],
    ['speaks garbage', writing('\u0000\u0001\u0002 garbage\r\n\r\n'), failed('protocol')],
    ['speaks another protocol', writing('220 mail.example.com ESMTP\r\n'), failed('protocol')],
    ['sends a broken header', writing('HTTP/1.1 200 OK\r\nno colon\r\n\r\n'), failed('protocol')],
    [
      'sends two lengths',
      writing('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na'),
      failed('protocol'),
    ],
    [
      'sends 199 headers and a length',
      writing(`HTTP/1.1 200 OK\r\n${'x-header: a value\r\n'.repeat(199)}content-length: 0\r\n\r\n`),
      responded(200),
    ],
    [
      'sends 2,000 headers',
      writing(`HTTP/1.1 200 OK\r\n${'x-header: a value\r\n'.repeat(2_000)}content-length: 0\r\n\r\n`),
      failed('protocol'),
    ],
    [
      'sends more headers than a response may have',
      writing(`HTTP/1.1 200 OK\r\n${'x-header: a value\r\n'.repeat(4_000)}content-length: 0\r\n\r\n`),
      failed('protocol'),
    ],
    ['sends one endless header', endless('HTTP/1.1 200 OK\r\nx-a: '), failed('protocol')],
    ['sends endless spaces in a header', endless('HTTP/1.1 200 OK\r\nx-a:', ' '), failed('protocol')],
    ['sends an endless reason', endless('HTTP/1.1 200 '), failed('protocol')],
    ['sends endless empty lines', endless('', '\r\n'), failed('protocol')],
    ['sends an endless body', endless('HTTP/1.1 200 OK\r\n\r\n'), withBody(200, FIRST_KIB)],
    [
      'sends a gigabyte',
      endless('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n'),
      withBody(200, FIRST_KIB),
    ],
    ['sends an endless extension of a chunk', endless(`${CHUNKED}5;a=`), responded(200)],
    ['sends an endless size of a chunk', endless(CHUNKED, '0'), responded(200)],
    ['sends an endless trailer', endless(`${CHUNKED}0\r\na: `), responded(200)],
  ];

  it.each(slow)('a request ends at its deadline when the receiver %s', async (_, behave, expected) => {
    const receiver = await receive(behave);
    const transport = transportTo(receiver.port, { timeoutMs: DEADLINE_MS });
    const { result, durationMs } = await timed(transport.send(requestTo(receiver.port)));
    expect(result).toEqual(expected);
    // A timer counts from the beginning of its event loop round, which may be a little earlier.
    expect(durationMs).toBeGreaterThan(DEADLINE_MS / 2);
    expect(durationMs).toBeLessThanOrEqual(DEADLINE_MS + TIMEOUT_TOLERANCE_MS);
  });

  it.each(zoo)('a request ends with its result when the receiver %s', async (_, behave, expected) => {
    let writtenMax = 0;
    const receiver = await receive((socket, request) => {
      socket.once('close', () => {
        writtenMax = Math.max(writtenMax, socket.bytesWritten);
      });
      behave(socket, request);
    });
    const transport = transportTo(receiver.port);
    const { result, durationMs } = await timed(transport.send(requestTo(receiver.port)));
    expect(result).toEqual(expected);
    expect(durationMs).toBeLessThan(FAR_DEADLINE_MS);
    await transport.close();
    await receiver.close();
    expect(writtenMax).toBeLessThan(SYSTEM_BUFFER_BYTES);
  });

  it('a receiver that sends as much as it may in each response stays connected', async () => {
    const body = 'a'.repeat(32_000);
    const receiver = await receive(
      writing(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
    );
    const transport = transportTo(receiver.port);
    for (let request = 0; request < 10; request += 1) {
      expect(await transport.send(requestTo(receiver.port))).toMatchObject(responded(200));
    }
    expect(receiver.connections).toBe(1);
    await transport.close();
    await receiver.close();
  });

  it('a request ends with the time to wait when the receiver responds with 429 and a date to come', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const result = await resultOf(status('429 Slow', `Retry-After: ${date}\r\n`));
    const retryAfterMs = result.kind === 'responded' ? result.retryAfterMs : null;
    expect(retryAfterMs).toBeGreaterThan(55_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('the transport does not unpack a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(65_536);
    const before = process.memoryUsage().rss;
    const result = await resultOf((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    expect(result).toMatchObject(responded(200));
    expect(process.memoryUsage().rss - before).toBeLessThan(MEMORY_GROWTH_BYTES);
  });

  it.each([301, 302, 303, 307, 308])('the transport does not follow a redirect with %i', async (code) => {
    const sink = await LoopbackSink.open();
    const headers = `Location: https://127.0.0.1:${sink.port}/\r\n`;
    const receiver = await receive(status(`${code} Elsewhere`, headers));
    const transport = transportTo(receiver.port, { allowedPorts: [receiver.port, sink.port] });
    expect(await transport.send(requestTo(receiver.port))).toMatchObject(responded(code));
    expect(sink.connections).toBe(0);
    await sink.close();
  });

  const badTls: readonly [string, TlsOptions][] = [
    ['has expired', { ...certificates?.expired }],
    ['is for another name', { ...certificates?.otherName }],
    ['vouches only for itself', { ...certificates?.selfSigned }],
  ];
  it.each(badTls)('a receiver whose certificate %s gets no request', async (_, options) => {
    const receiver = await receive(writing(OK), options);
    const result = await transportTo(receiver.port).send(requestTo(receiver.port));
    expect(result).toMatchObject(failed('tls'));
    expect(receiver.requests).toEqual([]);
  });

  const ofAddress: readonly [string, TlsOptions, object][] = [
    ['of that address gets', { ...certificates?.ofAddress }, responded(200)],
    ['of localhost does not get', { ...certificates?.local }, failed('tls')],
    ['of a host name does not get', {}, failed('tls')],
  ];
  it.each(ofAddress)(
    'a receiver at an IP address with a certificate %s the request',
    async (_, options, expected) => {
      const receiver = await receive(writing(OK), options);
      const url = `https://127.0.0.1:${receiver.port}/hook`;
      const result = await transportTo(receiver.port).send({ ...requestTo(receiver.port), url });
      expect(result).toMatchObject(expected);
    },
  );

  it.each(['TLSv1', 'TLSv1.1'] as const)(
    'a receiver that speaks %s at most gets no request',
    async (version) => {
      const receiver = await receive(writing(OK), {
        minVersion: version,
        maxVersion: version,
        ciphers: 'ALL:@SECLEVEL=0',
      });
      const result = await transportTo(receiver.port).send(requestTo(receiver.port));
      expect(result).toMatchObject(failed('tls'));
      expect(receiver.requests).toEqual([]);
    },
  );

  it('a receiver that wants a client certificate gets no request', async () => {
    const receiver = await receive(writing(OK), {
      requestCert: true,
      rejectUnauthorized: true,
      ca: certificates?.ca,
    });
    const result = await transportTo(receiver.port).send(requestTo(receiver.port));
    expect(result.kind).toBe('failed');
    expect(receiver.requests).toEqual([]);
  });

  it('the transport checks certificates even when the environment says otherwise', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const result = await resultOf(writing(OK), { ...certificates?.selfSigned });
    vi.unstubAllEnvs();
    expect(result).toMatchObject(failed('tls'));
  });
});

/** Writes a beginning, then a piece every now and then, for as long as the other side listens. */
function drip(socket: TLSSocket, beginning: string, piece: string): void {
  socket.write(beginning);
  const timer = setInterval(() => socket.write(piece), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

/** Writes a beginning and then without an end, as fast as the other side takes it. */
function endless(beginning: string, filling = 'a'): Behaviour {
  const piece = Buffer.alloc(65_536, filling);
  return (socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    socket.write(beginning);
    more();
  };
}
