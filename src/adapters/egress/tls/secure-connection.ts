import { constants } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import {
  connect as connectTls,
  createSecureContext,
  DEFAULT_CIPHERS,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { buildConnector } from 'undici';
import { ConnectTimeout } from '../connection-errors.ts';
import type { PeerStream } from './peer-stream.ts';

const TLS_OPTIONS = {
  minVersion: 'TLSv1.2',
  // With DHE the peer chooses the prime: one of ten thousand bits takes seconds.
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
  ecdhCurve: 'X25519:P-256:P-384:P-521',
  // `TlsRecords` lets none begin, but for one in the last record of the first.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

/** TLS 1.2 or later, with keys over elliptic curves. Trusts `ca`, in PEM, or the system's authorities when null. */
export function strictSecureContext(ca: string | null): SecureContext {
  return createSecureContext({ ...TLS_OPTIONS, ...(ca === null ? {} : { ca }) });
}

/** Whom the certificate has to name. */
export interface SecuredPeer {
  readonly hostname: string;
  /** In place of the host name. */
  readonly servername?: string | undefined;
  readonly secureContext: SecureContext;
  readonly protocols?: string[];
}

/** TLS with a peer over a connection whose bytes are counted and timed: certificate and name are verified. */
export function secured(
  stream: PeerStream,
  { hostname, servername, secureContext, protocols }: SecuredPeer,
): TLSSocket {
  const socket = connectTls({
    socket: stream,
    // Whose certificate it has to be where there is no server name: without it that of localhost would do.
    host: hostname,
    servername: isIP(hostname) === 0 ? (servername ?? hostname) : '',
    secureContext,
    rejectUnauthorized: true,
    ...(protocols === undefined ? {} : { ALPNProtocols: protocols }),
  });
  socket.once('secureConnect', () => stream.beginResponses(socket));
  return socket;
}

/** The same for HTTP. Calls `done` with the error or the connection, and with later errors of the connection again. */
export function securedForHttp(
  stream: PeerStream,
  peer: Omit<SecuredPeer, 'protocols'>,
  done: buildConnector.Callback,
): void {
  const fail = (error: Error): void => done(error, null);
  stream.on('error', fail);
  const socket = secured(stream, { ...peer, protocols: ['http/1.1'] });
  socket.on('error', fail);
  socket.once('secureConnect', () => done(null, socket));
}

/** Reports once how an attempt to connect has ended. */
export class PendingConnection {
  readonly #socket: Socket;
  readonly #callback: buildConnector.Callback;
  readonly #timer: NodeJS.Timeout;
  #isReported = false;

  constructor(socket: Socket, timeoutMs: number, callback: buildConnector.Callback) {
    this.#socket = socket;
    this.#callback = callback;
    this.#timer = setTimeout(() => this.fail(new ConnectTimeout('No connection in time')), timeoutMs);
    // For the life of the socket: an error after the handshake reaches the request in another way.
    socket.on('error', (error) => this.fail(error));
    socket.once('close', () => this.fail(new Error('The connection was closed during the handshake')));
  }

  succeed(connected: Socket): void {
    if (this.#end()) this.#callback(null, connected);
  }

  fail(error: Error): void {
    if (!this.#end()) return;
    this.#socket.destroy();
    this.#callback(error, null);
  }

  /** False when the end was reported before. */
  #end(): boolean {
    if (this.#isReported) return false;
    this.#isReported = true;
    clearTimeout(this.#timer);
    return true;
  }
}
