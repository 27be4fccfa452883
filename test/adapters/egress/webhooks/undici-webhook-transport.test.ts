import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { DeliveryResult } from '../../../../src/domain/webhooks/delivery-result.ts';
import { holdTimers, runTimers } from '../../../support/held-timers.ts';
import { LoopbackSink } from '../../../support/loopback-sink.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../../support/openssl.ts';
import type { Behaviour } from '../../../support/tls-receiver.ts';
import {
  closeAll,
  DEADLINE_MS,
  HOST,
  OK,
  openTransport,
  reaching,
  receive,
  requestTo,
  TIMEOUT_TOLERANCE_MS,
  timed,
  transportTo,
} from './local-receivers.ts';

afterEach(async () => {
  runTimers();
  await closeAll();
});

/** Sends two requests in a row. The receiver responds to the first, and behaves as given to all others. */
async function sendTwice(behave: Behaviour) {
  const receiver = await receive((socket, request) => {
    if (receiver.requests.length === 1) socket.write(OK);
    else behave(socket, request);
  });
  const transport = transportTo(receiver.port);
  await transport.send(requestTo(receiver.port));
  return { receiver, second: await transport.send(requestTo(receiver.port)) };
}

describe.skipIf(!hasOpenssl)(`the webhook transport (skipped when ${OPENSSL_MISSING})`, () => {
  it('sends one POST with the given headers and body, and asks for nothing else', async () => {
    const receiver = await receive((socket) => socket.write(OK));
    const result = await transportTo(receiver.port).send(requestTo(receiver.port, '/hook?a=1#part'));
    expect(result).toMatchObject({ kind: 'responded', status: 200, retryAfterMs: null });
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

  it('uses one connection for requests one after the other', async () => {
    const receiver = await receive((socket) => socket.write(OK));
    const transport = transportTo(receiver.port);
    for (let at = 0; at < 20; at += 1) await transport.send(requestTo(receiver.port, `/hook/${at}`));
    expect(receiver.requests).toHaveLength(20);
    expect(receiver.connections).toBe(1);
  });

  it('opens no more connections than requests are in flight', async () => {
    const receiver = await receive((socket) => socket.write(OK));
    const transport = transportTo(receiver.port);
    for (let round = 0; round < 10; round += 1) {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, number) =>
          transport.send(requestTo(receiver.port, `/hook?of=${number}`)),
        ),
      );
      expect(results.map(({ kind }) => kind)).toEqual(Array(20).fill('responded'));
    }
    expect(receiver.connections).toBe(20);
  });

  it('gives a request ten seconds', async () => {
    const receiver = await receive(() => undefined);
    const transport = openTransport(reaching(receiver.port));
    holdTimers();
    const arrived = receiver.nextRequest();
    let result: DeliveryResult | null = null;
    const sent = transport.send(requestTo(receiver.port)).then((given) => {
      result = given;
    });
    await arrived;
    await vi.advanceTimersByTimeAsync(9_999);
    expect(result).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    await sent;
    expect(result).toMatchObject({ kind: 'failed', reason: 'timeout' });
  });

  it('resolves with a failed result for a request that cannot be sent', async () => {
    const receiver = await receive((socket) => socket.write(OK));
    const transport = transportTo(receiver.port);
    const good = requestTo(receiver.port);
    expect(await transport.send({ ...good, url: 'not a url' })).toMatchObject({ reason: 'address-refused' });
    expect(await transport.send({ ...good, headers: { 'X-Bad': 'a\r\nX-Injected: 1' } })).toMatchObject({
      reason: 'protocol',
    });
    expect(await transport.send({ ...good, headers: { 'bad name': 'a' } })).toMatchObject({
      reason: 'protocol',
    });
    expect(receiver.requests).toEqual([]);
  });

  it('sends a request once more when a connection that was used before is closed without a response', async () => {
    const served = new Map<unknown, number>();
    const receiver = await receive((socket) => {
      const count = (served.get(socket) ?? 0) + 1;
      served.set(socket, count);
      if (count === 1) socket.write(OK);
      else socket.destroy();
    });
    const transport = transportTo(receiver.port);
    for (let number = 1; number <= 3; number += 1) {
      expect(await transport.send(requestTo(receiver.port))).toMatchObject({
        kind: 'responded',
        status: 200,
      });
    }
    expect([served.size, receiver.requests.length]).toEqual([3, 5]);
  });

  it('sends a request once more on a new connection, and not on another that was used before', async () => {
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
      if (first.length === 2) for (const respond of first) respond();
    });
    const transport = transportTo(receiver.port);
    await Promise.all([transport.send(requestTo(receiver.port)), transport.send(requestTo(receiver.port))]);
    expect(receiver.connections).toBe(2);
    expect(await transport.send(requestTo(receiver.port))).toMatchObject({ kind: 'responded', status: 200 });
    expect(receiver.connections).toBe(3);
  });

  it('sends a request no more than twice, however the second time ends', async () => {
    const { receiver, second } = await sendTwice((socket) => socket.destroy());
    expect(second).toMatchObject({ kind: 'failed', reason: 'connection' });
    expect(receiver.requests).toHaveLength(3);
  });

  it('sends a request once when the response on a connection that was used before is no HTTP', async () => {
    const { receiver, second } = await sendTwice((socket) => socket.write('no response at all\r\n\r\n'));
    expect(second).toMatchObject({ kind: 'failed', reason: 'protocol' });
    expect(receiver.requests).toHaveLength(2);
  });

  it('has one deadline for both times that a request is sent', async () => {
    const held: TLSSocket[] = [];
    const receiver = await receive((socket) => held.push(socket));
    const transport = openTransport(reaching(receiver.port));
    let arrived = receiver.nextRequest();
    const first = transport.send(requestTo(receiver.port));
    await arrived;
    held[0]?.write(OK);
    await first;
    holdTimers();
    arrived = receiver.nextRequest();
    const sent = transport.send(requestTo(receiver.port));
    await arrived;
    await vi.advanceTimersByTimeAsync(7_000);
    arrived = receiver.nextRequest();
    held[1]?.destroy();
    await arrived;
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await sent).toEqual({ kind: 'failed', reason: 'timeout' });
  });

  it('sends nothing more once the deadline has passed on a connection that was in use', async () => {
    const held: TLSSocket[] = [];
    const receiver = await receive((socket) => {
      if (receiver.requests.length === 1) socket.write(OK);
      else held.push(socket);
    });
    const transport = transportTo(receiver.port, { timeoutMs: DEADLINE_MS });
    await transport.send(requestTo(receiver.port));
    expect(await transport.send(requestTo(receiver.port))).toEqual({ kind: 'failed', reason: 'timeout' });
    await transport.close();
    expect([receiver.requests.length, receiver.connections, held.length]).toEqual([2, 1, 1]);
  });

  it('does not use a connection again on which a response is still to come', async () => {
    const receiver = await receive((socket) => {
      if (receiver.requests.length > 1) socket.write(OK);
    });
    const transport = transportTo(receiver.port, { timeoutMs: DEADLINE_MS });
    expect(await transport.send(requestTo(receiver.port))).toMatchObject({ reason: 'timeout' });
    expect(await transport.send(requestTo(receiver.port))).toMatchObject({ kind: 'responded', status: 200 });
    expect(receiver.connections).toBe(2);
  });

  it('does not take a second response in the same packet for another request', async () => {
    const receiver = await receive((socket) => {
      const isFirst = receiver.requests.length === 1;
      socket.write(isFirst ? `${OK}HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n` : OK);
    });
    const transport = transportTo(receiver.port);
    const results = await Promise.all(
      Array.from({ length: 60 }, () => transport.send(requestTo(receiver.port))),
    );
    expect(results.map((result) => result.kind === 'responded' && result.status)).toEqual(
      Array(60).fill(200),
    );
  });

  it('gives 3,000 requests that cannot be sent their results, without a stack overflow', async () => {
    const transport = transportTo(443);
    const results = await Promise.all(
      Array.from({ length: 3_000 }, () =>
        transport.send({ ...requestTo(443), headers: { 'bad name': 'x' } }),
      ),
    );
    expect(results).toEqual(Array(3_000).fill({ kind: 'failed', reason: 'protocol' }));
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
    holdTimers();
    await transport.send(requestTo(receiver.port));
    await transport.close();
    expect(vi.getTimerCount()).toBe(0);
    await isClosed;
  });

  it('sends a request once on a new connection that fails', async () => {
    const receiver = await receive((socket) => socket.destroy());
    const result = await transportTo(receiver.port).send(requestTo(receiver.port));
    expect(result).toMatchObject({ kind: 'failed', reason: 'connection' });
    expect(receiver.requests).toHaveLength(1);
  });

  it('closes once the requests in flight have ended, and sends none after', async () => {
    let respond = (): void => undefined;
    const receiver = await receive((socket) => {
      respond = () => socket.write(OK);
    });
    const transport = transportTo(receiver.port);
    const arrived = receiver.nextRequest();
    const sent = transport.send(requestTo(receiver.port));
    await arrived;
    const closed = transport.close();
    expect(await transport.send(requestTo(receiver.port))).toMatchObject({
      kind: 'failed',
      reason: 'connection',
    });
    respond();
    expect(await sent).toMatchObject({ kind: 'responded', status: 200 });
    await closed;
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
    const transport = transportTo(sink.port, { timeoutMs: DEADLINE_MS });
    const { result, durationMs } = await timed(transport.send(requestTo(sink.port)));
    expect(result).toEqual({ kind: 'failed', reason: 'timeout' });
    expect(durationMs).toBeLessThanOrEqual(DEADLINE_MS + TIMEOUT_TOLERANCE_MS);
  });

  it('a closed port is a connection that failed', async () => {
    const gone = await LoopbackSink.open();
    await gone.close();
    const result = await transportTo(gone.port).send(requestTo(gone.port));
    expect(result).toMatchObject({ kind: 'failed', reason: 'connection' });
  });

  it('a lookup that never ends is a timeout', async () => {
    const transport = transportTo(sink.port, {
      timeoutMs: DEADLINE_MS,
      lookup: () => new Promise(() => undefined),
    });
    const result = await transport.send(requestTo(sink.port));
    expect(result).toMatchObject({ kind: 'failed', reason: 'timeout' });
  });
});
