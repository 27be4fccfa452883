import type { TLSSocket, TlsOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  UndiciWebhookTransport,
  type UndiciWebhookTransportOptions,
} from '../../../src/adapters/undici/undici-webhook-transport.ts';
import type { WebhookAnswer } from '../../../src/application/ports/webhook-transport.ts';
import { withCertificateAuthority } from '../../support/certificates.ts';
import { LoopbackSink } from '../../support/loopback-sink.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../support/openssl.ts';
import { type Behaviour, TlsReceiver } from '../../support/tls-receiver.ts';

const HOST = 'receiver.example.com';
const DEADLINE_MS = 300;
const ROOM_MS = 500;
const DRIP_MS = 20;
/** What the system may take over from an endless body into its own buffers before the receiver is stopped. */
const SYSTEM_BUFFER_BYTES = 16 * 1_024 * 1_024;
/** What the process may grow by while the bomb itself would need more. */
const MEMORY_GROWTH_BYTES = 40_000_000;
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

const certificates = hasOpenssl
  ? withCertificateAuthority((authority) => ({
      ca: authority.ca,
      good: authority.issue(HOST, 2),
      expired: authority.issue(HOST, -1),
      otherName: authority.issue('other.example.com', 2),
      selfSigned: authority.selfSigned(HOST),
    }))
  : null;

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const one of opened.splice(0)) await one.close();
});

async function receive(behave: Behaviour, options: TlsOptions = {}): Promise<TlsReceiver> {
  const receiver = await TlsReceiver.open({ ...certificates?.good, ...options }, behave);
  opened.push(receiver);
  return receiver;
}

function transportTo(port: number, options: UndiciWebhookTransportOptions = {}): UndiciWebhookTransport {
  return open({ timeoutMs: DEADLINE_MS, ...reaching(port), ...options });
}

function open(options: UndiciWebhookTransportOptions): UndiciWebhookTransport {
  const transport = new UndiciWebhookTransport(options);
  opened.unshift(transport);
  return transport;
}

/** What a transport needs to reach a receiver of this machine. */
function reaching(port: number): UndiciWebhookTransportOptions {
  return {
    allowedNetworks: ['127.0.0.1/32'],
    allowedPorts: [port],
    ca: certificates?.ca ?? '',
    lookup: (_hostname, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  };
}

const postOf = (port: number, path = '/hook') => ({
  url: `https://${HOST}:${port}${path}`,
  headers: { 'Content-Type': 'application/json', 'X-SVC-Webhook-Secret': 's3cret' },
  body: '{"text":"سڵاو 😀"}',
});

async function answerOf(behave: Behaviour, options: TlsOptions = {}): Promise<WebhookAnswer> {
  const receiver = await receive(behave, options);
  return transportTo(receiver.port).post(postOf(receiver.port));
}

describe.skipIf(!hasOpenssl)(`posting (skipped when ${OPENSSL_MISSING})`, () => {
  it('sends one POST with the given headers and body, and asks for nothing else', async () => {
    const receiver = await receive((socket) => socket.write(OK));
    const answer = await transportTo(receiver.port).post(postOf(receiver.port, '/hook?a=1#part'));
    expect(answer).toMatchObject({ kind: 'answered', status: 200, retryAfterMs: null });
    expect(answer.durationMs).toBeGreaterThan(0);
    expect(receiver.requests).toHaveLength(1);
    const [request] = receiver.requests;
    expect(request?.body).toBe('{"text":"سڵاو 😀"}');
    expect(request?.head.split('\r\n')).toEqual([
      'POST /hook?a=1 HTTP/1.1',
      `host: ${HOST}:${receiver.port}`,
      'connection: keep-alive',
      'User-Agent: Barid-Webhooks/1.0',
      'Content-Type: application/json',
      'X-SVC-Webhook-Secret: s3cret',
      'content-length: 24',
    ]);
  });

  it('uses one connection for posts one after the other', async () => {
    const receiver = await receive((socket) => socket.write(OK));
    const transport = transportTo(receiver.port);
    for (let at = 0; at < 20; at += 1) await transport.post(postOf(receiver.port, `/hook/${at}`));
    expect(receiver.requests).toHaveLength(20);
    expect(receiver.connections).toBe(1);
  });

  it('opens no more connections than posts are under way to one endpoint', async () => {
    const receiver = await receive((socket) => socket.write(OK));
    const transport = transportTo(receiver.port, { timeoutMs: 10_000 });
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => transport.post(postOf(receiver.port))),
    );
    expect(answers.filter((answer) => answer.kind === 'answered')).toHaveLength(500);
    expect(receiver.connections).toBeLessThanOrEqual(50);
  });

  it('has ten seconds for an exchange', async () => {
    const receiver = await receive(() => undefined);
    const transport = open(reaching(receiver.port));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const arrived = receiver.nextRequest();
    let answer: WebhookAnswer | null = null;
    const posted = transport.post(postOf(receiver.port)).then((given) => {
      answer = given;
    });
    await arrived;
    await vi.advanceTimersByTimeAsync(9_999);
    expect(answer).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    await posted;
    expect(answer).toMatchObject({ kind: 'failed', reason: 'timeout' });
  });

  it('never rejects, whatever it is given', async () => {
    const receiver = await receive((socket) => socket.write(OK));
    const transport = transportTo(receiver.port);
    const good = postOf(receiver.port);
    expect(await transport.post({ ...good, url: 'not a url' })).toMatchObject({ reason: 'address-refused' });
    expect(await transport.post({ ...good, headers: { 'X-Bad': 'a\r\nX-Injected: 1' } })).toMatchObject({
      reason: 'protocol',
    });
    expect(await transport.post({ ...good, headers: { 'bad name': 'a' } })).toMatchObject({
      reason: 'protocol',
    });
    expect(receiver.requests).toEqual([]);
  });

  it('ends posts in flight before it closes, and takes none after', async () => {
    let answer = (): void => undefined;
    const receiver = await receive((socket) => {
      answer = () => socket.write(OK);
    });
    const transport = transportTo(receiver.port, { timeoutMs: 10_000 });
    const arrived = receiver.nextRequest();
    const posted = transport.post(postOf(receiver.port));
    await arrived;
    const closed = transport.close();
    expect(await transport.post(postOf(receiver.port))).toMatchObject({ kind: 'failed', reason: 'busy' });
    answer();
    expect(await posted).toMatchObject({ kind: 'answered', status: 200 });
    await closed;
  });
});

