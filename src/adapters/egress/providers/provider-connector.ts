import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { ResponseTooLong } from '../connection-errors.ts';
import { HeaderLines } from '../header-lines.ts';
import type { LookupAll } from '../name-lookup.ts';
import { connectPeer } from '../peer-connection.ts';
import { type PeerLimits, PeerStream, RESPONSE_BYTES_MAX, RESPONSE_FREE_MS } from '../tls/peer-stream.ts';
import type { PeerTime } from '../tls/peer-time.ts';
import { PendingConnection, securedForHttp, strictSecureContext } from '../tls/secure-connection.ts';

/** What a response may have beside its body and as much framing, in bytes. */
const HEAD_BYTES_MAX = 32 * 1024;
/** A response in TLS may have this many times as much. */
const TLS_BYTES_FACTOR = 2;
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

export interface ProviderConnectorOptions {
  /** Of the provider. */
  readonly name: string;
  readonly peerTime: Pick<PeerTime, 'run' | 'drop'>;
  /** From the start of the lookup to the end of the TLS handshake, in milliseconds. */
  readonly timeoutMs: number;
  /** Trusted instead of the system's certificate authorities, in PEM; null for the system's. */
  readonly ca: string | null;
  /** The longest body that any request of the provider allows. */
  readonly bodyBytesMax: () => number;
  /** Of its name; that of `connectPeer` when absent. */
  readonly lookup?: LookupAll | undefined;
}

/**
 * Connects to a provider, whose address is an operator's own choice. What comes is counted before undici parses it. Beyond its
 * limit of bytes undici makes an error of each header line that is left, and thousands of them stop the event loop for seconds.
 * The framing of chunks is in no body, so that nobody else counts it. What TLS computes is timed, as with receivers.
 */
export function providerConnector({
  name,
  peerTime,
  timeoutMs,
  ca,
  bodyBytesMax,
  lookup,
}: ProviderConnectorOptions): buildConnector.connector {
  const secureContext = strictSecureContext(ca);
  const responseBytesMax = (): number => 2 * bodyBytesMax() + HEAD_BYTES_MAX;
  const limits: PeerLimits = {
    bytesMax: () => TLS_BYTES_FACTOR * responseBytesMax(),
    freeMs: () => (RESPONSE_FREE_MS * responseBytesMax()) / RESPONSE_BYTES_MAX,
    parses: false,
  };
  return ({ hostname, port, protocol, servername }, callback) => {
    const address = { host: hostname, port: port === '' ? (PORTS[protocol] ?? 0) : Number(port) };
    const socket = connectPeer(address, lookup);
    const pending = new PendingConnection(socket, timeoutMs, callback);
    const connected = (connection: Socket): void => {
      limitResponses(connection, responseBytesMax);
      pending.succeed(connection);
    };
    socket.once('connect', () => {
      if (protocol === 'http:') {
        connected(socket);
        return;
      }
      const stream = new PeerStream(socket, name, peerTime, limits);
      securedForHttp(stream, { hostname, servername, secureContext }, (...[error, secured]) => {
        if (error === null) connected(secured);
        else pending.fail(error);
      });
    });
  };
}

/** Undici takes what came with `read`, and with nothing else. It writes the next request when it has the response. */
function limitResponses(socket: Socket, bytesMax: () => number): void {
  const lines = new HeaderLines();
  let bytes = 0;
  const { read, write } = socket;
  socket.write = ((...args: Parameters<Socket['write']>) => {
    bytes = 0;
    return write.apply(socket, args);
  }) as Socket['write'];
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read.call(socket, size);
    if (chunk === null) return null;
    lines.read(chunk);
    bytes += chunk.length;
    const error = lines.error ?? (bytes > bytesMax() ? new ResponseTooLong('More framing than body') : null);
    if (error === null) return chunk;
    socket.destroy(error);
    return null;
  };
}
