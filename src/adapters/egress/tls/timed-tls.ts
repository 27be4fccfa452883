import { clearTimeout, setTimeout } from 'node:timers';
import type { TLSSocket } from 'node:tls';
import { ConnectTimeout } from '../connection-errors.ts';
import { connectPeer, type PeerAddress } from '../peer-connection.ts';
import { type PeerLimits, PeerStream } from './peer-stream.ts';
import type { PeerTime } from './peer-time.ts';
import { secured, strictSecureContext } from './secure-connection.ts';

/** Where a peer of another protocol than HTTP is. */
export interface TlsAddress extends PeerAddress {
  /** Trusted instead of the system's certificate authorities, in PEM. */
  readonly ca?: string | undefined;
  /** From the start of the lookup to the end of the handshake, in milliseconds; no limit when absent. */
  readonly timeoutMs?: number;
}

/** A session has no end of what comes: it uses the free time of its owner. */
const SESSION_LIMITS: PeerLimits = {
  bytesMax: () => Number.POSITIVE_INFINITY,
  freeMs: () => null,
  parses: false,
};

/** Opens connections to the peer of that name whose TLS is timed. The socket emits `secureConnect`, or `error`. */
export type TimedTls = (name: string, address: TlsAddress) => TLSSocket;

export function timedTls(peerTime: Pick<PeerTime, 'run' | 'drop'>): TimedTls {
  return (name, { host, port, ca, timeoutMs }) => {
    const socket = connectPeer({ host, port });
    const stream = new PeerStream(socket, name, peerTime, SESSION_LIMITS);
    const connection = secured(stream, { hostname: host, secureContext: strictSecureContext(ca ?? null) });
    stream.on('error', (error) => connection.destroy(error));
    if (timeoutMs !== undefined) {
      const late = setTimeout(
        () => connection.destroy(new ConnectTimeout('No connection in time')),
        timeoutMs,
      );
      for (const event of ['secureConnect', 'close']) connection.once(event, () => clearTimeout(late));
    }
    return connection;
  };
}
