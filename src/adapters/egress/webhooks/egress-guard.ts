import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { AddressBlocked, HandshakeFailed, NameBlocked } from '../connection-errors.ts';
import { type LookupAll, lookupFunction } from '../name-lookup.ts';
import { TCP_KEEP_ALIVE_DELAY_MS } from '../peer-connection.ts';
import { PeerStream, RECEIVER_LIMITS } from '../tls/peer-stream.ts';
import type { PeerTime } from '../tls/peer-time.ts';
import { PendingConnection, securedForHttp, strictSecureContext } from '../tls/secure-connection.ts';
import type { EgressRules } from './egress-rules.ts';
import { HTTPS_PORT } from './webhook-url.ts';

export interface EgressGuardOptions {
  readonly rules: Pick<EgressRules, 'allows'>;
  readonly lookup: LookupAll;
  readonly peerTime: Pick<PeerTime, 'run' | 'drop'>;
  /** From the start of the lookup to the end of the TLS handshake, in milliseconds. */
  readonly timeoutMs: number;
  /** Trusted instead of the system's certificate authorities, in PEM; null for the system's. */
  readonly ca: string | null;
}

/** Before the next address of a name is tried: time enough for a packet that was lost on the way to a far place. */
const ADDRESS_MS_MAX = 2_000;
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
  const { rules, peerTime } = options;
  const secureContext = strictSecureContext(options.ca);
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
        const stream = new PeerStream(socket, projectId, peerTime, RECEIVER_LIMITS);
        securedForHttp(stream, { hostname, servername, secureContext }, (...[error, secured]) => {
          if (error === null) pending.succeed(secured);
          else pending.fail(handshakeError(error));
        });
      });
    };
}

function guardedLookup({ rules, lookup }: EgressGuardOptions): LookupFunction {
  return lookupFunction(lookup, (addresses, hostname) => {
    const blocked = addresses.find(({ address }) => !rules.allows(address));
    if (blocked !== undefined) throw new NameBlocked(`${hostname} leads to ${blocked.address}`);
  });
}

function handshakeError(error: Error): Error {
  const code = 'code' in error ? String(error.code) : '';
  if (code === '' || NETWORK_ERROR_CODES.test(code)) return error;
  return new HandshakeFailed(`${code}: ${error.message}`);
}
