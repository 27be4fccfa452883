import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createServer } from 'node:tls';
import { Client } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { HEADER_LINES_MAX } from '../../../../src/adapters/egress/header-lines.ts';
import { HANDSHAKE_FREE_MS, RESPONSE_BYTES_MAX } from '../../../../src/adapters/egress/tls/peer-stream.ts';
import type { PeerTime } from '../../../../src/adapters/egress/tls/peer-time.ts';
import type { PeerWork } from '../../../../src/adapters/egress/tls/peer-work.ts';
import {
  type ConnectorOf,
  guardedConnectors,
} from '../../../../src/adapters/egress/webhooks/egress-guard.ts';
import { egressRules } from '../../../../src/adapters/egress/webhooks/egress-rules.ts';
import { costlyChain, withCertificateAuthority } from '../../../support/certificates.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../../support/openssl.ts';
import { until } from '../../../support/until.ts';
import {
  certificates,
  closeAll,
  HOST,
  OK,
  receive,
  requestTo,
  resultOf,
  transportTo,
} from './local-receivers.ts';

/** A check with a usual exponent takes about 0.05 ms, one with the exponent of the chain 3 to 10. */
const COSTLY_CHECK_MS_MIN = 2;

const FAILED = { kind: 'failed', reason: 'tls' };
const OK_RESULT = { kind: 'responded', status: 200 };

afterEach(closeAll);

describe.skipIf(!hasOpenssl)(`hostile handshakes (skipped when ${OPENSSL_MISSING})`, () => {
  it('no key is agreed on with a prime that the receiver chooses', async () => {
    const { ca, pair } = withCertificateAuthority((authority) => ({
      ca: authority.ca,
      pair: authority.issue(HOST, 2, 'rsa'),
    }));
    const resultWith = async (ciphers: string) => {
      const receiver = await receive((socket) => socket.write(OK), {
        ...pair,
        maxVersion: 'TLSv1.2',
        dhparam: 'auto',
        ciphers,
      });
      return transportTo(receiver.port, { ca }).send(requestTo(receiver.port));
    };
    expect(await resultWith('DHE-RSA-AES128-GCM-SHA256')).toMatchObject(FAILED);
    expect(await resultWith('ECDHE-RSA-AES128-GCM-SHA256')).toMatchObject(OK_RESULT);
  });

  it('a receiver cannot ask for a second handshake', async () => {
    const result = await resultOf((socket) => socket.renegotiate({}, () => socket.write(OK)), {
      maxVersion: 'TLSv1.2',
    });
    expect(result.kind).toBe('failed');
  });

  it('a handshake ends when its certificates are too long', async () => {
    const { ca, pair } = withCertificateAuthority((authority) => ({
      ca: authority.ca,
      pair: authority.issue(HOST, 2),
    }));
    const resultWith = async (copies: number) => {
      const receiver = await receive((socket) => socket.write(OK), {
        ...pair,
        cert: pair.cert + ca.repeat(copies),
      });
      return transportTo(receiver.port, { ca }).send(requestTo(receiver.port));
    };
    expect(await resultWith(40)).toMatchObject(FAILED);
    expect(await resultWith(10)).toMatchObject(OK_RESULT);
  });

  it('certificates are checked in the time of the project that connects', async () => {
    const receiver = await receive(() => undefined, costlyChain(9));
    const spent: { readonly projectId: string; readonly owed: number }[] = [];
    const timed = connectors((projectId, work) => {
      while (work.isReady) {
        const startedAt = performance.now();
        work.compute();
        spent.push({ projectId, owed: work.spend(performance.now() - startedAt) });
      }
    });
    const { error } = await connect(receiver.port, timed);
    expect(error?.name).toBe('HandshakeFailed');
    expect(spent.every(({ projectId }) => projectId === 'a')).toBe(true);
    expect(spent.reduce((sum, { owed }) => sum + owed, 0)).toBeGreaterThan(
      8 * COSTLY_CHECK_MS_MIN - HANDSHAKE_FREE_MS,
    );
  });

  it('a connection whose handshake waits ends with its deadline, and does not go on', async () => {
    const receiver = await receive(() => undefined);
    const waiting: PeerWork[] = [];
    const held = connectors((_, work) => waiting.push(work), 300);
    const { error } = await connect(receiver.port, held);
    expect(error?.name).toBe('ConnectTimeout');
    await until(() => waiting.length === 1 && waiting.every(({ isReady }) => !isReady));
  });
});

