import { performance } from 'node:perf_hooks';
import { Client } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { guardedConnectors } from '../../../src/adapters/undici/egress-guard.ts';
import { egressRules } from '../../../src/adapters/undici/egress-rules.ts';
import type { ReceiverTime } from '../../../src/adapters/undici/receiver-stream.ts';
import { costlyChain, withCertificateAuthority } from '../../support/certificates.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../support/openssl.ts';
import { closeAll, HOST, OK, receive, requestTo, resultOf, transportTo } from './local-receivers.ts';

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
    const spent: { readonly projectId: string; readonly ms: number }[] = [];
    const error = await connectError(receiver.port, 5_000, (projectId) => ({
      isLeft: () => true,
      take: () => undefined,
      run: (compute) => {
        const startedAt = performance.now();
        compute();
        spent.push({ projectId, ms: performance.now() - startedAt });
      },
    }));
    expect(error?.name).toBe('HandshakeFailed');
    expect(spent.every(({ projectId }) => projectId === 'a')).toBe(true);
    expect(spent.reduce((sum, { ms }) => sum + ms, 0)).toBeGreaterThan(8 * COSTLY_CHECK_MS_MIN);
  });

  it('responses are given to TLS without the time of the project, but for long ones', async () => {
    const { ca, pair } = withCertificateAuthority((authority) => ({
      ca: authority.ca,
      pair: authority.issue(HOST, 2),
    }));
    const body = 'a'.repeat(3_000);
    const receiver = await receive((socket, { head }) => {
      const isLong = head.startsWith('POST /long');
      socket.write(isLong ? `HTTP/1.1 200 OK\r\ncontent-length: 3000\r\n\r\n${body}` : OK);
    }, pair);
    let computations = 0;
    const connect = guardedConnectors({
      rules: egressRules(['127.0.0.1/32']),
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      timeOf: () => ({
        isLeft: () => true,
        take: () => undefined,
        run: (compute) => {
          computations += 1;
          compute();
        },
      }),
      timeoutMs: 5_000,
      ca,
    })('a');
    const client = new Client(`https://${HOST}:${receiver.port}`, { connect });
    const computationsOf = async (path: string) => {
      const before = computations;
      const response = await client.request({ method: 'POST', path, body: '{}' });
      await response.body.dump();
      return computations - before;
    };
    expect(await computationsOf('/short')).toBeGreaterThan(0);
    expect(await computationsOf('/short')).toBe(0);
    expect(await computationsOf('/long')).toBeGreaterThan(2);
    await client.close();
  });

  it('a connection whose handshake waits ends with its deadline, and does not go on', async () => {
    const receiver = await receive(() => undefined);
    const waiting: (() => void)[] = [];
    const error = await connectError(receiver.port, 300, () => ({
      isLeft: () => false,
      take: () => undefined,
      run: (compute) => waiting.push(compute),
    }));
    expect(error?.name).toBe('ConnectTimeout');
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
  });
});

/** The error of a connection of project a. */
function connectError(
  port: number,
  timeoutMs: number,
  timeOf: (projectId: string) => ReceiverTime,
): Promise<Error | null> {
  const connectorOf = guardedConnectors({
    rules: egressRules(['127.0.0.1/32']),
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    timeOf,
    timeoutMs,
    ca: null,
  });
  return new Promise((resolve) => {
    connectorOf('a')({ hostname: HOST, protocol: 'https:', port: String(port) }, (...[error]) =>
      resolve(error),
    );
  });
}
