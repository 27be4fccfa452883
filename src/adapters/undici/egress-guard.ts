import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { type ConnectionOptions, connect, createSecureContext, type TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import type { EgressRules } from './egress-rules.ts';
import { limitResponses } from './response-limit.ts';
import { HTTPS_PORT } from './webhook-url.ts';

/** Every address of a name, or a rejection when it has none. */
export type LookupAll = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface EgressGuardOptions {
  readonly rules: Pick<EgressRules, 'allows'>;
  readonly lookup: LookupAll;
  /** From the start of the lookup to the end of the TLS handshake, in milliseconds. */
  readonly timeoutMs: number;
  /** Trusted instead of the system's certificate authorities, in PEM; null for the system's. */
  readonly ca: string | null;
}

/** The url is not one that may ever be connected to. */
export class AddressBlocked extends Error {
  override readonly name = 'AddressBlocked';
}

/** The name leads to an address that is not allowed; it may lead elsewhere another time. */
export class NameBlocked extends Error {
  override readonly name = 'NameBlocked';
}

/** No connection within the time allowed. */
export class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout';
}

/** The receiver could not prove who it is, or speaks no acceptable TLS. */
export class HandshakeFailed extends Error {
  override readonly name = 'HandshakeFailed';
}

const TLS_VERSION_MIN = 'TLSv1.2';
/** The owner of a name decides how many addresses it has, and every address that is tried takes time. */
const ADDRESSES_PER_FAMILY_MAX = 4;
/** Before the next address of a name is tried: time enough for a packet that was lost on the way to a far place. */
const ADDRESS_MS_MAX = 2_000;
const TCP_KEEP_ALIVE_DELAY_MS = 60_000;
/** What a network does, in a handshake or outside; every other error of a handshake is about TLS. */
const NETWORK_ERROR_CODES = /^(ECONN|EPIPE|ETIMEDOUT|ENET|EHOST|EADDR)/;

/**
 * A connector that every new connection goes through: HTTPS only, certificate and name verified, TLS 1.2 or
 * later, and to allowed addresses only. An address literal is checked before anything is done; of a name, one
 * special address among the first few blocks them all; and the address the socket ended at is checked before a byte
 * is sent. How much is read of a response is limited.
 */
export function guardedConnector(options: EgressGuardOptions): buildConnector.connector {
  const secureContext = createSecureContext({
    minVersion: TLS_VERSION_MIN,
    ...(options.ca === null ? {} : { ca: options.ca }),
  });
  const lookup = guardedLookup(options);

  return ({ hostname, port, protocol, servername }, callback) => {
    if (protocol !== 'https:' || (isIP(hostname) !== 0 && !options.rules.allows(hostname))) {
      callback(new AddressBlocked(`Not allowed: ${hostname}`), null);
      return;
    }
    const target: ConnectionOptions & TcpNetConnectOpts = {
      host: hostname,
      port: port === '' ? HTTPS_PORT : Number(port),
      servername: isIP(hostname) === 0 ? (servername ?? hostname) : '',
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_MS_MAX,
      secureContext,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    };
    const socket = connect(target);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_DELAY_MS);
    watch(socket, options, callback);
  };
}

/** Reports the end of a handshake, or of the hope for one, exactly once. */
function watch(socket: TLSSocket, options: EgressGuardOptions, callback: buildConnector.Callback): void {
  let isConnected = false;
  let isReported = false;
  const timer = setTimeout(
    () => socket.destroy(new ConnectTimeout('No connection in time')),
    options.timeoutMs,
  );

  const fail = (error: Error): void => {
    clearTimeout(timer);
    if (isReported) return;
    isReported = true;
    callback(isConnected ? handshakeError(error) : error, null);
  };
  socket.once('connect', () => {
    isConnected = true;
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && !options.rules.allows(remoteAddress)) {
      socket.destroy(new NameBlocked(`Connected to ${remoteAddress}, which is not allowed`));
    }
  });
  socket.once('secureConnect', () => {
    clearTimeout(timer);
    if (isReported) return;
    isReported = true;
    limitResponses(socket);
    callback(null, socket);
  });
  // Stays for the life of the socket: an error after the handshake reaches the request in another way.
  socket.on('error', fail);
  socket.once('close', () => fail(new Error('The connection was closed during the handshake')));
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
