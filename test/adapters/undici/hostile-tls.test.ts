import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, it } from 'vitest';
import { guardedConnectors } from '../../../src/adapters/undici/egress-guard.ts';
import { egressRules } from '../../../src/adapters/undici/egress-rules.ts';
import { FREE_MS } from '../../../src/adapters/undici/receiver-stream.ts';
import type { TlsTime, TlsWork } from '../../../src/adapters/undici/tls-time.ts';
import { costlyChain, withCertificateAuthority } from '../../support/certificates.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../support/openssl.ts';
import { until } from '../../support/until.ts';
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
    const spent: { readonly projectId: string; readonly owed: number }[] = [];
    const error = await connectError(receiver.port, 5_000, (projectId, work) => {
      while (work.isReady) {
        const startedAt = performance.now();
        work.compute();
        spent.push({ projectId, owed: work.spend(performance.now() - startedAt) });
      }
    });
    expect(error?.name).toBe('HandshakeFailed');
    expect(spent.every(({ projectId }) => projectId === 'a')).toBe(true);
    expect(spent.reduce((sum, { owed }) => sum + owed, 0)).toBeGreaterThan(8 * COSTLY_CHECK_MS_MIN - FREE_MS);
  });

  it('a connection whose handshake waits ends with its deadline, and does not go on', async () => {
    const receiver = await receive(() => undefined);
    const waiting: TlsWork[] = [];
    const error = await connectError(receiver.port, 300, (_, work) => waiting.push(work));
    expect(error?.name).toBe('ConnectTimeout');
    await until(() => waiting.length === 1 && waiting.every(({ isReady }) => !isReady));
  });
});

/** The error of a connection of project a. */
function connectError(port: number, timeoutMs: number, run: TlsTime['run']): Promise<Error | null> {
  const connectorOf = guardedConnectors({
    rules: egressRules(['127.0.0.1/32']),
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    tlsTime: { run, drop: () => undefined },
    timeoutMs,
    ca: null,
  });
  return new Promise((resolve) => {
    connectorOf('a')({ hostname: HOST, protocol: 'https:', port: String(port) }, (...[error]) =>
      resolve(error),
    );
  });
}
