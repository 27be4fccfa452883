import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { WebhookAnswer } from '../../../src/application/ports/webhook-transport.ts';
import { LoopbackSink } from '../../support/loopback-sink.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../support/openssl.ts';
import type { Behaviour } from '../../support/tls-receiver.ts';
import {
  closeAll,
  DEADLINE_MS,
  HOST,
  OK,
  openTransport,
  postOf,
  ROOM_MS,
  reaching,
  receive,
  transportTo,
} from './local-receivers.ts';

afterEach(async () => {
  vi.useRealTimers();
  await closeAll();
});

/** Two posts one after the other, to a receiver that answers the first and behaves like this to all others. */
async function postTwice(behave: Behaviour) {
  const receiver = await receive((socket, request) => {
    if (receiver.requests.length === 1) socket.write(OK);
    else behave(socket, request);
  });
  const transport = transportTo(receiver.port);
  await transport.post(postOf(receiver.port));
  return { receiver, second: await transport.post(postOf(receiver.port)) };
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

  it('opens no more connections than posts are under way to one endpoint, whatever their queries', async () => {
    const receiver = await receive((socket) => socket.write(OK));
    const transport = transportTo(receiver.port);
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, number) => transport.post(postOf(receiver.port, `/hook?of=${number}`))),
    );
    expect(answers.filter((answer) => answer.kind === 'answered')).toHaveLength(500);
    expect(receiver.connections).toBeLessThanOrEqual(50);
  });

  it('has ten seconds for an exchange', async () => {
    const receiver = await receive(() => undefined);
    const transport = openTransport(reaching(receiver.port));
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

  it('posts once more when a connection that was in use is closed without a word', async () => {
    const served = new Map<unknown, number>();
    const receiver = await receive((socket) => {
      const count = (served.get(socket) ?? 0) + 1;
      served.set(socket, count);
      if (count === 1) socket.write(OK);
      else socket.destroy();
    });
    const transport = transportTo(receiver.port);
    for (let number = 1; number <= 3; number += 1) {
      expect(await transport.post(postOf(receiver.port))).toMatchObject({ kind: 'answered', status: 200 });
    }
    expect([served.size, receiver.requests.length]).toEqual([3, 5]);
  });

  it('posts it once more on a connection that is new, and not on another that was in use', async () => {
    const inUse = new Set<unknown>();
    const first: (() => void)[] = [];
    const receiver = await receive((socket) => {
      if (inUse.has(socket)) {
        socket.destroy();
        return;
      }
      inUse.add(socket);
      if (first.length > 1) socket.write(OK);
      else first.push(() => socket.write(OK));
      if (first.length === 2) for (const answer of first) answer();
    });
    const transport = transportTo(receiver.port);
    await Promise.all([transport.post(postOf(receiver.port)), transport.post(postOf(receiver.port))]);
    expect(receiver.connections).toBe(2);
    expect(await transport.post(postOf(receiver.port))).toMatchObject({ kind: 'answered', status: 200 });
    expect(receiver.connections).toBe(3);
  });

  it('posts no more than twice, whatever becomes of the second time', async () => {
    const { receiver, second } = await postTwice((socket) => socket.destroy());
    expect(second).toMatchObject({ kind: 'failed', reason: 'connection' });
    expect(receiver.requests).toHaveLength(3);
  });

  it('posts but once when a connection that was in use answers what is no answer', async () => {
    const { receiver, second } = await postTwice((socket) => socket.write('no answer at all\r\n\r\n'));
    expect(second).toMatchObject({ kind: 'failed', reason: 'protocol' });
    expect(receiver.requests).toHaveLength(2);
  });

  it('has one deadline for both times, and says how long both took', async () => {
    const held: TLSSocket[] = [];
    const receiver = await receive((socket) => held.push(socket));
    const transport = openTransport(reaching(receiver.port));
    let arrived = receiver.nextRequest();
    const first = transport.post(postOf(receiver.port));
    await arrived;
    held[0]?.write(OK);
    await first;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    arrived = receiver.nextRequest();
    const posted = transport.post(postOf(receiver.port));
    await arrived;
    await vi.advanceTimersByTimeAsync(7_000);
    arrived = receiver.nextRequest();
    held[1]?.destroy();
    await arrived;
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await posted).toEqual({ kind: 'failed', reason: 'timeout', durationMs: 10_000 });
  });

  it('does not use a connection again on which an answer is still owed', async () => {
    const receiver = await receive((socket) => {
      if (receiver.requests.length > 1) socket.write(OK);
    });
    const transport = transportTo(receiver.port, { timeoutMs: DEADLINE_MS });
    expect(await transport.post(postOf(receiver.port))).toMatchObject({ reason: 'timeout' });
    expect(await transport.post(postOf(receiver.port))).toMatchObject({ kind: 'answered', status: 200 });
    expect(receiver.connections).toBe(2);
  });

  it("takes a second answer in the same breath for nobody's", async () => {
    const receiver = await receive((socket) => {
      const isFirst = receiver.requests.length === 1;
      socket.write(isFirst ? `${OK}HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n` : OK);
    });
    const transport = transportTo(receiver.port);
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => transport.post(postOf(receiver.port))),
    );
    expect(answers.map((answer) => answer.kind === 'answered' && answer.status)).toEqual(Array(60).fill(200));
  });

  it('tells everybody of a long line that cannot be posted', async () => {
    const held: TLSSocket[] = [];
    const receiver = await receive((socket) => held.push(socket));
    const transport = transportTo(receiver.port, { timeoutMs: 60_000, queueMs: 60_000 });
    const good = Array.from({ length: 50 }, () => transport.post(postOf(receiver.port)));
    while (held.length < 50) await receiver.nextRequest();
    const bad = Array.from({ length: 3_000 }, () =>
      transport.post({ ...postOf(receiver.port), headers: { 'bad name': 'x' } }),
    );
    for (const socket of held) socket.write(OK);
    expect((await Promise.all(good)).map(({ kind }) => kind)).toEqual(Array(50).fill('answered'));
    expect((await Promise.all(bad)).map((answer) => answer.kind === 'failed' && answer.reason)).toEqual(
      Array(3_000).fill('protocol'),
    );
  });

  it('leaves no timer and no connection behind', async () => {
    let closed = (): void => undefined;
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const receiver = await receive((socket) => {
      socket.once('close', closed);
      socket.write(OK);
    });
    const transport = transportTo(receiver.port);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await transport.post(postOf(receiver.port));
    await transport.close();
    expect(vi.getTimerCount()).toBe(0);
    await isClosed;
  });

  it('is closed once all answers are handed over', async () => {
    const transport = transportTo(443);
    const order: string[] = [];
    const posted = transport.post({ ...postOf(443), headers: { 'bad name': 'x' } });
    void posted.then(() => order.push('answered'));
    // By now it is answered, and not handed over yet.
    await Promise.resolve();
    await transport.close().then(() => order.push('closed'));
    expect(order).toEqual(['answered', 'closed']);
  });

  it('posts no more than once on a connection of its own that fails', async () => {
    const receiver = await receive((socket) => socket.destroy());
    const answer = await transportTo(receiver.port).post(postOf(receiver.port));
    expect(answer).toMatchObject({ kind: 'failed', reason: 'connection' });
    expect(receiver.requests).toHaveLength(1);
  });

  it('ends posts in flight before it closes, and takes none after', async () => {
    let answer = (): void => undefined;
    const receiver = await receive((socket) => {
      answer = () => socket.write(OK);
    });
    const transport = transportTo(receiver.port);
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
  it('holds up neither another path nor another host, and what waits for it is told so', async () => {
    const hanging = await receive(() => undefined);
    const quick = await receive((socket, { head }) => {
      if (!head.startsWith('POST /slow ')) socket.write(OK);
    });
    const transport = transportTo(hanging.port, {
      allowedPorts: [hanging.port, quick.port],
      timeoutMs: 60_000,
      queueMs: 100,
    });
    const stuck = Array.from({ length: 120 }, (_, at) =>
      transport.post(at % 2 === 0 ? postOf(hanging.port) : postOf(quick.port, '/slow')),
    );
    const others = Array.from({ length: 40 }, () => transport.post(postOf(quick.port, '/quick')));
    expect((await Promise.all(others)).map((answer) => answer.kind)).toEqual(Array(40).fill('answered'));
    const waited = await Promise.all(stuck.slice(100));
    expect(waited).toEqual(Array(20).fill({ kind: 'failed', reason: 'busy', durationMs: 0 }));
    expect(await transport.post(postOf(hanging.port))).toMatchObject({ reason: 'busy' });
    await Promise.all([hanging.close(), quick.close()]);
    const held = await Promise.all(stuck.slice(0, 100));
    expect(held.map((answer) => answer.kind === 'failed' && answer.reason)).toEqual(
      Array(100).fill('connection'),
    );
  });
});