describe.skipIf(!hasOpenssl)(`hostile responses (skipped when ${OPENSSL_MISSING})`, () => {
  const manyHeaders = `HTTP/1.1 200 OK\r\n${'ab:\r\n'.repeat(HEADER_LINES_MAX - 1)}content-length: 0\r\n\r\n`;

  it('header lines are read in the time of the project that sent the request', async () => {
    const receiver = await receive((socket) => socket.write(manyHeaders));
    let isMeasured = false;
    const connectorOf = connectors((projectId, work) => {
      while (work.isReady) {
        isMeasured = projectId === 'a';
        work.compute();
        isMeasured = false;
      }
    });
    const client = new Client(`https://${HOST}:${receiver.port}`, {
      connect: connectorOf('a'),
      maxHeaderSize: RESPONSE_BYTES_MAX,
    });
    const read = await new Promise((resolve, reject) => {
      client.dispatch(
        { path: '/', method: 'POST' },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_, status) => resolve({ status, isMeasured }),
          onResponseError: (_, error) => reject(error),
        },
      );
    });
    await client.destroy();
    expect(read).toEqual({ status: 200, isMeasured: true });
  });

  const endless = 'ab:\r\n'.repeat(HEADER_LINES_MAX + 1);
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const PROTOCOL = { kind: 'failed', reason: 'protocol' };

  it.each([
    ['a head', `HTTP/1.1 200 OK\r\n${endless}`, PROTOCOL],
    ['a head behind an interim response', `HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 200 OK\r\n${endless}`, PROTOCOL],
    ['an interim response', `HTTP/1.1 103 Hints\r\n${endless}`, PROTOCOL],
    ['a head with a line that is no header', `HTTP/1.1 200 OK\r\nab:\r\nab\r\nab:\r\n`, PROTOCOL],
    ['trailers', `${chunked}2\r\nno\r\n0\r\n${endless}`, { ...OK_RESULT, responseStart: 'no' }],
    ['a body like headers', `${chunked}ffff\r\n${endless}`, { ...OK_RESULT, responseStart: /^ab:/ }],
  ])('a response without an end is over after some header lines: %s', async (_, response, expected) => {
    const result = await resultOf((socket) => socket.write(response));
    const { responseStart: start, ...others } = expected as { responseStart?: string | RegExp };
    expect(result).toMatchObject(others);
    if (start !== undefined) expect(result).toMatchObject({ responseStart: expect.stringMatching(start) });
  });

  it('a response that comes before a request ends the connection', async () => {
    const server = createServer({ ...certificates?.good }, (socket) => {
      socket.on('error', () => undefined);
      socket.write(OK);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { error, socket } = await connect(port, connectors(compute));
    expect(error).toBe(null);
    const [ended] = await once(socket as Socket, 'error');
    server.close();
    expect(ended.name).toBe('ResponseTooEarly');
  });
});

function compute(_: string, work: PeerWork): void {
  while (work.isReady) work.compute();
}

/** Connectors to receivers of this machine, which have their time from `run`. */
function connectors(run: PeerTime['run'], timeoutMs = 5_000): ConnectorOf {
  return guardedConnectors({
    rules: egressRules(['127.0.0.1/32']),
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    peerTime: { run, drop: () => undefined },
    timeoutMs,
    ca: certificates?.ca ?? null,
  });
}

/** What a connection of project a comes to. */
function connect(
  port: number,
  connectorOf: ConnectorOf,
): Promise<{ readonly error: Error | null; readonly socket: Socket | null }> {
  return new Promise((resolve) => {
    connectorOf('a')({ hostname: HOST, protocol: 'https:', port: String(port) }, (error, socket) =>
      resolve({ error, socket }),
    );
  });
}