describe.skipIf(!hasOpenssl)(`a receiver that hangs (skipped when ${OPENSSL_MISSING})`, () => {
  it('holds up neither another path nor another host, and its own queue ends', async () => {
    const hanging = await receive(() => undefined);
    const quick = await receive((socket, { head }) => {
      if (!head.startsWith('POST /slow ')) socket.write(OK);
    });
    const transport = transportTo(hanging.port, {
      allowedPorts: [hanging.port, quick.port],
      timeoutMs: 2_000,
      queueMs: 1_000,
    });
    const stuck = Array.from({ length: 120 }, (_, at) =>
      transport.post(at % 2 === 0 ? postOf(hanging.port) : postOf(quick.port, '/slow')),
    );
    const started = performance.now();
    const others = await Promise.all(
      Array.from({ length: 100 }, () => transport.post(postOf(quick.port, '/quick'))),
    );
    expect(others.every((answer) => answer.kind === 'answered')).toBe(true);
    expect(performance.now() - started).toBeLessThan(2_000);
    const reasons = (await Promise.all(stuck)).map((answer) => answer.kind === 'failed' && answer.reason);
    expect(reasons.filter((reason) => reason === 'timeout')).toHaveLength(100);
    expect(reasons.filter((reason) => reason === 'busy')).toHaveLength(20);
  });
});