describe.skipIf(!hasOpenssl)(`an origin that hangs on many paths (skipped when ${OPENSSL_MISSING})`, () => {
  it('gets no more than its own slots, however often others gave up waiting for one', async () => {
    const hanging = await receive(() => undefined);
    const transport = transportTo(hanging.port, { timeoutMs: 60_000, queueMs: 100 });
    const postTo = (path: number, count: number) =>
      Array.from({ length: count }, () => transport.post(postOf(hanging.port, `/${path}`)));
    const held = [1, 2, 3, 4].flatMap((path) => postTo(path, 50));
    while (hanging.requests.length < 200) await hanging.nextRequest();
    for (const path of [4, 5, 5, 4]) {
      expect(await Promise.all(postTo(path, 2))).toEqual(
        Array(2).fill({ kind: 'failed', reason: 'busy', durationMs: 0 }),
      );
    }
    await hanging.close();
    await Promise.all(held);
    expect(hanging.requests).toHaveLength(200);
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
    const answer = await transportTo(sink.port, { timeoutMs: DEADLINE_MS }).post(postOf(sink.port));
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
    const transport = transportTo(sink.port, {
      timeoutMs: DEADLINE_MS,
      lookup: () => new Promise(() => undefined),
    });
    const answer = await transport.post(postOf(sink.port));
    expect(answer).toMatchObject({ kind: 'failed', reason: 'timeout' });
  });
});
