import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, it } from 'vitest';
import { guardedConnectors } from '../../../src/adapters/undici/egress-guard.ts';
import { egressRules } from '../../../src/adapters/undici/egress-rules.ts';
import { HandshakeTime } from '../../../src/adapters/undici/handshake-time.ts';
import { TrustedProjects } from '../../../src/adapters/undici/trusted-projects.ts';
import { costlyChain, withCertificateAuthority } from '../../support/certificates.ts';
import { hasOpenssl, OPENSSL_MISSING } from '../../support/openssl.ts';
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
      return transportTo(receiver.port, { ca, trustedProjects: new TrustedProjects() }).send(
        requestTo(receiver.port),
      );
    };
    expect(await resultWith(40)).toMatchObject(FAILED);
    expect(await resultWith(10)).toMatchObject(OK_RESULT);
  });

  it('certificates are checked in the time of the project that connects', async () => {
    const chain = costlyChain(9);
    const receiver = await receive(() => undefined, chain);
    const computations: { readonly projectId: string; readonly ms: number }[] = [];
    const connectorOf = guardedConnectors({
      rules: egressRules(['127.0.0.1/32']),
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      handshakeTime: {
        run: (projectId, compute) => {
          const startedAt = performance.now();
          compute();
          computations.push({ projectId, ms: performance.now() - startedAt });
        },
      },
      trustedProjects: new TrustedProjects(),
      timeoutMs: 5_000,
      ca: null,
    });
    const error = await new Promise<Error | null>((resolve) => {
      connectorOf('a', () => undefined)(
        { hostname: HOST, protocol: 'https:', port: String(receiver.port) },
        (...[error]) => resolve(error),
      );
    });
    expect(error?.name).toBe('HandshakeFailed');
    expect(computations.every(({ projectId }) => projectId === 'a')).toBe(true);
    expect(computations.reduce((sum, { ms }) => sum + ms, 0)).toBeGreaterThan(8 * COSTLY_CHECK_MS_MIN);
  });

  it('handshakes of a project are watched until one succeeded, and when one has failed', async () => {
    const trustedProjects = new TrustedProjects();
    let watched = 0;
    const connectorOf = guardedConnectors({
      rules: egressRules(['127.0.0.1/32']),
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      handshakeTime: new HandshakeTime(),
      trustedProjects,
      timeoutMs: 5_000,
      ca: certificates?.ca ?? null,
    });
    const connect = (port: number) =>
      new Promise<string | null>((resolve) => {
        const connector = connectorOf('a', () => {
          watched += 1;
        });
        connector({ hostname: HOST, protocol: 'https:', port: String(port) }, (error, socket) => {
          socket?.destroy();
          resolve(error?.name ?? null);
        });
      });
    const good = await receive(() => undefined);
    const bad = await receive(() => undefined, { ...certificates?.expired });
    expect([await connect(good.port), watched]).toEqual([null, 1]);
    expect([await connect(good.port), watched]).toEqual([null, 1]);
    expect([await connect(bad.port), watched]).toEqual(['HandshakeFailed', 1]);
    expect([await connect(good.port), watched]).toEqual([null, 2]);
    expect([await connect(good.port), watched]).toEqual([null, 3]);
  });

  it('a connection whose handshake waits ends with its deadline, and does not go on', async () => {
    const receiver = await receive(() => undefined);
    const waiting: (() => void)[] = [];
    const connectorOf = guardedConnectors({
      rules: egressRules(['127.0.0.1/32']),
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      handshakeTime: { run: (_, compute) => waiting.push(compute) },
      trustedProjects: new TrustedProjects(),
      timeoutMs: 300,
      ca: null,
    });
    const error = await new Promise<Error | null>((resolve) => {
      connectorOf('a', () => undefined)(
        { hostname: HOST, protocol: 'https:', port: String(receiver.port) },
        (...[error]) => resolve(error),
      );
    });
    expect(error?.name).toBe('ConnectTimeout');
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
  });
});