describe.skipIf(!hasOpenssl)(`the receiver zoo (skipped when ${OPENSSL_MISSING})`, () => {
  const answered = (status: number, retryAfterMs: number | null = null) => ({
    kind: 'answered',
    status,
    retryAfterMs,
  });
  const failed = (reason: string) => ({ kind: 'failed', reason });
  const writing = (text: string): Behaviour => {
    return (socket) => socket.write(text);
  };
  const status = (line: string, headers = ''): Behaviour =>
    writing(`HTTP/1.1 ${line}\r\n${headers}content-length: 0\r\n\r\n`);

  const zoo: readonly [string, Behaviour, object][] = [
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
    ['hangs inside the body', writing('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'), answered(200)],
    ['drips interim answers', (socket) => drip(socket, '', 'HTTP/1.1 102 Wait\r\n\r\n'), failed('protocol')],
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
    ['sends an endless body', endless('HTTP/1.1 200 OK\r\n\r\n'), answered(200)],
    ['sends a gigabyte', endless('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n'), answered(200)],
  ];

  it.each(zoo)('one that %s', async (_, behave, expected) => {
    let writtenMax = 0;
    const receiver = await receive((socket, request) => {
      socket.once('close', () => {
        writtenMax = Math.max(writtenMax, socket.bytesWritten);
      });
      behave(socket, request);
    });
    const transport = transportTo(receiver.port);
    const started = performance.now();
    const { durationMs, ...answer } = await transport.post(postOf(receiver.port));
    expect(performance.now() - started).toBeLessThanOrEqual(DEADLINE_MS + ROOM_MS);
    expect(durationMs).toBeLessThanOrEqual(DEADLINE_MS + ROOM_MS);
    expect(answer).toEqual(expected);
    await transport.close();
    await receiver.close();
    expect(writtenMax).toBeLessThan(SYSTEM_BUFFER_BYTES);
  });

  it('one that sends an endless reason takes time, not memory', async () => {
    const before = process.memoryUsage().rss;
    expect(await answerOf(endless('HTTP/1.1 200 '))).toMatchObject(failed('timeout'));
    expect(process.memoryUsage().rss - before).toBeLessThan(MEMORY_GROWTH_BYTES);
  });

  it('one that answers 429 with a date to come', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const answer = await answerOf(status('429 Slow', `Retry-After: ${date}\r\n`));
    const retryAfterMs = answer.kind === 'answered' ? answer.retryAfterMs : null;
    expect(retryAfterMs).toBeGreaterThan(55_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('one that sends a gzip bomb: nothing is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(65_536);
    const before = process.memoryUsage().rss;
    const answer = await answerOf((socket) => {
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
    expect(await transport.post(postOf(receiver.port))).toMatchObject(answered(code));
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
    const answer = await transportTo(receiver.port).post(postOf(receiver.port));
    expect(answer).toMatchObject(failed('tls'));
    expect(receiver.requests).toEqual([]);
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('one that speaks %s at most gets no request', async (version) => {
    const receiver = await receive(writing(OK), {
      minVersion: version,
      maxVersion: version,
      ciphers: 'ALL:@SECLEVEL=0',
    });
    const answer = await transportTo(receiver.port).post(postOf(receiver.port));
    expect(answer).toMatchObject(failed('tls'));
    expect(receiver.requests).toEqual([]);
  });

  it('one that wants a certificate of ours gets no request', async () => {
    const receiver = await receive(writing(OK), {
      requestCert: true,
      rejectUnauthorized: true,
      ca: certificates?.ca,
    });
    const answer = await transportTo(receiver.port).post(postOf(receiver.port));
    expect(answer.kind).toBe('failed');
    expect(receiver.requests).toEqual([]);
  });

  it('certificates are checked even when the environment says otherwise', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const answer = await answerOf(writing(OK), { ...certificates?.selfSigned });
    vi.unstubAllEnvs();
    expect(answer).toMatchObject(failed('tls'));
  });
});

describe.skipIf(!hasOpenssl)(`below HTTP (skipped when ${OPENSSL_MISSING})`, () => {
  let sink: LoopbackSink;
  beforeAll(async () => {
    sink = await LoopbackSink.open();
  });
  afterAll(async () => {
    await sink.close();
  });

  it('a receiver that never speaks TLS is a timeout', async () => {
    const answer = await transportTo(sink.port).post(postOf(sink.port));
    expect(answer).toMatchObject({ kind: 'failed', reason: 'timeout' });
    expect(answer.durationMs).toBeLessThanOrEqual(DEADLINE_MS + ROOM_MS);
  });

  it('a closed port is a connection that failed', async () => {
    const gone = await LoopbackSink.open();
    await gone.close();
    const answer = await transportTo(gone.port).post(postOf(gone.port));
    expect(answer).toMatchObject({ kind: 'failed', reason: 'connection' });
  });

  it('a lookup that never answers is a timeout', async () => {
    const transport = transportTo(sink.port, { lookup: () => undefined });
    const answer = await transport.post(postOf(sink.port));
    expect(answer).toMatchObject({ kind: 'failed', reason: 'timeout' });
  });
});

/** Writes a beginning, then a piece every now and then, for as long as the other side listens. */
function drip(socket: TLSSocket, beginning: string, piece: string): void {
  socket.write(beginning);
  const timer = setInterval(() => socket.write(piece), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

/** Writes a beginning and then without an end, as fast as the other side takes it. */
function endless(beginning: string): Behaviour {
  const piece = Buffer.alloc(65_536, 'a');
  return (socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    socket.write(beginning);
    more();
  };
}
