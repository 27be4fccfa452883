import type { TLSSocket, TlsOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LoopbackSink } from '../../support/loopback-sink.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../support/openssl.ts';
import type { Behaviour } from '../../support/tls-receiver.ts';
import {
  certificates,
  closeAll,
  DEADLINE_MS,
  FAR_DEADLINE_MS,
  OK,
  ROOM_MS,
  receive,
  requestTo,
  resultOf,
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
  const answered = (status: number, retryAfterMs: number | null = null) => ({
    kind: 'responded',
    status,
    retryAfterMs,
  });
  const failed = (reason: string) => ({ kind: 'failed', reason });
  const writing = (text: string): Behaviour => {
    return (socket) => socket.write(text);
  };
  const status = (line: string, headers = ''): Behaviour =>
    writing(`HTTP/1.1 ${line}\r\n${headers}content-length: 0\r\n\r\n`);

  /** Those that never end an exchange themselves. */
  const slow: readonly [string, Behaviour, object][] = [
    ['hangs before the headers', () => undefined, failed('timeout')],
    ['hangs inside the headers', writing('HTTP/1.1 200 OK\r\nx-a: '), failed('timeout')],
    ['drips headers', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'), failed('timeout')],
    [
      'drips a body',
      (socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', 'x'),
      answered(200),
    ],
    [
      'drips a body after an error',
      (socket) => drip(socket, 'HTTP/1.1 503 No\r\ncontent-length: 100000\r\n\r\n', 'x'),
      answered(503),
    ],
    ['drips interim answers', (socket) => drip(socket, '', 'HTTP/1.1 102 Wait\r\n\r\n'), failed('timeout')],
    ['hangs inside the body', writing('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'), answered(200)],
  ];

  const zoo: readonly [string, Behaviour, object][] = [
    [
      'floods with interim answers',
      writing('HTTP/1.1 103 Hints\r\nlink: a\r\n\r\n'.repeat(5_000)),
      failed('protocol'),
    ],
    ['floods with 100', writing('HTTP/1.1 100 Continue\r\n\r\n'.repeat(5_000)), failed('connection')],
    [
      'sends an interim answer, then the real one',
      writing(`HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\n${OK}`),
      answered(200),
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
      answered(200),
    ],
    ['answers 200', writing(OK), answered(200)],
    ['answers 204', writing('HTTP/1.1 204 No Content\r\n\r\n'), answered(204)],
    ['answers 200 without a body', status('200 OK'), answered(200)],
    [
      'answers 200 until it closes',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nbody'),
      answered(200),
    ],
    ['answers in HTTP/1.0', (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nok'), answered(200)],
    [
      'answers in chunks',
      writing('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'),
      answered(200),
    ],
    ['answers 401', status('401 Unauthorized'), answered(401)],
    ['answers 410', status('410 Gone'), answered(410)],
    ['answers 429 with seconds', status('429 Slow', 'Retry-After: 17\r\n'), answered(429, 17_000)],
    [
      'answers 503 with a date that has passed',
      status('503 No', 'Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n'),
      answered(503, 0),
    ],
    ['answers 429 with nonsense', status('429 Slow', 'Retry-After: later\r\n'), answered(429)],
    ['answers 500', status('500 Broken'), answered(500)],
    ['answers 502', status('502 Bad'), answered(502)],
    ['answers 999', status('999 What'), answered(999)],
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
      'sends 2,000 headers',
      writing(`HTTP/1.1 200 OK\r\n${'x-header: a value\r\n'.repeat(2_000)}content-length: 0\r\n\r\n`),
      failed('protocol'),
    ],
    ['sends one endless header', endless('HTTP/1.1 200 OK\r\nx-a: '), failed('protocol')],
    ['sends endless spaces in a header', endless('HTTP/1.1 200 OK\r\nx-a:', ' '), failed('protocol')],
    ['sends an endless reason', endless('HTTP/1.1 200 '), failed('protocol')],
    ['sends endless empty lines', endless('', '\r\n'), failed('protocol')],
    ['sends an endless body', endless('HTTP/1.1 200 OK\r\n\r\n'), answered(200)],
    ['sends a gigabyte', endless('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n'), answered(200)],
    ['sends an endless extension of a chunk', endless(`${CHUNKED}5;a=`), answered(200)],
    ['sends an endless size of a chunk', endless(CHUNKED, '0'), answered(200)],
    ['sends an endless trailer', endless(`${CHUNKED}0\r\na: `), answered(200)],
  ];

  it.each(slow)('one that %s is left at the deadline', async (_, behave, expected) => {
    const receiver = await receive(behave);
    const transport = transportTo(receiver.port, { timeoutMs: DEADLINE_MS });
    const { result, durationMs } = await timed(transport.send(requestTo(receiver.port)));
    expect(result).toEqual(expected);
    // A timer counts from the beginning of the turn that sets it, which may be a little earlier.
    expect(durationMs).toBeGreaterThan(DEADLINE_MS / 2);
    expect(durationMs).toBeLessThanOrEqual(DEADLINE_MS + ROOM_MS);
  });

  it.each(zoo)('one that %s', async (_, behave, expected) => {
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

  it('one that sends as much as it may, post after post, stays connected', async () => {
    const body = 'a'.repeat(32_000);
    const receiver = await receive(
      writing(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
    );
    const transport = transportTo(receiver.port);
    for (let post = 0; post < 10; post += 1) {
      expect(await transport.send(requestTo(receiver.port))).toMatchObject(answered(200));
    }
    expect(receiver.connections).toBe(1);
    await transport.close();
    await receiver.close();
  });

  it('one that answers 429 with a date to come', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const answer = await resultOf(status('429 Slow', `Retry-After: ${date}\r\n`));
    const retryAfterMs = answer.kind === 'responded' ? answer.retryAfterMs : null;
    expect(retryAfterMs).toBeGreaterThan(55_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('one that sends a gzip bomb: nothing is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(65_536);
    const before = process.memoryUsage().rss;
    const answer = await resultOf((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    expect(answer).toMatchObject(answered(200));
    expect(process.memoryUsage().rss - before).toBeLessThan(MEMORY_GROWTH_BYTES);
  });

  it.each([301, 302, 303, 307, 308])('one that redirects with %i is not followed', async (code) => {
    const sink = await LoopbackSink.open();
    const headers = `Location: https://127.0.0.1:${sink.port}/\r\n`;
    const receiver = await receive(status(`${code} Elsewhere`, headers));
    const transport = transportTo(receiver.port, { allowedPorts: [receiver.port, sink.port] });
    expect(await transport.send(requestTo(receiver.port))).toMatchObject(answered(code));
    expect(sink.connections).toBe(0);
    await sink.close();
  });

  const badTls: readonly [string, TlsOptions][] = [
    ['has expired', { ...certificates?.expired }],
    ['is for another name', { ...certificates?.otherName }],
    ['vouches only for itself', { ...certificates?.selfSigned }],
  ];
  it.each(badTls)('one whose certificate %s gets no request', async (_, options) => {
    const receiver = await receive(writing(OK), options);
    const answer = await transportTo(receiver.port).send(requestTo(receiver.port));
    expect(answer).toMatchObject(failed('tls'));
    expect(receiver.requests).toEqual([]);
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('one that speaks %s at most gets no request', async (version) => {
    const receiver = await receive(writing(OK), {
      minVersion: version,
      maxVersion: version,
      ciphers: 'ALL:@SECLEVEL=0',
    });
    const answer = await transportTo(receiver.port).send(requestTo(receiver.port));
    expect(answer).toMatchObject(failed('tls'));
    expect(receiver.requests).toEqual([]);
  });

  it('one that wants a certificate of ours gets no request', async () => {
    const receiver = await receive(writing(OK), {
      requestCert: true,
      rejectUnauthorized: true,
      ca: certificates?.ca,
    });
    const answer = await transportTo(receiver.port).send(requestTo(receiver.port));
    expect(answer.kind).toBe('failed');
    expect(receiver.requests).toEqual([]);
  });

  it('certificates are checked even when the environment says otherwise', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const answer = await resultOf(writing(OK), { ...certificates?.selfSigned });
    vi.unstubAllEnvs();
    expect(answer).toMatchObject(failed('tls'));
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
