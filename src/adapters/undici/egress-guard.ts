import { constants } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clearTimeout, setTimeout } from 'node:timers';
import { connect as connectTls, createSecureContext, DEFAULT_CIPHERS, type TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { AddressBlocked, ConnectTimeout, HandshakeFailed, NameBlocked } from './connection-errors.ts';
import type { EgressRules } from './egress-rules.ts';
import { ReceiverStream } from './receiver-stream.ts';
import type { ReceiverTime } from './receiver-time.ts';
import { HTTPS_PORT } from './webhook-url.ts';

/** Every address of a name, or a rejection when it has none. */
export type LookupAll = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface EgressGuardOptions {
  readonly rules: Pick<EgressRules, 'allows'>;
  readonly lookup: LookupAll;
  readonly receiverTime: Pick<ReceiverTime, 'run' | 'drop'>;
  /** From the start of the lookup to the end of the TLS handshake, in milliseconds. */
  readonly timeoutMs: number;
  /** Trusted instead of the system's certificate authorities, in PEM; null for the system's. */
  readonly ca: string | null;
}

const TLS_OPTIONS = {
  minVersion: 'TLSv1.2',
  // With DHE the receiver chooses the prime: one of ten thousand bits takes seconds.
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
  ecdhCurve: 'X25519:P-256:P-384:P-521',
  // `TlsRecords` lets none begin, but for one in the last record of the first.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;
/** The owner of a name decides how many addresses it has, and every address that is tried takes time. */
const ADDRESSES_PER_FAMILY_MAX = 4;
/** Before the next address of a name is tried: time enough for a packet that was lost on the way to a far place. */
const ADDRESS_MS_MAX = 2_000;
const TCP_KEEP_ALIVE_DELAY_MS = 60_000;
/** What a network does, in a handshake or outside; every other error of a handshake is about TLS. */
const NETWORK_ERROR_CODES = /^(ECONN|EPIPE|ETIMEDOUT|ENET|EHOST|EADDR)/;

/** The connector of one project's connections. */
export type ConnectorOf = (projectId: string) => buildConnector.connector;

/**
 * Connectors that every new connection goes through: HTTPS only, certificate and name verified, TLS 1.2 or
 * later, and to allowed addresses only. An address literal is checked before anything is done; of a name, one
 * special address among the first few blocks them all; and the address the socket ended at is checked before a byte
 * is sent. How much is read of a handshake and of a response is limited, and so is the time that they take.
 */
export function guardedConnectors(options: EgressGuardOptions): ConnectorOf {
  const { rules, receiverTime } = options;
  const secureContext = createSecureContext({
    ...TLS_OPTIONS,
    ...(options.ca === null ? {} : { ca: options.ca }),
  });
  const lookup = guardedLookup(options);

  const openSocket = (hostname: string, port: string): Socket =>
    connectTcp({
      host: hostname,
      port: port === '' ? HTTPS_PORT : Number(port),
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS_MAX,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_DELAY_MS,
    });
  const secure = (socket: Duplex, hostname: string, servername: string | undefined): TLSSocket =>
    connectTls({
      socket,
      // Whose certificate it has to be where there is no server name: without it that of localhost would do.
      host: hostname,
      servername: isIP(hostname) === 0 ? (servername ?? hostname) : '',
      secureContext,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    });

  return (projectId) =>
    ({ hostname, port, protocol, servername }, callback) => {
      if (protocol !== 'https:' || (isIP(hostname) !== 0 && !rules.allows(hostname))) {
        callback(new AddressBlocked(`Not allowed: ${hostname}`), null);
        return;
      }
      const socket = openSocket(hostname, port);
      const pending = new PendingConnection(socket, options.timeoutMs, callback);
      socket.once('connect', () => {
        const { remoteAddress } = socket;
        if (remoteAddress !== undefined && !rules.allows(remoteAddress)) {
          pending.fail(new NameBlocked(`Connected to ${remoteAddress}, which is not allowed`));
          return;
        }
        const stream = new ReceiverStream(socket, projectId, receiverTime);
        stream.on('error', (error) => pending.fail(error));
        const secured = secure(stream, hostname, servername);
        secured.on('error', (error) => pending.fail(handshakeError(error)));
        secured.once('secureConnect', () => {
          stream.beginResponses(secured);
          pending.succeed(secured);
        });
      });
    };
}

/** Reports once how an attempt to connect has ended. */
class PendingConnection {
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

  succeed(secured: TLSSocket): void {
    if (this.#end()) this.#callback(null, secured);
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

function guardedLookup({ rules, lookup }: EgressGuardOptions): LookupFunction {
  const allowed = async (hostname: string): Promise<LookupAddress[]> => {
    // Copied, so that what was checked is what is connected to.
    const addresses = few(await lookup(hostname)).map(({ address, family }) => ({
      address: String(address),
      family,
    }));
    const blocked = addresses.find(({ address }) => !rules.allows(address));
    if (blocked !== undefined) throw new NameBlocked(`${hostname} leads to ${blocked.address}`);
    // Node.js would fail in a way that nobody can catch.
    if (addresses.length === 0) throw new Error(`${hostname} has no address`);
    return addresses;
  };
  return (hostname, _options, done) => {
    allowed(hostname).then(
      (addresses) => done(null, addresses),
      (error: Error) => done(error, []),
    );
  };
}

/** The first of each family. */
function few(addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  return [4, 6].flatMap((family) =>
    addresses.filter((address) => address.family === family).slice(0, ADDRESSES_PER_FAMILY_MAX),
  );
}

function handshakeError(error: Error): Error {
  const code = 'code' in error ? String(error.code) : '';
  if (code === '' || NETWORK_ERROR_CODES.test(code)) return error;
  return new HandshakeFailed(`${code}: ${error.message}`);
}
